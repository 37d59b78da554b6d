"""Looks at the files that a write left: the engine has been seen to commit a file that is cut off.

Where a file may not grow any more (a limit on the size of files, a quota), the engine now and then takes a write that
was cut short for a whole one. The last bytes of a file tell.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lilbee_core.store._engine import versions

_MAGIC = b"LANC"
_DATA, _ENDING = "data", ".lance"


class DataFiles:
    """The files of one table that were there before a write. Used under the writer lock."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: tuple[int, frozenset[str]] = (0, frozenset())

    def look(self) -> None:
        """Remember the files that there are; where nothing changed since the last look, that costs one `stat`."""
        changed = self._changed_ns()
        if changed != self._seen[0]:
            self._seen = (changed, self._names())

    def cut_off(self) -> frozenset[str]:
        """Return those of the files that came since the last look that have no end."""
        changed, before = self._changed_ns(), self._seen[1]
        names = self._names()
        self._seen = (changed, names)
        return frozenset(name for name in names - before if _is_cut_off(self._folder / _DATA / name))

    def last_without(self, names: Iterable[str]) -> int | None:
        """Return the newest version of the table that has none of these files."""
        wanted = [name.encode() for name in names]
        for number, manifest in versions(self._folder):
            content = manifest.read_bytes()
            if not any(name in content for name in wanted):
                return number
        return None

    def _changed_ns(self) -> int:
        try:
            return os.stat(self._folder / _DATA).st_mtime_ns
        except OSError:
            return 0

    def _names(self) -> frozenset[str]:
        try:
            return frozenset(os.listdir(self._folder / _DATA))
        except OSError:
            return frozenset()


def _is_cut_off(file: Path) -> bool:
    if file.suffix != _ENDING:
        return False
    try:
        with open(file, "rb") as handle:
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(size - len(_MAGIC), 0))
            return handle.read() != _MAGIC
    except OSError:
        return False  # it is gone, so nothing was committed with it
