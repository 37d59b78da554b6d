"""The store keeps to what every store promises (R202)."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core.store import Store
from lilbee_core.testing.contracts import StoreContract


class TestStoreContract(StoreContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.place = tmp_path
        self.made = 0

    def make(self) -> Store:
        self.made += 1
        return Store.open(self.place / str(self.made))
