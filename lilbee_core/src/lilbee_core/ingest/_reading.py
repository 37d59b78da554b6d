"""Reads files and documents from memory for the pipeline. Runs in its reading thread and writes nothing."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from lilbee_core.errors import Cancelled, InvalidArgument, LilbeeError
from lilbee_core.events import EventSink, Progress
from lilbee_core.ingest._memory import check_place, memory_row
from lilbee_core.ingest._pipeline import Broken, Offer
from lilbee_core.ingest._plan import UNREAD
from lilbee_core.ingest._prepare import Prepared, Preparer
from lilbee_core.ingest._survey import ToRead
from lilbee_core.ingest._tally import Tally
from lilbee_core.ingest._writing import Refused, as_failure
from lilbee_core.protocols import CancelToken, DocumentReader, Ledger
from lilbee_core.types import MEMORY, UNREAD_PAGES, Document, DocumentId, DocumentRow, FileProblem, FileStamp, Source

log = logging.getLogger(__name__)
_HEAD = 4096


class Producer:
    """Gives prepared documents to the pipeline, one after the other, and refuses those that give nothing."""

    def __init__(self, preparer: Preparer, refused: deque[Refused], cancel: CancelToken) -> None:
        self._preparer = preparer
        self._refused = refused
        self._cancel = cancel

    def refuse(self, row: DocumentRow, error: LilbeeError | None, *, known: bool) -> None:
        """Remember a document that gave nothing."""
        self._refused.append(Refused(row=row, known=known, error=error))

    def offer(self, document: Document, row: DocumentRow, offer: Offer, *, known: bool) -> bool:
        """Prepare a document and hand it on; False means that the producer should stop.

        Whatever goes wrong with it is its own failure, also when its first parts are on their way already.
        """
        sent: Prepared | None = None
        try:
            for part in self._preparer.prepare(document, row, updated=known):
                self._cancel.check()
                if not offer(part):
                    return False
                sent = part
        except Cancelled:
            return False
        except Exception as error:
            log.exception("%s could not be prepared", row.path)
            if sent is not None:
                return offer(Broken(sent, error))
            self.refuse(row, as_failure(row, error), known=known)
        return True


class FileProducer(Producer):
    """Reads the files of a survey."""

    def __init__(
        self,
        wanted: Sequence[ToRead],
        reader: DocumentReader,
        preparer: Preparer,
        refused: deque[Refused],
        events: EventSink,
        cancel: CancelToken,
    ) -> None:
        super().__init__(preparer, refused, cancel)
        self._by_place = {(one.row.collection, one.row.path): one for one in wanted}
        self._reader = reader
        self._events = events

    def __call__(self, offer: Offer) -> None:
        """Read everything."""
        total = len(self._by_place)
        try:
            outcomes = self._reader.extract(self._sources(), check=self._cancel.check, on_page=self._on_page)
            for done, (source, outcome) in enumerate(outcomes, start=1):
                if not self._take(source, outcome, offer):
                    return
                self._events(Progress(phase="reading", done=done, total=total))
        except Cancelled:
            return

    def _take(self, source: Source, outcome: Document | LilbeeError, offer: Offer) -> bool:
        if isinstance(outcome, Cancelled):
            # Giving up is no fault of the file that was being read: it stays as it is, for the next sync.
            return False
        one = self._by_place[source.collection, source.path]
        row = replace(one.row, media_type=source.media_type)
        try:
            row = replace(row, extractor=self._reader.version(source.path, source.media_type) or "")
        except Exception as error:
            log.exception("the reader of %s cannot say who it is", row.path)
            outcome = as_failure(row, error)
        if isinstance(outcome, LilbeeError):
            self.refuse(row, outcome, known=one.known)
            return True
        if not outcome.text.strip():
            self.refuse(row, None, known=one.known)
            return True
        if outcome.metadata.get(UNREAD_PAGES):
            row = replace(row, extractor=f"{row.extractor}{UNREAD}")
        return self.offer(outcome, row, offer, known=one.known)

    def _on_page(self, source: Source, done: int, total: int) -> None:
        self._events(Progress(phase="recognizing", done=done, total=total, unit="pages"))

    def _sources(self) -> Iterator[Source]:
        for one in self._by_place.values():
            try:
                self._cancel.check()
            except Cancelled:
                return
            try:
                media_type = self._media_type(one)
            except Exception as error:
                log.exception("the kind of %s could not be told", one.row.path)
                self.refuse(one.row, as_failure(one.row, error), known=one.known)
                continue
            yield Source(
                collection=one.row.collection,
                path=one.row.path,
                media_type=media_type,
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


class MemoryProducer(Producer):
    """Takes documents from memory, streaming; one that is indexed as it is costs nothing."""

    def __init__(
        self,
        documents: Iterable[Document],
        ledger: Ledger,
        preparer: Preparer,
        refused: deque[Refused],
        tally: Tally,
        now: Callable[[], str],
        cancel: CancelToken,
    ) -> None:
        super().__init__(preparer, refused, cancel)
        self._documents = documents
        self._ledger = ledger
        self._tally = tally
        self._now = now
        self._known: dict[str, dict[str, FileStamp]] = {}
        self.obsolete: deque[DocumentId] = deque()

    def __call__(self, offer: Offer) -> None:
        """Take everything."""
        for document in self._documents:
            try:
                self._cancel.check()
            except Cancelled:
                return
            try:
                check_place(document)
            except InvalidArgument as error:
                self._tally.failed.append(_problem(document, error))
                continue
            if not self._take(document, offer):
                return

    def _take(self, document: Document, offer: Offer) -> bool:
        known = self._of(document.collection)
        stamp = known.get(document.path)
        held = stamp if stamp is not None and stamp.holds_chunks else None
        row = memory_row(document, held.id if held is not None else None, self._now())
        if held is not None and (held.extractor, held.sha256) == (MEMORY, row.sha256):
            self._tally.unchanged += 1
            return True
        if not document.text.strip():
            known.pop(document.path, None)
            self.refuse(row, None, known=held is not None)
            return True
        if stamp is not None and held is None:
            self.obsolete.append(stamp.id)
        if not self.offer(document, row, offer, known=held is not None):
            return False
        known[document.path] = _stamp(row)
        return True

    def _of(self, collection: str) -> dict[str, FileStamp]:
        if collection not in self._known:
            self._known[collection] = {stamp.path: stamp for stamp in self._ledger.stamps(collection)}
        return self._known[collection]


def _stamp(row: DocumentRow) -> FileStamp:
    return FileStamp._make(getattr(row, name) for name in FileStamp._fields)


def _problem(document: Document, error: LilbeeError) -> FileProblem:
    return FileProblem(
        path=str(document.path), collection=str(document.collection), code=error.code, reason=error.message
    )
