"""What searches leave behind for the next one: where chunks lie, so that reading them needs no search, and chunks."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence

from lilbee_core.types import Chunk, ChunkId

MOST = 100_000
MOST_CHUNKS = 2_000
"""At two or three KB each."""
State = tuple[int, int]


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


class KeptChunks:
    """The chunks that were read last, of one state of a table. Threads may share it.

    A query is refined, paged through, or asked about: what it finds is mostly what the one before found.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state: State | None = None
        self._chunks: OrderedDict[ChunkId, Chunk] = OrderedDict()

    def get(self, state: State, ids: Sequence[ChunkId]) -> dict[ChunkId, Chunk]:
        """Return those of the chunks that were kept of this state."""
        with self._lock:
            if state != self._state:
                return {}
            found = {id_: chunk for id_ in ids if (chunk := self._chunks.get(id_)) is not None}
            for id_ in found:
                self._chunks.move_to_end(id_)
            return found

    def carry(self, before: State, now: State, holds: Callable[[ChunkId], bool]) -> None:
        """Keep of another state those chunks that are the same in it."""
        with self._lock:
            if self._state == before:
                self._state = now
                for id_ in [id_ for id_ in self._chunks if not holds(id_)]:
                    del self._chunks[id_]

    def put(self, state: State, chunks: Iterable[Chunk]) -> None:
        """Keep chunks that were read from this state; what was kept of another is dropped."""
        with self._lock:
            if state != self._state:
                self._state = state
                self._chunks.clear()
            self._chunks.update((chunk.id, chunk) for chunk in chunks)
            while len(self._chunks) > MOST_CHUNKS:
                self._chunks.popitem(last=False)

    def forget(self) -> None:
        """Free the memory."""
        with self._lock:
            self._state = None
            self._chunks.clear()
