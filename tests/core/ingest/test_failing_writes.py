"""A write that fails, whichever it is: what was there stays findable, and the next sync makes up for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from lilbee_core.errors import StoreError
from lilbee_core.ingest import BatchLimits
from lilbee_core.protocols import IndexedDocument
from lilbee_core.testing import MemoryStore
from lilbee_core.types import ChunkId, DocumentId, DocumentRow, Vector
from tests.support.ingesting import Shelf, content

LIMITS = BatchLimits(documents=2, part_chunks=6)


class Failing(MemoryStore):
    """Refuses one write, counted from the moment that `left` is set."""

    left: int | None = None

    def _count(self) -> None:
        if self.left == 0:
            raise StoreError("the disk is full", hint="Free some.", code="store.full")
        if self.left is not None:
            self.left -= 1

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        self._count()
        super().put(documents)

    def relocate(self, rows: Sequence[DocumentRow], words: Mapping[ChunkId, str]) -> None:
        self._count()
        super().relocate(rows, words)

    def remove(self, ids: Sequence[DocumentId]) -> None:
        self._count()
        super().remove(ids)

    def set_vectors(self, vectors: Mapping[ChunkId, Vector]) -> None:
        self._count()
        super().set_vectors(vectors)

    def record(self, rows: Sequence[DocumentRow]) -> None:
        self._count()
        super().record(rows)

    def forget(self, ids: Sequence[DocumentId]) -> None:
        self._count()
        super().forget(ids)


def first(shelf: Shelf) -> None:
    for number in range(6):
        shelf.write(f"old/{number}.md", f"the heron of note {number}")
    shelf.write("a.md", "swapped one")
    shelf.write("b.md", "swapped other")
    shelf.write("stays.md", "the knot stays")
    shelf.write("big.log", "".join(f"line {n} of buoy {n * 7919 % 997}\n" for n in range(150)))
    shelf.write("x.bin", b"\x00")
    shelf.sync()


def change(shelf: Shelf) -> None:
    (shelf.folder / "old").rename(shelf.folder / "new")
    (shelf.folder / "new/0.md").unlink()
    shelf.write("new/1.md", "the egret of note 1")
    (shelf.folder / "a.md").rename(shelf.folder / "aside")
    (shelf.folder / "b.md").rename(shelf.folder / "a.md")
    (shelf.folder / "aside").rename(shelf.folder / "b.md")
    shelf.write("big.log", "".join(f"line {n} of buoy {n * 7907 % 997}\n" for n in range(160)))
    for number in range(5):
        shelf.write(f"fresh/{number}.md", f"the godwit of note {number}")
    shelf.write("empty.md", " ")
    shelf.write("y.bin", b"\x00")
    shelf.write(".lilbeeignore", "new/2.md\n")
    shelf.touch("x.bin")


def test_every_write_may_fail(tmp_path: Path) -> None:
    failed = 0
    while True:
        store = Failing()
        shelf = Shelf(tmp_path / f"root{failed}", store=store, limits=LIMITS, collection="notes")
        first(shelf)
        change(shelf)
        store.left = failed
        try:
            shelf.sync()
            break
        except StoreError as error:
            assert error.code == "store.full"  # noqa: PT017 - the last round raises nothing
        store.left = None
        assert shelf.indexed()["stays.md"] == "the knot stays"
        assert store.check() == ()
        shelf.sync()
        fresh = Shelf(shelf.folder, limits=LIMITS)
        fresh.sync()
        assert content(store) == content(fresh.store), f"after write {failed} failed"
        failed += 1
    assert failed >= 8
