"""The store: one folder that holds the index of a library and its small state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from lilbee_core.errors import InvalidArgument
from lilbee_core.protocols import CancelToken, IndexedDocument, Owed
from lilbee_core.store._check import check
from lilbee_core.store._concepts import ConceptTables
from lilbee_core.store._exclusions import Exclusions
from lilbee_core.store._health import Health
from lilbee_core.store._keeping import FileKeeper
from lilbee_core.store._ledger import LedgerTable
from lilbee_core.store._lock import writer_lock
from lilbee_core.store._meta import load_meta, save_meta
from lilbee_core.store._reader import Reader
from lilbee_core.store._staging import Staging
from lilbee_core.store._state import SqliteState
from lilbee_core.store._tables import Tables
from lilbee_core.store._upkeep import WordKeeper, build_vector_index, maintain, repair, stats
from lilbee_core.store._writer import Writer
from lilbee_core.types import (
    Chunk,
    ChunkId,
    DocumentId,
    DocumentRow,
    DocumentState,
    FileStamp,
    Filter,
    IndexMeta,
    Scope,
    Scored,
    StoredText,
    StoreStats,
    Vector,
    VectorIndexReport,
)

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery

_ALL = Filter()


class Store:
    """The index (LanceDB) and the small state (SQLite) of one library.

    Open it with `Store.open` and close it, or use it in a ``with`` statement. Threads may share it. Any number
    of processes may read while one writes; readers never wait and see each commit at once. Nothing is created
    on disk before the first write.
    """

    def __init__(
        self,
        tables: Tables,
        state: SqliteState,
        *,
        dimension: int | None = None,
        lock_timeout_s: float = 60.0,
        vector_cache_mb: int = 512,
        ann_index_threshold: int = 50_000,
    ) -> None:
        self._tables = tables
        self._state = state
        self._lock_timeout_s = lock_timeout_s
        self._ann_index_threshold = ann_index_threshold
        self._ledger = LedgerTable(tables)
        self._health = Health(tables)
        self._reader = Reader(
            tables,
            self._ledger,
            self._health,
            vector_cache_bytes=vector_cache_mb * 1_000_000,
            ann_threshold=ann_index_threshold,
        )
        self._lock = writer_lock(tables.data_dir)
        self._writer = Writer(tables, self._ledger, self._lock.present, dimension=dimension)
        self._words = WordKeeper()
        self._files = FileKeeper()
        self._exclusions = Exclusions(state, self._ledger)
        self._concepts = ConceptTables(tables, self.writing)

    @classmethod
    def open(
        cls,
        data_dir: Path | str,
        *,
        dimension: int | None = None,
        read_only: bool = False,
        lock_timeout_s: float = 60.0,
        vector_cache_mb: int = 512,
        ann_index_threshold: int = 50_000,
    ) -> Store:
        """Open the folder, which need not exist yet.

        Args:
            data_dir: The folder that holds the index and the state.
            dimension: Dimension of the vectors to come; without it the first vectors decide.
            read_only: Refuse every write.
            lock_timeout_s: How long a write waits for another writer.
            vector_cache_mb: Memory for exact vector search; 0 always reads from disk.
            ann_index_threshold: Chunks from which approximate vector search is used; 0 is never.

        An index that is damaged or was written by a newer version can be opened too, so that `reset` can put
        an end to it; everything else then raises `StoreError` with code ``store.damaged``, or `StoreTooNew`.

        Raises:
            InvalidArgument: If the path is a file.
        """
        folder = Path(data_dir)
        if folder.exists() and not folder.is_dir():
            raise InvalidArgument(f"{folder} is a file, not a folder", hint="give the folder of the library's data")
        return cls(
            Tables(folder, read_only=read_only),
            SqliteState(folder, read_only=read_only),
            dimension=dimension,
            lock_timeout_s=lock_timeout_s,
            vector_cache_mb=vector_cache_mb,
            ann_index_threshold=ann_index_threshold,
        )

    def __enter__(self) -> Store:
        self._tables.check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of files and memory; safe to call twice. Using the store afterwards raises ``library.closed``."""
        self._reader.forget()
        self._tables.close()
        self._state.close()

    @property
    def path(self) -> Path:
        """The folder that holds the index and the state."""
        return self._tables.data_dir

    @property
    def version(self) -> int:
        """A number that grows with every commit; the key of in-memory caches."""
        return self._tables.version()

    @property
    def state(self) -> SqliteState:
        """Small mutable state, which `reset` leaves alone. It is closed with the store."""
        return self._state

    @property
    def concepts(self) -> ConceptTables:
        """What the documents talk about."""
        return self._concepts

    # ------------------------------------------------------------------ reading

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]:
        """Return the chunks that exist, in the order of `ids`."""
        return self._reader.get(ids)

    def vectors(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, Vector]:
        """Return the vectors of those of the chunks that have one."""
        return self._reader.vectors(ids)

    def vectors_by_content(self, contents: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks already stored with these `IndexedDocument.contents`."""
        return self._reader.vectors_by_content(contents)

    def dense(
        self, vector: Vector, *, limit: int, filters: Filter = _ALL, scope: Scope = Scope.RAW
    ) -> tuple[Scored, ...]:
        """Return the nearest chunks by cosine similarity (1 is equal), best first.

        Raises:
            EmbedderMismatch: If the vector's dimension is not that of the index.
            InvalidArgument: If it holds numbers that are not finite.
            InvalidFilter: If a filter cannot be understood.
        """
        return self._reader.dense(vector, limit, filters, scope)

    def lexical(
        self, query: AnalyzedQuery, *, limit: int, filters: Filter = _ALL, scope: Scope = Scope.RAW
    ) -> tuple[Scored, ...]:
        """Return the best chunks by BM25, best first; phrases of the query must occur.

        Raises:
            InvalidFilter: If a filter cannot be understood.
        """
        return self._reader.lexical(query, limit, filters, scope)

    def neighbors(self, chunk: Chunk, *, before: int = 1, after: int = 1) -> tuple[Chunk, ...]:
        """Return the chunks around `chunk` in its document, itself included, in order."""
        return self._reader.neighbors(chunk, before, after)

    def chunks_of(self, document_id: DocumentId) -> tuple[Chunk, ...]:
        """Return the chunks of a document, in order."""
        return self._reader.chunks_of(document_id)

    def text(self, document_id: DocumentId) -> StoredText | None:
        """Return the extracted text of a document, the one its chunks were cut from."""
        return self._reader.text(document_id)

    def newest(self, *, limit: int, filters: Filter = _ALL, scope: Scope = Scope.RAW) -> tuple[ChunkId, ...]:
        """Return the first chunk of each document, by the documents' dates, newest first; undated ones come last.

        Raises:
            InvalidFilter: If a filter cannot be understood.
        """
        return self._reader.newest(limit, filters, scope)

    def count(self, *, filters: Filter = _ALL, scope: Scope = Scope.RAW) -> int:
        """Return the number of chunks.

        Raises:
            InvalidFilter: If a filter cannot be understood.
        """
        return self._reader.count(filters, scope)

    def languages(self) -> Mapping[str, float]:
        """Return the share of chunks per language, most frequent first."""
        return self._reader.languages()

    # ------------------------------------------------------------------ writing

    def writing(
        self, *, timeout_s: float | None = None, cancel: CancelToken | None = None
    ) -> AbstractContextManager[None]:
        """Hold the writer lock inside the block; re-entrant per thread. Every write takes it by itself too.

        Raises:
            StoreLocked: If another writer holds it longer than `timeout_s`.
            Cancelled: If `cancel` says so while it waits.
            StoreError: With code ``store.read_only`` if nothing may be written here.
        """
        self._tables.check_open()
        self._tables.check_writable()
        return self._lock.hold(self._lock_timeout_s if timeout_s is None else timeout_s, cancel)

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Replace these documents: texts, chunks, then ledger rows as the commit mark.

        A reader sees a document as it was or as it is, never a mixture. The counts of chunks and vectors in
        the ledger are those of what was written.

        Raises:
            EmbedderMismatch: If the vectors' dimension is not that of the index.
            InvalidArgument: If words or vectors do not fit the chunks.
        """
        with self.writing():
            self._writer.put(documents)
            self._words.keep_up(self._tables)
            self._files.keep_up(self._tables)

    def stage(self, text: StoredText) -> Staging:
        """Begin a document that is too big for one `put`, inside `writing()`.

        Nobody sees what is added before it is published; left without that, the document stays as it was.
        """
        return Staging(self._tables, self._ledger, text, self._writer.append)

    def relocate(self, rows: Sequence[DocumentRow], words: Mapping[ChunkId, str]) -> None:
        """Give documents a new collection, path or title; vectors and ids stay. Missing words stay as they are."""
        with self.writing():
            self._writer.relocate(rows, words)

    def remove(self, ids: Sequence[DocumentId]) -> None:
        """Delete these documents from every table, the ledger included; none of them is excluded any more."""
        with self.writing():
            self._exclusions.forget(ids)
            self._writer.remove(ids)

    def owed(self, *, limit: int) -> tuple[Owed, ...]:
        """Return chunks without a vector."""
        return self._writer.owed(limit)

    def set_vectors(self, vectors: Mapping[ChunkId, Vector]) -> None:
        """Write vectors of chunks; ids that do not exist any more are left out.

        Raises:
            EmbedderMismatch: If their dimension is not that of the index.
        """
        with self.writing():
            self._writer.set_vectors(vectors)

    def drop_vectors(self) -> None:
        """Forget every vector, so that another embedder may write its own; all are owed afterwards."""
        with self.writing():
            self._writer.drop_vectors()

    def sweep(self) -> int:
        """Delete what a killed writer left; return how many documents were swept.

        What was excluded in an index that is lost is excluded again.
        """
        with self.writing():
            self._exclusions.settle(self._writer.remove)
            return self._writer.sweep()

    # ------------------------------------------------------------------ the ledger

    def row(self, document_id: DocumentId) -> DocumentRow | None:
        """Return the ledger row of a document."""
        return self._ledger.row(document_id)

    def rows_of(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, DocumentRow]:
        """Return the ledger rows of those of the documents that have one."""
        return self._ledger.rows_of(ids)

    def stamps(self, collection: str) -> Sequence[FileStamp]:
        """Return what a sync compares of every file of the collection."""
        return self._ledger.stamps(collection)

    def stamps_of(self, ids: Sequence[DocumentId]) -> Mapping[DocumentId, tuple[str, FileStamp]]:
        """Return the collection and the stamp of those of the documents that have a ledger row."""
        return self._ledger.stamps_of(ids)

    def find(self, collection: str, path: str) -> DocumentRow | None:
        """Return the ledger row of a file."""
        return self._ledger.find(collection, path)

    def rows(self, *, collection: str | None = None, states: Sequence[str] = ()) -> Iterator[DocumentRow]:
        """Yield ledger rows ordered by collection and path."""
        return self._ledger.rows(collection, states)

    def counts(self) -> Mapping[tuple[str, DocumentState], int]:
        """Return the number of ledger rows by collection and state."""
        return self._ledger.counts()

    def record(self, rows: Sequence[DocumentRow]) -> None:
        """Write ledger rows that have no chunks (skipped, failed, excluded) or changed state.

        What is excluded is kept in the state too, so that it stays so whatever becomes of the index.
        """
        with self.writing():
            self._exclusions.follow(rows)
            self._lock.present.add(row.id for row in rows)
            self._ledger.record(rows)

    def forget(self, ids: Sequence[DocumentId]) -> None:
        """Delete ledger rows; none of these documents is excluded any more."""
        with self.writing():
            self._exclusions.forget(ids)
            self._ledger.forget(ids)

    # ------------------------------------------------------------------ upkeep

    def stats(self) -> StoreStats:
        """Return counts and sizes."""
        return replace(stats(self._tables), vector_bytes=self._reader.vector_bytes)

    def maintain(self, *, force: bool = False) -> tuple[str, ...]:
        """Rebuild, compact and prune where thresholds say so; return what was done."""
        with self.writing():
            done = maintain(self._tables, force=force, ann_threshold=self._ann_index_threshold)
            self._tables.forget_old_indexes()
            return done

    def repair(self) -> tuple[str, ...]:
        """Build indexes again that are damaged, from what the tables hold; return what was done.

        Raises:
            StoreError: With code ``store.damaged`` if the tables are damaged too: then only a rebuild helps.
        """
        with self.writing():
            return repair(self._tables, self._health)

    def warnings(self) -> tuple[str, ...]:
        """Return what keeps the index from answering as it should, with the command that mends it; cheap to ask."""
        return self._health.warnings()

    def require_index(self) -> None:
        """Refuse to go on as if there was nothing, where an index was lost.

        Raises:
            StoreError: With code ``store.damaged``.
        """
        lost = self._tables.lost
        if lost is not None:
            raise lost

    def build_vector_index(self) -> VectorIndexReport:
        """Build the index for approximate vector search now, and use it however few the vectors are.

        Raises:
            InvalidArgument: If there are no vectors, or the threshold 0 says that search is exact.
        """
        if not self._ann_index_threshold:
            raise InvalidArgument(
                "ann_index_threshold is 0, which keeps vector search exact at any size",
                hint="set ann_index_threshold to another number first",
            )
        with self.writing():
            return build_vector_index(self._tables)

    def check(self) -> tuple[str, ...]:
        """Return every inconsistency found, as sentences."""
        return check(self._tables, self._ledger)

    def meta(self) -> IndexMeta | None:
        """Return what built the index, None before `set_meta`."""
        return load_meta(self._tables)

    def set_meta(self, meta: IndexMeta) -> None:
        """Write what built the index, here and in ``manifest.json``."""
        with self.writing():
            save_meta(self._tables, meta)

    def reset(self) -> None:
        """Delete every table of the index; state (conversations, notes, what is excluded) stays.

        A damaged index is deleted too.
        """
        with self.writing():
            self._tables.reset()
            self._lock.present.forget()
            self._reader.forget()
