"""What tests of libraries in trouble share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.store import Store
from lilbee_core.testing import HashEmbedder
from tests.core.store.conftest import small_disk, write_protect
from tests.support.wholeness import by_place, differences, editions

__all__ = ["equals_fresh", "small_disk", "write_protect"]


@contextmanager
def a_library(folder: Path, data: Path | None = None, **settings: object) -> Iterator[Lilbee]:
    """Open a library with vectors of hashed words."""
    with Lilbee(folder, Settings().changed(settings), data_dir=data, embedder=HashEmbedder()) as bee:
        yield bee


@pytest.fixture
def equals_fresh(tmp_path: Path) -> Callable[[Path, Path], None]:
    """Asserts that an index is sound and equal to one that is made now of the same folder."""

    def check(folder: Path, data: Path) -> None:
        with a_library(folder, tmp_path / "fresh-data") as bee:
            bee.sync()
        with Store.open(data) as store, Store.open(tmp_path / "fresh-data") as fresh:
            assert store.check() == ()
            assert differences(by_place(editions(store)), by_place(editions(fresh))) == []

    return check
