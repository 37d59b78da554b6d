"""Whatever happens to the files, an index that was kept up to date equals one made afresh (R017, R018, R025)."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lilbee_core.ingest import BatchLimits
from lilbee_core.store import Store
from lilbee_core.testing import MemoryStore
from tests.support.ingesting import LONG_AGO_NS, Shelf, content

FILES = ["a.md", "b.md", "c.txt", "d/e.md", "d/f.md", "g/h/i.md", "x.bin", "caf\u00e9.md", "cafe\u0301.md", "d"]
FOLDERS = ["d", "g", "g/h", "k", "a.md"]
TEXTS = ["", " \n", "the heron", "the egret", "the knot!", "heron " * 90, "egret " * 90, "line\n" * 300, "\x1b[1mx"]
IGNORES = ["", "*.txt\n", "d/\n", "a.md\n!g/\n"]

file = st.sampled_from(FILES)
folder = st.sampled_from(FOLDERS)
text = st.sampled_from(TEXTS)
changes = st.one_of(
    st.tuples(st.just("write"), file, text, st.booleans()),
    st.tuples(st.just("rename"), st.sampled_from(FILES + FOLDERS), st.sampled_from(FILES + FOLDERS)),
    st.tuples(st.just("swap"), file, file),
    st.tuples(st.just("copy"), file, file),
    st.tuples(st.just("alike"), file, file),
    st.tuples(st.just("delete"), st.sampled_from(FILES + FOLDERS)),
    st.tuples(st.just("mkdir"), folder),
    st.tuples(st.just("chmod"), file, st.sampled_from([0o600, 0o444, 0o755])),
    st.tuples(st.just("link"), st.sampled_from(["l.md", "m", "a.md"]), st.sampled_from([*FILES, "d", ".", "..", "no"])),
    st.tuples(st.just("touch"), file),
    st.tuples(st.just("ignore"), st.sampled_from(IGNORES)),
    st.tuples(st.just("sync")),
)


class Changes:
    """A folder in which things happen. What cannot be done, as renaming what is not there, does nothing."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf
        self.root = shelf.folder

    def write(self, path: str, text: str, aged: bool) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)
        if aged:
            self.touch(path)

    def rename(self, path: str, target: str) -> None:
        (self.root / target).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).rename(self.root / target)

    def swap(self, path: str, other: str) -> None:
        if all((self.root / one).is_file() for one in (path, other)) and path != other:
            (self.root / path).rename(self.root / "aside")
            (self.root / other).rename(self.root / path)
            (self.root / "aside").rename(self.root / other)

    def copy(self, path: str, target: str) -> None:
        shutil.copy2(self.root / path, self.root / target)

    def alike(self, path: str, other: str) -> None:
        """Give two files the same time, so that only their numbers tell them apart."""
        self.shelf.ticks += 1
        for one in (path, other):
            os.utime(self.root / one, ns=(LONG_AGO_NS, LONG_AGO_NS + self.shelf.ticks * 10**10))

    def delete(self, path: str) -> None:
        place = self.root / path
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()

    def mkdir(self, path: str) -> None:
        (self.root / path).mkdir(parents=True)

    def chmod(self, path: str, mode: int) -> None:
        (self.root / path).chmod(mode)

    def link(self, path: str, target: str) -> None:
        (self.root / path).symlink_to(target)

    def touch(self, path: str) -> None:
        self.shelf.touch(path)

    def ignore(self, lines: str) -> None:
        (self.root / ".lilbeeignore").write_text(lines)

    def sync(self) -> None:
        before = {(row.path, row.sha256): row.id for row in self.shelf.store.rows() if row.holds_chunks}
        self.shelf.sync()
        after = {(row.path, row.sha256): row.id for row in self.shelf.store.rows() if row.holds_chunks}
        for place in before.keys() & after.keys():
            assert before[place] == after[place], f"{place} got another identity"
        assert self.shelf.store.check() == ()


def happen(shelf: Shelf, fresh: Shelf, story: list[tuple[object, ...]]) -> None:
    shelf.write("anchor.md", "a folder that is suddenly empty would count as unmounted")
    world = Changes(shelf)
    for name, *arguments in story:
        do: Callable[..., None] = getattr(world, str(name))
        with suppress(OSError):
            do(*arguments)
    world.sync()
    fresh.sync()
    assert content(shelf.store) == content(fresh.store)
    again = shelf.sync()
    assert (again.added, again.updated, again.removed, again.moved, again.embedded) == (0, 0, 0, 0, 0)


@settings(max_examples=120)
@given(st.lists(changes, max_size=25))
def test_an_index_in_memory_equals_a_fresh_one(story: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        shelf = Shelf(Path(place) / "root", limits=BatchLimits(part_chunks=16))
        happen(shelf, Shelf(shelf.folder, store=MemoryStore()), story)


@pytest.mark.slow
@settings(max_examples=6)
@given(st.lists(changes, min_size=8, max_size=25))
def test_an_index_on_disk_equals_a_fresh_one(story: list[tuple[object, ...]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with Store.open(place / "index") as store, Store.open(place / "fresh") as fresh:
            shelf = Shelf(place / "root", store=store, limits=BatchLimits(part_chunks=16))
            happen(shelf, Shelf(shelf.folder, store=fresh), story)
