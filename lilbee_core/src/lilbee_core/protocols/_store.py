"""The index and the small state beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lilbee_core.protocols._edges import CancelToken
from lilbee_core.protocols._knowledge import LibraryConcepts
from lilbee_core.types import (
    Chunk,
    ChunkId,
    DocumentId,
    DocumentRow,
    DocumentState,
    FileStamp,
    Filter,
    IndexMeta,
    Mention,
    Scope,
    Scored,
    StoredText,
    StoreStats,
    Vector,
    VectorIndexReport,
    Vectors,
)

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDocument:
    """All that is written for one document, in one batch. `words` has one analyzed string per chunk.

    `vectors` is ``[len(chunks), dimension]`` or None when vectors are owed. `contents` names what was
    (or will be) embedded for each chunk, so that equal content is never embedded twice. `mentions` are the concepts
    of each chunk, empty where nobody looked for them.
    """

    row: DocumentRow
    text: StoredText
    chunks: tuple[Chunk, ...]
    words: tuple[str, ...]
    vectors: Vectors | None = None
    contents: tuple[str, ...] = ()
    mentions: tuple[tuple[Mention, ...], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """A chunk that has no vector yet."""

    chunk_id: ChunkId
    document_id: DocumentId
    text: str
    context: tuple[str, ...]


class ChunkReader(Protocol):
    """Reads chunks. Safe to share between threads; every call sees the newest committed state."""

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]:
        """Return the chunks that exist, in the order of `ids`."""
        ...

    def vectors(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, Vector]: ...

    def vectors_by_content(self, contents: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks already stored with these `IndexedDocument.contents`."""
        ...

    def dense(self, vector: Vector, *, limit: int, filters: Filter = ..., scope: Scope = ...) -> tuple[Scored, ...]:
        """Return the nearest chunks by cosine similarity (1 is equal), best first."""
        ...

    def lexical(
        self, query: AnalyzedQuery, *, limit: int, filters: Filter = ..., scope: Scope = ...
    ) -> tuple[Scored, ...]:
        """Return the best chunks by BM25, best first; phrases of the query must occur."""
        ...

    def neighbors(self, chunk: Chunk, *, before: int = 1, after: int = 1) -> tuple[Chunk, ...]:
        """Return the chunks around `chunk` in its document, itself included, in order."""
        ...

    def chunks_of(self, document_id: DocumentId) -> tuple[Chunk, ...]: ...

    def text(self, document_id: DocumentId) -> StoredText | None: ...

    def newest(self, *, limit: int, filters: Filter = ..., scope: Scope = ...) -> tuple[ChunkId, ...]:
        """Return the first chunk of each document, by the documents' dates, newest first; undated ones come last."""
        ...

    def count(self, *, filters: Filter = ..., scope: Scope = ...) -> int: ...

    def languages(self) -> Mapping[str, float]:
        """Share of chunks per language, most frequent first."""
        ...


class StagedDocument(Protocol):
    """A document on its way in, in parts."""

    def add(self, pieces: Sequence[IndexedDocument]) -> None:
        """Write more of its chunks; each piece has vectors for all of its chunks or for none."""
        ...

    def publish(self, row: DocumentRow) -> None:
        """Show the document, all of it at once, in place of what was there."""
        ...


class ChunkWriter(Protocol):
    """Writes chunks. Only one process writes at a time: call inside `writing()`."""

    def writing(
        self, *, timeout_s: float | None = None, cancel: CancelToken | None = None
    ) -> AbstractContextManager[None]:
        """Hold the writer lock.

        Raises:
            StoreLocked: If another process holds it longer than `timeout_s`.
            Cancelled: If `cancel` says so while it waits.
        """
        ...

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Replace these documents atomically: texts, chunks, then ledger rows as the commit mark."""
        ...

    def stage(self, text: StoredText) -> AbstractContextManager[StagedDocument]:
        """Begin a document that is too big for one `put`; its chunks are added in parts that nobody sees yet.

        Left before it is published, the document stays as it was.
        """
        ...

    def relocate(self, rows: Sequence[DocumentRow], words: Mapping[ChunkId, str]) -> None:
        """Give documents a new collection, path or title; vectors and ids stay."""
        ...

    def remove(self, ids: Sequence[DocumentId]) -> None:
        """Delete these documents from every table, the ledger included."""
        ...

    def owed(self, *, limit: int) -> tuple[Owed, ...]:
        """Return chunks without a vector."""
        ...

    def set_vectors(self, vectors: Mapping[ChunkId, Vector]) -> None: ...

    def drop_vectors(self) -> None:
        """Forget every vector; all are owed afterwards."""
        ...

    def sweep(self) -> int:
        """Delete chunks and texts that no ledger row names; return how many documents were swept.

        What was excluded before the index was lost is excluded again.
        """
        ...


class Ledger(Protocol):
    """One row per file ever seen."""

    def row(self, document_id: DocumentId) -> DocumentRow | None: ...

    def rows_of(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, DocumentRow]:
        """Return the rows of those of the documents that have one, in one read."""
        ...

    def stamps(self, collection: str) -> Sequence[FileStamp]:
        """Return what a sync compares of every file of the collection."""
        ...

    def stamps_of(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, tuple[str, FileStamp]]:
        """Return the collection and the stamp of those of the documents that have a row, in one read."""
        ...

    def find(self, collection: str, path: str) -> DocumentRow | None: ...

    def rows(self, *, collection: str | None = None, states: Sequence[str] = ...) -> Iterator[DocumentRow]:
        """Yield rows ordered by collection and path."""
        ...

    def counts(self) -> Mapping[tuple[str, DocumentState], int]:
        """Return the number of rows by collection and state."""
        ...

    def record(self, rows: Sequence[DocumentRow]) -> None:
        """Write rows that have no chunks (skipped, failed, excluded) or changed state."""
        ...

    def forget(self, ids: Sequence[DocumentId]) -> None: ...


class StateStore(Protocol):
    """Small mutable state in transactions, by kind and key (conversations, notes, jobs, tokens)."""

    def load(self, kind: str, key: str) -> Mapping[str, object] | None: ...

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None: ...

    def delete(self, kind: str, key: str) -> bool: ...

    def items(self, kind: str) -> Iterator[tuple[str, Mapping[str, object]]]: ...

    def keys(self, kind: str) -> tuple[str, ...]:
        """Return the keys in order, also those of values that cannot be read."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """Let nobody else write inside the block; an error in it undoes what was written there. Blocks may nest."""
        ...


class Upkeep(Protocol):
    """Keeps the store small and fast. Runs under the writer lock, by thresholds, at the end of a sync."""

    def stats(self) -> StoreStats: ...

    def maintain(self, *, force: bool = False) -> tuple[str, ...]:
        """Rebuild, compact and prune where thresholds say so; return what was done."""
        ...

    def repair(self) -> tuple[str, ...]:
        """Build indexes again that are damaged, from what the tables hold; return what was done, as sentences."""
        ...

    def warnings(self) -> tuple[str, ...]:
        """Return what keeps the index from answering as it should, with the command that mends it; cheap to ask."""
        ...

    def require_index(self) -> None:
        """Refuse to go on as if there was nothing, where an index was lost.

        Raises:
            StoreError: With code ``store.damaged``.
        """
        ...

    def build_vector_index(self) -> VectorIndexReport:
        """Build the index for approximate vector search now, and use it however few the vectors are."""
        ...

    def check(self) -> tuple[str, ...]:
        """Return every inconsistency found, as sentences."""
        ...


class StoreLike(ChunkReader, ChunkWriter, Ledger, Upkeep, Protocol):
    """The whole store."""

    @property
    def path(self) -> Path: ...

    @property
    def version(self) -> int:
        """Grows with every commit; the key of in-memory caches."""
        ...

    @property
    def concepts(self) -> LibraryConcepts:
        """What the documents talk about."""
        ...

    def meta(self) -> IndexMeta | None: ...

    def set_meta(self, meta: IndexMeta) -> None: ...

    def reset(self) -> None:
        """Delete every table of the index; state (conversations, notes) stays, and what is excluded.

        The ledger has rows of excluded documents again after the next `sweep`.
        """
        ...

    def close(self) -> None: ...
