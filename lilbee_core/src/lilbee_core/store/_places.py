"""Where chunks lie: the engine's row ids of chunks that a search just found, so that reading them needs no search."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence

MOST = 100_000


class Places:
    """Row ids by chunk id, for one table. Threads may share it.

    A row id stays with its row for as long as the row lives and is not given out again within a generation, so
    what is remembered can only be gone, never be another chunk; the reader compares the ids all the same.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = -1
        self._rows: dict[str, int] = {}

    def learn(self, generation: int, pairs: Iterable[tuple[str, int]]) -> None:
        """Remember row ids."""
        with self._lock:
            if generation != self._generation or len(self._rows) > MOST:
                self._generation = generation
                self._rows.clear()
            self._rows.update(pairs)

    def rows(self, generation: int, ids: Sequence[str]) -> list[int]:
        """Return the row ids of those of the chunks that are remembered."""
        with self._lock:
            if generation != self._generation:
                return []
            return [row for id_ in ids if (row := self._rows.get(id_)) is not None]

    def forget(self) -> None:
        """Free the memory."""
        with self._lock:
            self._rows.clear()
