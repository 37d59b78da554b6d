"""Mentions and a graph in memory: what a graph works on that belongs to no library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lilbee_core.types import ChunkId, Coded, DocumentId, GraphTable, Mention, MentionTable


class MemoryConcepts:
    """A `ConceptStore` without a disk. One thread at a time."""

    def __init__(self) -> None:
        self._mentions: dict[DocumentId, dict[ChunkId, tuple[Mention, ...]]] = {}
        self._graph: GraphTable | None = None
        self._version = 0
        self._current = False

    @property
    def version(self) -> int:
        """Changes whenever another graph is saved."""
        return self._version

    def put(self, mentions: Mapping[DocumentId, Mapping[ChunkId, Sequence[Mention]]]) -> None:
        """Replace all mentions of these documents."""
        for document_id, of in mentions.items():
            self._mentions[document_id] = {id_: tuple(found) for id_, found in of.items() if found}
        self._current = False

    def remove(self, ids: Sequence[DocumentId]) -> None:
        """Delete the mentions of these documents."""
        for id_ in ids:
            self._mentions.pop(id_, None)
        self._current = False

    def clear(self) -> None:
        """Delete all mentions and the graph."""
        self._mentions.clear()
        self._graph, self._current = None, False
        self._version += 1

    def mentions(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, tuple[Mention, ...]]:
        """Return the mentions of those of the chunks that have any."""
        wanted = set(ids)
        return {id_: found for of in self._mentions.values() for id_, found in of.items() if id_ in wanted}

    def chunks_with(self, keys: Sequence[str]) -> Mapping[ChunkId, int]:
        """Return the chunks that mention any of these normalized forms, with how often."""
        wanted = set(keys)
        counts = ((id_, sum(one.count for one in found if one.concept in wanted)) for id_, found in self._all())
        return {id_: count for id_, count in counts if count}

    def table(self) -> MentionTable:
        """Return all mentions, by columns."""
        rows = [(id_, one) for id_, found in self._all() for one in found]
        return MentionTable(
            chunks=_coded([id_ for id_, _ in rows]),
            concepts=_coded([one.concept for _, one in rows]),
            surfaces=_coded([one.surface for _, one in rows]),
            kinds=_coded([one.kind for _, one in rows]),
            stands_for=_coded([one.stands_for for _, one in rows]),
        )

    def is_current(self) -> bool:
        """Whether the graph was counted from the mentions as they are."""
        return self._current

    def load(self) -> GraphTable | None:
        """Return the graph that was saved last."""
        return self._graph

    def save(self, graph: GraphTable) -> None:
        """Keep a graph that was counted from the mentions as they are."""
        self._graph = graph
        self._version += 1
        self._current = True

    def confirm(self) -> None:
        """Note that the saved graph is that of the mentions as they are."""
        self._current = True

    def _all(self) -> Iterator[tuple[ChunkId, tuple[Mention, ...]]]:
        return ((id_, found) for of in self._mentions.values() for id_, found in of.items())


class MemoryState:
    """Decisions without a disk."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str], Mapping[str, object]] = {}

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None:
        """Keep the value."""
        self._values[kind, key] = dict(value)

    def delete(self, kind: str, key: str) -> bool:
        """Delete the value; say whether there was one."""
        return self._values.pop((kind, key), None) is not None

    def items(self, kind: str) -> Iterator[tuple[str, Mapping[str, object]]]:
        """Yield keys and values in the order of the keys."""
        return iter(sorted((key, value) for (of, key), value in self._values.items() if of == kind))


def _coded(values: Sequence[str | None]) -> Coded:
    import numpy as np

    places: dict[str, int] = {}
    codes = [-1 if value is None else places.setdefault(value, len(places)) for value in values]
    return Coded(np.array(codes, dtype=np.int64), tuple(places))
