"""What is wrong with an index, told by looking at names and sizes of files: cheap enough for every search.

The engine writes down how large each of its indexes is, so one with a file that is missing or short is told without
being read. What can be read all the same, only not by its index, is read without it; a sync builds the index again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lilbee_core.errors import StoreError
from lilbee_core.store._engine import IndexEntry, Table
from lilbee_core.store._schema import CHUNK_TABLES, VECTOR, WORDS
from lilbee_core.store._sizes import folder_size
from lilbee_core.store._tables import Tables

_NAMES = {WORDS: "word index", VECTOR: "vector index"}
_WITHOUT = {
    WORDS: "every passage is looked at instead, which takes longer",
    VECTOR: "every vector is compared instead, which takes longer",
}


@dataclass(frozen=True, slots=True)
class _Files:
    """The files of one index: where they lie, and how many bytes they are in all."""

    column: str
    folder: Path
    size: int | None

    @property
    def are_whole(self) -> bool:
        if self.size is None:
            return self.folder.is_dir()
        return folder_size(self.folder) >= self.size


class Health:
    """Says what is broken. Threads may share it."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._known: dict[str, tuple[tuple[int, int], tuple[_Files, ...] | None]] = {}
        self._failed: dict[tuple[str, str], tuple[int, int]] = {}

    def broken(self, name: str, column: str) -> bool:
        """Say whether the index of a column cannot be used: files are gone or short, or using it failed before."""
        state = self._tables.state_of(name)
        found = self._is_broken(name, column, state)
        # While upkeep builds an index anew, the files of the old one go.
        now = self._tables.state_of(name) if found else state
        return found if now == state else self._is_broken(name, column, now)

    def _is_broken(self, name: str, column: str, state: tuple[int, int]) -> bool:
        if self._failed.get((name, column)) == state:
            return True
        files = self._files(name, state)
        if files is None:
            return True
        here = [one for one in files if one.column == column]
        return not all(one.are_whole for one in here) or (not here and column == WORDS)

    def failed(self, name: str, column: str) -> None:
        """Note that using the index failed; it is not tried again before the table changes."""
        self._failed[name, column] = self._tables.state_of(name)

    def warnings(self) -> tuple[str, ...]:
        """Return what keeps the index from answering as it should, with the command that mends it."""
        lost = self._tables.lost
        return (f"{lost.message}; {lost.hint}",) if lost is not None else tuple(self._worn())

    def _worn(self) -> Iterator[str]:
        layout = self._tables.layout()
        if layout is None or not layout.complete:
            return
        for name in CHUNK_TABLES:
            for column, index in _NAMES.items():
                if self.broken(name, column):
                    yield f"the {index} of {name} is damaged: {_WITHOUT[column]}; run `lilbee sync` to build it again"

    def _files(self, name: str, state: tuple[int, int]) -> tuple[_Files, ...] | None:
        """Return the indexes of a table, None where the engine cannot even list them; asked once per commit."""
        known = self._known.get(name)
        if known is None or known[0] != state:
            known = self._known[name] = (state, self._look(name))
        return known[1]

    def _look(self, name: str) -> tuple[_Files, ...] | None:
        folder = self._tables.index / f"{name}.lance" / "_indices"

        def use(table: Table) -> tuple[_Files, ...] | None:
            return tuple(_files_of(folder, entry) for entry in table.list_indices())

        try:
            return self._tables.read(name, "look at the indexes", use, None) or ()
        except StoreError as error:
            if error.code != "store.damaged":
                raise
            return None


def _files_of(folder: Path, entry: IndexEntry) -> _Files:
    # An index in several pieces lies in several folders, of which one is named: then they are looked at together.
    place = folder / entry.index_uuid if entry.num_segments == 1 and entry.index_uuid else folder
    return _Files(entry.columns[0], place, entry.size_bytes)
