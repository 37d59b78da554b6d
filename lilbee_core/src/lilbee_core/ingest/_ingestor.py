"""Keeps the index equal to the folders: walk, read, cut, embed, write, in that order."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import UTC

from lilbee_core.analysis import Analyzer
from lilbee_core.background import background
from lilbee_core.errors import Cancelled, SourceUnavailable, StoreError
from lilbee_core.events import (
    DocumentMoved,
    DocumentRemoved,
    EventSink,
    Progress,
    SafeSink,
    SyncFinished,
    SyncPlanned,
    SyncStarted,
    UpkeepFinished,
)
from lilbee_core.ingest._pipeline import BatchLimits, Offer, Pipeline
from lilbee_core.ingest._prepare import Mentions, Preparer, no_mentions
from lilbee_core.ingest._reading import FileProducer, MemoryProducer
from lilbee_core.ingest._survey import Digest, Survey, SurveyOptions, Surveyor, sha256_of
from lilbee_core.ingest._tally import Tally
from lilbee_core.ingest._vectors import VectorSource
from lilbee_core.ingest._walk import Root, WalkOptions
from lilbee_core.ingest._writing import BatchWriter
from lilbee_core.protocols import CancelToken, Chunker, Clock, DocumentReader, EmbedderLike, StoreLike
from lilbee_core.types import MEMORY, Chunk, ChunkId, Document, DocumentRow, DocumentState, SyncReport, document_id

log = logging.getLogger(__name__)
_OWED_LEAST = 256
_OWED_MOST = 2048


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOptions:
    """How a sync behaves. `force` reads every file again; `wanted` names files and folders that were asked for."""

    prune: bool = False
    dry_run: bool = False
    retry_failed: bool = False
    retry_codes: frozenset[str] = frozenset()
    force: bool = False
    wanted: Sequence[str] = ()


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
        digest: Digest = sha256_of,
        mentions: Mentions = no_mentions,
    ) -> None:
        self._store = store
        self._reader = reader
        self._embedder = embedder
        self._events = events
        self._clock = clock
        self._walk = walk
        self._limits = limits
        self._embed_batch_size = embed_batch_size
        self._digest = digest
        self._preparer = Preparer(chunker, analyzer, embed_text, mentions, part_chunks=limits.part_chunks)

    def reporting_to(self, *sinks: EventSink) -> Ingestor:
        """Return this ingestor with its events going to each of these sinks."""
        twin = copy(self)
        twin._events = SafeSink(*sinks)
        return twin

    # ------------------------------------------------------------------ verbs

    @background()
    def sync(self, roots: Sequence[Root], cancel: CancelToken, options: SyncOptions = SyncOptions()) -> SyncReport:
        """Make the index equal to the folders.

        A cancelled sync ends at a batch edge and says so in its report.

        Raises:
            SourceUnavailable: If no folder at all can be walked.
            StoreLocked: If another process writes for too long.
        """
        if options.dry_run:
            return self._dry_run(roots, cancel, options)
        started = self._clock.monotonic()
        self._events(SyncStarted(collections=tuple(root.collection for root in roots)))
        with self._store.writing():
            tally = Tally()
            self._store.sweep()
            for done in self._store.repair():
                tally.warn(done)
            vectors = self._vector_source(cancel)
            self._work(roots, cancel, options, tally, vectors)
            return self._finish(tally, vectors, started, cancel)

    @background()
    def add_documents(self, documents: Iterable[Document], cancel: CancelToken) -> SyncReport:
        """Index documents from memory, streaming; one with the same collection and path is replaced if it differs."""
        started = self._clock.monotonic()
        with self._store.writing():
            tally = Tally()
            self._store.sweep()
            vectors = self._vector_source(cancel)
            writer = BatchWriter(self._store, self._events, tally)
            producer = MemoryProducer(documents, self._store, self._preparer, writer.refused, tally, self._now, cancel)
            writer.run(self._pipeline(producer, vectors, cancel), total=None)
            self._store.forget(list(producer.obsolete))
            return self._finish(tally, vectors, started, cancel)

    @background()
    def embed_owed(self, cancel: CancelToken) -> SyncReport:
        """Embed every chunk that has no vector yet, and nothing else; what was done when it is cancelled stays."""
        started = self._clock.monotonic()
        with self._store.writing():
            self._store.sweep()
            return self._finish(Tally(), self._vector_source(cancel), started, cancel)

    def exclude(self, rows: Sequence[DocumentRow], folders: Collection[tuple[str, str]] = ()) -> None:
        """Take documents out of the index and remember that they are unwanted.

        `folders` are collections and paths of folders, which are unwanted with all that comes into them.
        """
        with self._store.writing():
            self._store.remove([row.id for row in rows])
            files = [_excluded(row) for row in rows if row.extractor != MEMORY]
            self._store.record([*files, *(_excluded_folder(*one, self._now()) for one in folders)])
            for row in rows:
                self._events(DocumentRemoved(collection=row.collection, path=row.path))

    def readmit(self, rows: Sequence[DocumentRow]) -> None:
        """Forget that documents were unwanted."""
        with self._store.writing():
            self._store.forget([row.id for row in rows])

    def rename_collection(self, rows: Sequence[DocumentRow], name: str) -> None:
        """Move documents to another collection; ids and vectors stay."""
        with self._store.writing():
            self._relocate([replace(row, collection=name) for row in rows if row.holds_chunks])
            self._store.record([replace(row, collection=name) for row in rows if not row.holds_chunks])

    def reanalyze(self) -> int:
        """Write the words of every chunk anew (after the analyzer changed); return the number of documents."""
        with self._store.writing():
            rows = [row for row in self._store.rows() if row.holds_chunks]
            self._relocate(rows)
            return len(rows)

    # ------------------------------------------------------------------ steps

    def _dry_run(self, roots: Sequence[Root], cancel: CancelToken, options: SyncOptions) -> SyncReport:
        started = self._clock.monotonic()
        tally = Tally()
        survey = self._survey(roots, cancel, options, tally)
        _check_available(roots, tally)
        for one in survey.to_read:
            tally.updated += one.known
            tally.added += not one.known
        tally.moved += len(survey.moved)
        tally.removed += len(survey.remove) + len(survey.remove_late)
        return tally.report(seconds=self._clock.monotonic() - started, dry_run=True)

    def _survey(self, roots: Sequence[Root], cancel: CancelToken, options: SyncOptions, tally: Tally) -> Survey:
        how = SurveyOptions(
            walk=self._walk,
            prune=options.prune,
            retry_failed=options.retry_failed,
            retry_codes=options.retry_codes,
            force=options.force,
            wanted=options.wanted,
        )
        surveyor = Surveyor(self._store, self._reader, self._events, self._now, tally, digest=self._digest)
        return surveyor.survey(roots, how, cancel)

    def _work(
        self,
        roots: Sequence[Root],
        cancel: CancelToken,
        options: SyncOptions,
        tally: Tally,
        vectors: VectorSource,
    ) -> None:
        """Do everything that the survey finds."""
        try:
            survey = self._survey(roots, cancel, options, tally)
        except Cancelled:
            return
        self._events(
            SyncPlanned(
                to_read=len(survey.to_read),
                unchanged=tally.unchanged,
                removed=len(survey.remove) + len(survey.remove_late),
                moved=len(survey.moved),
                bytes=survey.bytes,
            )
        )
        writer = BatchWriter(self._store, self._events, tally)
        self._apply(survey, writer, tally)
        _check_available(roots, tally)
        if survey.to_read:
            producer = FileProducer(survey.to_read, self._reader, self._preparer, writer.refused, self._events, cancel)
            writer.run(self._pipeline(producer, vectors, cancel), total=len(survey.to_read))
        if not _cancelled(cancel):
            writer.drop(survey.remove_late)

    def _apply(self, survey: Survey, writer: BatchWriter, tally: Tally) -> None:
        self._relocate([*(row for _, row in survey.moved), *survey.redated])
        for old, row in survey.moved:
            self._events(DocumentMoved(collection=row.collection, path=row.path, old_path=old.path))
        tally.moved += len(survey.moved)
        writer.drop(survey.remove)
        if survey.forget:
            self._store.forget(survey.forget)
        if survey.record:
            self._store.record(survey.record)

    def _relocate(self, rows: Sequence[DocumentRow]) -> None:
        """Give documents their new place, with words that tell it, a bounded number of chunks at a time.

        Two documents that swap places stand at one place for the moment between two groups; ids tell them apart.
        """
        for group in _groups(rows, most=self._limits.part_chunks):
            words: dict[ChunkId, str] = {}
            for row in group:
                for chunk in self._store.chunks_of(row.id):
                    moved = replace(chunk, path=row.path, collection=row.collection, title=row.title)
                    words[chunk.id] = self._preparer.words(moved)
            self._store.relocate(group, words)

    def _pipeline(self, producer: Callable[[Offer], None], vectors: VectorSource, cancel: CancelToken) -> Pipeline:
        return Pipeline(producer, vectors, self._limits, cancelled=lambda: _cancelled(cancel))

    # ------------------------------------------------------------------ the end

    def _finish(self, tally: Tally, vectors: VectorSource, started: float, cancel: CancelToken) -> SyncReport:
        owed = self._pay_owed(vectors, cancel)
        cancelled = _cancelled(cancel)
        if not cancelled:
            self._upkeep()
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

    def _pay_owed(self, vectors: VectorSource, cancel: CancelToken) -> int:
        """Embed chunks that have no vector yet; return how many are still owed."""
        if self._embedder is None:
            return 0
        stats = self._store.stats()
        paid, total = 0, stats.chunks - stats.embedded
        while vectors.available and not _cancelled(cancel):
            owed = self._store.owed(limit=min(_OWED_MOST, max(_OWED_LEAST, vectors.batch_chunks)))
            if not owed:
                return 0
            found = vectors.pay({one.chunk_id: self._preparer.owed_input(one) for one in owed})
            if not found:
                break
            self._store.set_vectors(found)
            paid += len(found)
            self._events(Progress(phase="embedding", done=paid, total=max(paid, total), unit="chunks"))
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

    def _vector_source(self, cancel: CancelToken) -> VectorSource:
        return VectorSource(
            self._store,
            self._embedder,
            clock=self._clock,
            batch_size=self._embed_batch_size,
            seconds=self._limits.seconds,
            stopped=lambda: _cancelled(cancel),
        )

    def _now(self) -> str:
        return self._clock.now().astimezone(UTC).isoformat(timespec="microseconds")


def _excluded(row: DocumentRow) -> DocumentRow:
    return replace(
        row,
        state=DocumentState.EXCLUDED,
        code="excluded",
        reason="removed on request",
        chunks=0,
        embedded=0,
        indexed_at=None,
    )


def _excluded_folder(collection: str, path: str, now: str) -> DocumentRow:
    row = DocumentRow(
        id=document_id(collection, path, ""),
        collection=collection,
        path=path,
        state=DocumentState.EXCLUDED,
        attempted_at=now,
    )
    return _excluded(row)


def _groups(rows: Sequence[DocumentRow], *, most: int) -> Iterator[list[DocumentRow]]:
    """Yield the rows in groups of about so many chunks."""
    group: list[DocumentRow] = []
    size = 0
    for row in rows:
        group.append(row)
        size += row.chunks
        if size >= most:
            yield group
            group, size = [], 0
    if group:
        yield group


def _check_available(roots: Sequence[Root], tally: Tally) -> None:
    if not roots or len(tally.unavailable) < len(roots):
        return
    reasons = "; ".join(warning for warning in tally.warnings if warning.startswith("collection "))
    folder = roots[0].folder
    raise SourceUnavailable(
        reasons,
        hint=f"Bring {folder} back and sync again, or sync with --prune to delete what it held.",
    )


def _cancelled(cancel: CancelToken) -> bool:
    try:
        cancel.check()
    except Cancelled:
        return True
    return False
