"""Keeps the index equal to the folders: walk, read, cut, embed, write, in that order."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

from lilbee_core.analysis import Analyzer
from lilbee_core.errors import Cancelled, LilbeeError, StoreError, UnsupportedFormat
from lilbee_core.events import (
    BatchCommitted,
    DocumentFailed,
    DocumentIndexed,
    DocumentMoved,
    DocumentRemoved,
    DocumentSkipped,
    EventSink,
    Progress,
    SyncFinished,
    SyncPlanned,
    SyncStarted,
    UpkeepFinished,
)
from lilbee_core.ingest._memory import memory_row
from lilbee_core.ingest._pipeline import BatchLimits, Pipeline
from lilbee_core.ingest._prepare import Prepared, Preparer
from lilbee_core.ingest._survey import Survey, SurveyOptions, Surveyor, ToRead
from lilbee_core.ingest._tally import Tally
from lilbee_core.ingest._vectors import VectorSource
from lilbee_core.ingest._walk import Root, WalkOptions
from lilbee_core.protocols import CancelToken, Chunker, Clock, DocumentReader, EmbedderLike, StoreLike
from lilbee_core.types import (
    Chunk,
    ChunkId,
    Document,
    DocumentId,
    DocumentRow,
    DocumentState,
    FileProblem,
    Source,
    SyncReport,
)
from lilbee_core.types import document_id as new_id

log = logging.getLogger(__name__)
_HEAD = 4096
_OWED_BLOCK = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """How a sync behaves. `force` reads every file again."""

    prune: bool = False
    dry_run: bool = False
    retry_failed: bool = False
    force: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A file that gave no text; `error` is None when it is simply empty."""

    row: DocumentRow
    known: bool
    error: LilbeeError | None

    @property
    def is_skip(self) -> bool:
        """Whether this is no fault: nothing in it, or nothing that lilbee reads."""
        return self.error is None or isinstance(self.error, UnsupportedFormat)

    @property
    def code(self) -> str:
        return self.error.code if self.error is not None else "empty"

    @property
    def reason(self) -> str:
        return self.error.message if self.error is not None else "the file holds no text"


class Ingestor:
    """Syncs folders and takes documents from memory. One sync at a time; the store's lock sees to that."""

    def __init__(
        self,
        store: StoreLike,
        reader: DocumentReader,
        chunker: Chunker,
        analyzer: Analyzer,
        embedder: EmbedderLike | None,
        *,
        embed_text: Callable[[Chunk], str],
        events: EventSink,
        clock: Clock,
        walk: WalkOptions = WalkOptions(),
        limits: BatchLimits = BatchLimits(),
        embed_batch_size: int = 64,
    ) -> None:
        self._store = store
        self._reader = reader
        self._embedder = embedder
        self._events = events
        self._clock = clock
        self._walk = walk
        self._limits = limits
        self._embed_batch_size = embed_batch_size
        self._preparer = Preparer(chunker, analyzer, embed_text)

    # ------------------------------------------------------------------ verbs

    def sync(self, roots: Sequence[Root], cancel: CancelToken, options: SyncOptions = SyncOptions()) -> SyncReport:
        """Make the index equal to the folders.

        Raises:
            SourceUnavailable: If no folder at all can be walked.
            StoreLocked: If another process writes for too long.
            Cancelled: Never; a cancelled sync ends at a batch edge and says so in its report.
        """
        if options.dry_run:
            return self._dry_run(roots, cancel, options)
        started = self._clock.monotonic()
        self._events(SyncStarted(collections=tuple(root.collection for root in roots)))
        with self._store.writing():
            tally = Tally()
            self._store.sweep()
            vectors = self._vector_source()
            cancelled = self._work(list(roots), cancel, options, tally, vectors)
            owed = self._pay_owed(vectors, cancel) if not cancelled else 0
            self._upkeep()
            return self._finish(tally, vectors, started, owed=owed, cancelled=cancelled)

    def add_documents(self, documents: Iterable[Document], cancel: CancelToken) -> SyncReport:
        """Index documents from memory, streaming; one with the same collection and path is replaced if it differs."""
        started = self._clock.monotonic()
        with self._store.writing():
            tally = Tally()
            vectors = self._vector_source()
            emptied: list[DocumentRow] = []
            pipeline = Pipeline(
                lambda offer: self._offer_documents(documents, offer, tally, emptied, cancel), vectors, self._limits
            )
            self._write(pipeline, tally, deque(), total=None)
            self._drop(emptied, tally)
            owed = self._pay_owed(vectors, cancel)
            self._upkeep()
            return self._finish(tally, vectors, started, owed=owed, cancelled=_cancelled(cancel))

    def exclude(self, rows: Sequence[DocumentRow]) -> None:
        """Take documents out of the index and remember that they are unwanted."""
        with self._store.writing():
            self._store.remove([row.id for row in rows])
            kept = [row for row in rows if row.extractor != "memory"]
            self._store.record(
                [self._bare(row, DocumentState.EXCLUDED, "excluded", "removed on request") for row in kept]
            )
            for row in rows:
                self._events(DocumentRemoved(collection=row.collection, path=row.path))

    def readmit(self, rows: Sequence[DocumentRow]) -> None:
        """Forget that documents were unwanted."""
        with self._store.writing():
            self._store.forget([row.id for row in rows])

    def rename_collection(self, rows: Sequence[DocumentRow], name: str) -> None:
        """Move documents to another collection; ids and vectors stay."""
        with self._store.writing():
            held = [row for row in rows if row.state is DocumentState.INDEXED]
            self._relocate([replace(row, collection=name) for row in held])
            other = [row for row in rows if row.state is not DocumentState.INDEXED]
            self._store.record([replace(row, collection=name) for row in other])

    def reanalyze(self) -> int:
        """Write the words of every chunk anew (after the analyzer changed); return the number of documents."""
        count = 0
        with self._store.writing():
            for row in list(self._store.rows(states=("indexed",))):
                self._relocate([row])
                count += 1
        return count

    # ------------------------------------------------------------------ steps

    def _dry_run(self, roots: Sequence[Root], cancel: CancelToken, options: SyncOptions) -> SyncReport:
        started = self._clock.monotonic()
        tally = Tally()
        survey = self._survey(list(roots), cancel, options, tally)
        for one in survey.to_read:
            tally.updated += one.known
            tally.added += not one.known
        tally.moved += len(survey.moved)
        tally.removed += sum(1 for row in survey.remove if row.state is DocumentState.INDEXED)
        return tally.report(seconds=self._clock.monotonic() - started, dry_run=True)

    def _survey(self, roots: list[Root], cancel: CancelToken, options: SyncOptions, tally: Tally) -> Survey:
        how = SurveyOptions(
            walk=self._walk, prune=options.prune, retry_failed=options.retry_failed, force=options.force
        )
        return Surveyor(self._store, self._reader, self._events, self._now(), tally).survey(roots, how, cancel)

    def _work(
        self, roots: list[Root], cancel: CancelToken, options: SyncOptions, tally: Tally, vectors: VectorSource
    ) -> bool:
        """Do everything that the survey found; return whether it was cancelled."""
        try:
            survey = self._survey(roots, cancel, options, tally)
            self._events(
                SyncPlanned(
                    to_read=len(survey.to_read),
                    unchanged=tally.unchanged,
                    removed=len(survey.remove),
                    moved=len(survey.moved),
                    bytes=survey.bytes,
                )
            )
            self._apply(survey, tally)
        except Cancelled:
            return True
        if not survey.to_read:
            return False
        refused: deque[Refused] = deque()
        pipeline = Pipeline(lambda offer: self._read(survey.to_read, offer, refused, cancel), vectors, self._limits)
        self._write(pipeline, tally, refused, total=len(survey.to_read))
        return _cancelled(cancel)

    def _apply(self, survey: Survey, tally: Tally) -> None:
        if survey.moved:
            self._relocate([row for _, row in survey.moved])
            for old, row in survey.moved:
                self._events(DocumentMoved(collection=row.collection, path=row.path, old_path=old.path))
            tally.moved += len(survey.moved)
        self._drop(survey.remove, tally)
        if survey.forget:
            self._store.forget([row.id for row in survey.forget])
        if survey.record:
            self._store.record(survey.record)

    def _drop(self, rows: Sequence[DocumentRow], tally: Tally) -> None:
        """Take documents out of the index."""
        if rows:
            self._store.remove([row.id for row in rows])
        for row in rows:
            self._events(DocumentRemoved(collection=row.collection, path=row.path))
        tally.removed += sum(1 for row in rows if row.state is DocumentState.INDEXED)

    def _relocate(self, rows: Sequence[DocumentRow]) -> None:
        words = {}
        for row in rows:
            for chunk in self._store.chunks_of(row.id):
                moved = replace(chunk, path=row.path, collection=row.collection, title=row.title)
                words[chunk.id] = self._preparer.words(moved)
        self._store.relocate(rows, words)

    def _read(
        self, wanted: Sequence[ToRead], offer: Callable[[Prepared], bool], refused: deque[Refused], cancel: CancelToken
    ) -> None:
        """Extract and prepare files; runs in the pipeline's reading thread and writes nothing itself."""
        by_place = {(one.row.collection, one.row.path): one for one in wanted}
        outcomes = self._reader.extract(self._sources(wanted, cancel))
        for done, (source, outcome) in enumerate(outcomes, start=1):
            one = by_place[source.collection, source.path]
            version = self._reader.version(source.path, source.media_type) or ""
            row = replace(one.row, media_type=source.media_type, extractor=version)
            if isinstance(outcome, LilbeeError):
                refused.append(Refused(row=row, known=one.known, error=outcome))
            elif not outcome.text.strip():
                refused.append(Refused(row=row, known=one.known, error=None))
            elif not offer(self._preparer.prepare(outcome, row, updated=one.known)):
                return
            self._events(Progress(phase="reading", done=done, total=len(wanted)))

    def _sources(self, wanted: Sequence[ToRead], cancel: CancelToken) -> Iterator[Source]:
        for one in wanted:
            if _cancelled(cancel):
                return
            yield Source(
                collection=one.row.collection,
                path=one.row.path,
                media_type=self._media_type(one),
                file=one.found.file,
                size=one.found.size,
                mtime_ns=one.found.mtime_ns,
            )

    def _media_type(self, one: ToRead) -> str:
        try:
            with open(one.found.file, "rb", buffering=0) as handle:
                head = handle.read(_HEAD)
        except OSError:
            head = b""
        return self._reader.media_type(one.found.path, head)

    def _offer_documents(
        self,
        documents: Iterable[Document],
        offer: Callable[[Prepared], bool],
        tally: Tally,
        emptied: list[DocumentRow],
        cancel: CancelToken,
    ) -> None:
        now = self._now()
        ledgers: dict[str, dict[str, DocumentRow]] = {}
        for document in documents:
            if _cancelled(cancel):
                return
            collection = document.collection
            if collection not in ledgers:
                held = self._store.rows(collection=collection, states=("indexed",))
                ledgers[collection] = {row.path: row for row in held}
            old = ledgers[collection].get(document.path)
            row = memory_row(document, old, now)
            if old is not None and (old.extractor, old.sha256) == (row.extractor, row.sha256):
                tally.unchanged += 1
            elif not document.text.strip():
                tally.skipped.append(_problem(row, "empty", "the document holds no text"))
                if old is not None:
                    emptied.append(row)
            elif not offer(self._preparer.prepare(document, row, updated=old is not None)):
                return
            else:
                ledgers[collection][document.path] = row

    def _write(self, pipeline: Pipeline, tally: Tally, refused: deque[Refused], *, total: int | None) -> None:
        """Write batches as they come, in the caller's thread, which holds the writer lock."""
        done = 0
        for prepared, batch in pipeline.batches():
            self._refuse(refused, tally)
            self._store.put(batch)
            done += len(batch)
            self._count(prepared, tally)
            self._events(Progress(phase="indexing", done=done, total=total))
        self._refuse(refused, tally)

    def _count(self, batch: Sequence[Prepared], tally: Tally) -> None:
        for one in batch:
            tally.added += not one.updated
            tally.updated += one.updated
            tally.chunks += len(one.chunks)
            for warning in one.row.warnings:
                tally.warn(f"{one.row.path}: {warning}")
            self._events(
                DocumentIndexed(
                    collection=one.row.collection, path=one.row.path, chunks=len(one.chunks), updated=one.updated
                )
            )
        self._events(BatchCommitted(documents=len(batch), chunks=sum(len(one.chunks) for one in batch)))

    def _refuse(self, refused: deque[Refused], tally: Tally) -> None:
        """Record files that gave no text. What was indexed of an older version of them goes."""
        gone: list[DocumentId] = []
        rows: list[DocumentRow] = []
        while refused:
            one = refused.popleft()
            state = DocumentState.SKIPPED if one.is_skip else DocumentState.FAILED
            bare = replace(one.row, state=state, code=one.code, reason=one.reason, indexed_at=None)
            rows.append(replace(bare, id=new_id(bare.collection, bare.path, "")))
            if one.known:
                gone.append(one.row.id)
                tally.removed += 1
            (tally.skipped if one.is_skip else tally.failed).append(_problem(bare, one.code, one.reason))
            kind = DocumentSkipped if one.is_skip else DocumentFailed
            self._events(kind(collection=bare.collection, path=bare.path, code=one.code, reason=one.reason))
        if gone:
            self._store.remove(gone)
        if rows:
            self._store.record(rows)

    def _pay_owed(self, vectors: VectorSource, cancel: CancelToken) -> int:
        """Embed chunks that have no vector yet; return how many are still owed."""
        if self._embedder is None:
            return 0
        while vectors.available and not _cancelled(cancel):
            owed = self._store.owed(limit=_OWED_BLOCK)
            if not owed:
                return 0
            inputs = {str(one.chunk_id): self._preparer.owed_input(one) for one in owed}
            found = vectors.embed(inputs)
            if not found:
                break
            self._store.set_vectors({ChunkId(name): vector for name, vector in found.items()})
            self._events(Progress(phase="embedding", done=len(found), total=None, unit="chunks"))
        stats = self._store.stats()
        return stats.chunks - stats.embedded

    def _upkeep(self) -> None:
        started = self._clock.monotonic()
        try:
            actions = self._store.maintain()
        except StoreError as error:
            # The index is complete and searchable; a smaller one can wait for the next sync.
            log.warning("upkeep failed: %s", error)
            return
        if actions:
            self._events(UpkeepFinished(seconds=self._clock.monotonic() - started, actions=actions))

    def _finish(self, tally: Tally, vectors: VectorSource, started: float, *, owed: int, cancelled: bool) -> SyncReport:
        if vectors.warning:
            tally.warn(vectors.warning)
        seconds = self._clock.monotonic() - started
        report = tally.report(seconds=seconds, embedded=vectors.embedded, owed=owed, cancelled=cancelled)
        self._events(
            SyncFinished(
                added=report.added,
                updated=report.updated,
                removed=report.removed,
                failed=len(report.failed),
                seconds=seconds,
            )
        )
        return report

    def _vector_source(self) -> VectorSource:
        return VectorSource(self._store, self._embedder, batch_size=self._embed_batch_size)

    def _now(self) -> str:
        return self._clock.now().astimezone(UTC).isoformat(timespec="microseconds")

    @staticmethod
    def _bare(row: DocumentRow, state: DocumentState, code: str, reason: str) -> DocumentRow:
        return replace(row, state=state, code=code, reason=reason, chunks=0, embedded=0, indexed_at=None)


def _problem(row: DocumentRow, code: str, reason: str) -> FileProblem:
    return FileProblem(path=row.path, collection=row.collection, code=code, reason=reason)


def _cancelled(cancel: CancelToken) -> bool:
    try:
        cancel.check()
    except Cancelled:
        return True
    return False
