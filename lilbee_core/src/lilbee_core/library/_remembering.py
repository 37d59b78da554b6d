"""A reader of chunks that asks the index only once for each thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lilbee_core.protocols import ChunkReader
from lilbee_core.types import Chunk, ChunkId, DocumentId, Filter, Scope, Scored, StoredText, Vector

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery

_ALL = Filter()


class Remembering:
    """A `ChunkReader` that asks another one only once for each thing a search asks."""

    def __init__(self, reader: ChunkReader) -> None:
        self._reader = reader
        self._lists: dict[object, tuple[Scored, ...]] = {}
        self._chunks: dict[ChunkId, Chunk | None] = {}
        self._vectors: dict[ChunkId, Vector | None] = {}
        self._languages: Mapping[str, float] | None = None

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]:
        """Return the chunks that exist, in the order of `ids`."""
        missing = [one for one in ids if one not in self._chunks]
        if missing:
            self._chunks.update(dict.fromkeys(missing))
            self._chunks.update((chunk.id, chunk) for chunk in self._reader.get(missing))
        return tuple(chunk for one in ids if (chunk := self._chunks[one]) is not None)

    def vectors(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, Vector]:
        """Return the vectors of those of the chunks that have one."""
        missing = [one for one in ids if one not in self._vectors]
        if missing:
            self._vectors.update(dict.fromkeys(missing))
            self._vectors.update(self._reader.vectors(missing))
        return {one: vector for one in ids if (vector := self._vectors[one]) is not None}

    def dense(
        self, vector: Vector, *, limit: int, filters: Filter = _ALL, scope: Scope = Scope.RAW
    ) -> tuple[Scored, ...]:
        """Return the nearest chunks by cosine similarity, best first."""
        key = ("dense", vector.tobytes(), limit, filters, scope)
        if key not in self._lists:
            self._lists[key] = self._reader.dense(vector, limit=limit, filters=filters, scope=scope)
        return self._lists[key]

    def lexical(
        self, query: AnalyzedQuery, *, limit: int, filters: Filter = _ALL, scope: Scope = Scope.RAW
    ) -> tuple[Scored, ...]:
        """Return the best chunks by BM25, best first."""
        key = ("lexical", query, limit, filters, scope)
        if key not in self._lists:
            self._lists[key] = self._reader.lexical(query, limit=limit, filters=filters, scope=scope)
        return self._lists[key]

    def languages(self) -> Mapping[str, float]:
        """Share of chunks per language."""
        if self._languages is None:
            self._languages = self._reader.languages()
        return self._languages

    def vectors_by_content(self, contents: Sequence[str]) -> Mapping[str, Vector]:
        """Return what the reader says."""
        return self._reader.vectors_by_content(contents)

    def neighbors(self, chunk: Chunk, *, before: int = 1, after: int = 1) -> tuple[Chunk, ...]:
        """Return what the reader says."""
        return self._reader.neighbors(chunk, before=before, after=after)

    def chunks_of(self, document_id: DocumentId) -> tuple[Chunk, ...]:
        """Return what the reader says."""
        return self._reader.chunks_of(document_id)

    def text(self, document_id: DocumentId) -> StoredText | None:
        """Return what the reader says."""
        return self._reader.text(document_id)

    def newest(self, *, limit: int, filters: Filter = _ALL, scope: Scope = Scope.RAW) -> tuple[ChunkId, ...]:
        """Return what the reader says."""
        return self._reader.newest(limit=limit, filters=filters, scope=scope)

    def count(self, *, filters: Filter = _ALL, scope: Scope = Scope.RAW) -> int:
        """Return what the reader says."""
        return self._reader.count(filters=filters, scope=scope)
