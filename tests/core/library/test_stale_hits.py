"""A hit says whether its file has changed since it was indexed, also where that was looked up before."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.store import Store
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import DocumentId


@pytest.fixture
def bee(tmp_path: Path) -> Iterator[Lilbee]:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "bees.md").write_text("The queen lays eggs in the hive.\n", "utf-8")
    (folder / "boats.md").write_text("The queen sails a boat of oak.\n", "utf-8")
    with Lilbee(folder, data_dir=tmp_path / "data", embedder=HashEmbedder()) as bee:
        bee.sync()
        yield bee


def stale(bee: Lilbee, query: str) -> dict[str, bool]:
    return {hit.path: hit.stale for hit in bee.search(query).hits}


def ledger_reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows by the number of documents of each later look into the ledger."""
    asked: list[int] = []
    stamps_of = Store.stamps_of

    def counted(self: Store, ids: Sequence[DocumentId]) -> object:
        asked.append(len(ids))
        return stamps_of(self, ids)

    monkeypatch.setattr(Store, "stamps_of", counted)
    return asked


def folder_of(bee: Lilbee) -> Path:
    assert bee.root is not None
    return bee.root


def test_a_sync_of_another_file_asks_nothing_again(bee: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(bee)
    assert stale(bee, "queen") == {"bees.md": False, "boats.md": False}
    asked = ledger_reads(monkeypatch)
    (folder / "tea.md").write_text("The queen drinks green tea.\n", "utf-8")
    bee.sync()
    assert stale(bee, "queen") == {"bees.md": False, "boats.md": False, "tea.md": False}
    assert asked == [1]


def test_a_file_that_changes_is_told_and_read_again(bee: Lilbee) -> None:
    folder = folder_of(bee)
    stale(bee, "queen")
    (folder / "bees.md").write_text("The queen lays eggs in the hive, in June.\n", "utf-8")
    assert stale(bee, "queen")["bees.md"]
    bee.sync()
    assert not stale(bee, "queen")["bees.md"]
    (folder / "bees.md").unlink()
    assert stale(bee, "queen")["bees.md"]


def test_an_older_edition_that_is_put_back_with_its_time_is_told(bee: Lilbee) -> None:
    file = folder_of(bee) / "bees.md"
    before, text = file.stat(), file.read_text("utf-8")
    assert not stale(bee, "queen")["bees.md"]
    file.write_text("Another queen lays eggs, in a box.\n", "utf-8")
    bee.sync()
    file.write_text(text, "utf-8")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert stale(bee, "queen")["bees.md"]
