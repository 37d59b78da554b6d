"""Marks beside the tables: at which versions something was last found in order, so that nobody looks again.

A mark that is missing or old costs a look, nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress

from lilbee_core.store._layout import write_atomically
from lilbee_core.store._tables import Tables


class Mark:
    """Remembers the versions of some tables, across processes. Set it under the writer lock."""

    def __init__(self, tables: Tables, name: str, watched: Sequence[str]) -> None:
        self._tables = tables
        self._path = tables.index / f"{name}.json"
        self._watched = tuple(watched)

    def holds(self) -> bool:
        """Whether nothing was written since the mark was set."""
        try:
            return bool(json.loads(self._path.read_bytes()) == self._versions())
        except (OSError, ValueError):
            return False

    def set(self) -> None:
        """Remember the versions as they are now; a disk that is full or read-only forgets them."""
        with suppress(OSError):
            write_atomically(self._path, json.dumps(self._versions()).encode())

    def _versions(self) -> list[int]:
        versions = [self._tables.read(name, "read the version", lambda t: t.version, 0) for name in self._watched]
        return [self._tables.generation, self._tables.turns, *versions]
