"""Writes what the pipeline yields, and what could not be read; counts and reports it."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from lilbee_core.errors import ExtractError, LilbeeError, StoreError, UnsupportedFormat
from lilbee_core.events import (
    BatchCommitted,
    DocumentFailed,
    DocumentIndexed,
    DocumentRemoved,
    DocumentSkipped,
    EventSink,
    Progress,
)
from lilbee_core.ingest._pipeline import Batch, Pipeline
from lilbee_core.ingest._prepare import Prepared
from lilbee_core.ingest._tally import Tally
from lilbee_core.protocols import IndexedDocument, StagedDocument, StoreLike
from lilbee_core.types import MEMORY, DocumentId, DocumentRow, DocumentState, FileProblem, document_id


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A document that gave nothing to index; `error` is None when it is simply empty."""

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


@dataclass(slots=True)
class _Open:
    """A big document that is being written."""

    document_id: DocumentId
    context: AbstractContextManager[StagedDocument]
    staged: StagedDocument
    chunks: int = 0


@dataclass(slots=True)
class BatchWriter:
    """Writes batches in the thread that holds the writer lock. `refused` may be filled by another thread."""

    store: StoreLike
    events: EventSink
    tally: Tally
    refused: deque[Refused] = field(default_factory=deque[Refused])
    _open: _Open | None = None

    def run(self, pipeline: Pipeline, *, total: int | None) -> None:
        """Write everything that the pipeline yields."""
        done = 0
        try:
            with pipeline:
                for batch in pipeline.batches():
                    self.refuse()
                    done += self._write(batch)
                    self.events(Progress(phase="indexing", done=done, total=total))
        finally:
            self._close()
        self.refuse()

    def _write(self, batch: Batch) -> int:
        """Write a batch; return how many documents it completed."""
        if batch.broken is not None:
            self._break(batch.broken.one, batch.broken.error)
            return 1
        if batch.is_part:
            return self._write_part(batch.prepared[0], batch.documents)
        written = [one for one, _ in self._put(batch)]
        self._count(written, sum(len(one.chunks) for one in written))
        return len(batch.prepared)

    def _put(self, batch: Batch) -> Iterator[tuple[Prepared, IndexedDocument]]:
        """Write whole documents; one that the store refuses costs only itself."""
        pairs = list(zip(batch.prepared, batch.documents, strict=True))
        try:
            self.store.put(batch.documents)
        except StoreError:
            raise
        except LilbeeError:
            yield from (pair for pair in pairs if self._put_one(*pair))
            return
        yield from pairs

    def _put_one(self, one: Prepared, document: IndexedDocument) -> bool:
        try:
            self.store.put([document])
        except StoreError:
            raise
        except LilbeeError as error:
            self.refused.append(Refused(row=one.row, known=one.updated, error=error))
            return False
        return True

    # ------------------------------------------------------------------ big documents

    def _write_part(self, one: Prepared, pieces: Sequence[IndexedDocument]) -> int:
        if one.first:
            self._close()
            context = self.store.stage(one.text)
            self._open = _Open(one.row.id, context, context.__enter__())
        current = self._open
        if current is None or current.document_id != one.row.id:
            return 0  # the rest of a document that was given up
        try:
            current.staged.add(pieces)
            current.chunks += len(one.chunks)
            if not one.last:
                self.events(Progress(phase="writing", done=current.chunks, total=None, unit="chunks"))
                return 0
            current.staged.publish(one.row)
        except StoreError:
            raise
        except LilbeeError as error:
            self._break(one, error)
            return 1
        self._close()
        self._count([one], current.chunks)
        return 1

    def _break(self, one: Prepared, error: Exception) -> None:
        """Give up a big document; what was indexed before of it goes, as for every file that fails."""
        self._close()
        self.refused.append(Refused(row=one.row, known=one.updated, error=as_failure(one.row, error)))

    def _close(self) -> None:
        """Leave the big document that is being written; without being published it is taken back."""
        current, self._open = self._open, None
        if current is not None:
            current.context.__exit__(*sys.exc_info())

    # ------------------------------------------------------------------ reports

    def _count(self, written: Sequence[Prepared], chunks: int) -> None:
        if not written:
            return
        for one in written:
            count = chunks if not one.whole else len(one.chunks)
            self.tally.added += not one.updated
            self.tally.updated += one.updated
            self.tally.chunks += count
            for warning in one.row.warnings:
                self.tally.warn(f"{one.row.path}: {warning}")
            self.events(
                DocumentIndexed(collection=one.row.collection, path=one.row.path, chunks=count, updated=one.updated)
            )
        self.events(BatchCommitted(documents=len(written), chunks=chunks))

    def refuse(self) -> None:
        """Record documents that gave nothing. What was indexed of an older version of them goes."""
        gone: list[DocumentId] = []
        rows: list[DocumentRow] = []
        while self.refused:
            one = self.refused.popleft()
            state = DocumentState.SKIPPED if one.is_skip else DocumentState.FAILED
            bare = replace(
                one.row, state=state, code=one.code, reason=one.reason, chunks=0, embedded=0, indexed_at=None
            )
            rows.append(replace(bare, id=document_id(bare.collection, bare.path, "")))
            if one.known:
                gone.append(one.row.id)
                self.tally.removed += 1
            problem = FileProblem(path=bare.path, collection=bare.collection, code=one.code, reason=one.reason)
            (self.tally.skipped if one.is_skip else self.tally.failed).append(problem)
            kind = DocumentSkipped if one.is_skip else DocumentFailed
            self.events(kind(collection=bare.collection, path=bare.path, code=one.code, reason=one.reason))
        if gone:
            self.store.remove(gone)
        kept = [row for row in rows if row.extractor != MEMORY]
        if kept:
            self.store.record(kept)

    def drop(self, rows: Sequence[DocumentRow]) -> None:
        """Take documents out of the index."""
        if rows:
            self.store.remove([row.id for row in rows])
        for row in rows:
            self.events(DocumentRemoved(collection=row.collection, path=row.path))
        self.tally.removed += sum(row.holds_chunks for row in rows)


def as_failure(row: DocumentRow, error: Exception) -> LilbeeError:
    """Return what is said of a document that anything at all went wrong with."""
    if isinstance(error, LilbeeError):
        return error
    return ExtractError(
        f"{row.path} could not be cut into passages: {type(error).__name__}: {error}",
        hint="Report this with the file, or add it to .lilbeeignore.",
    )
