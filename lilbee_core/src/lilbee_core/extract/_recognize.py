"""Text of pages that are pictures: which pages, by which engine, put back into their document."""

from __future__ import annotations

import logging
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from threading import Event, Lock, Semaphore
from typing import Literal

from lilbee_core.errors import LilbeeError, NoText
from lilbee_core.extract._pages import UNSURE, beside_own, shown_pages, with_pages
from lilbee_core.extract._pictures import Picture, has_pictures
from lilbee_core.extract._reading import no_text
from lilbee_core.extract._scans import own_document, source_of, with_scans
from lilbee_core.protocols import OcrEngine, OcrPage
from lilbee_core.types import UNREAD_PAGES, Document, Metadata, Scan, Source

log = logging.getLogger(__name__)

Mode = Literal["auto", "off", "force"]
Pictures = Callable[[int, tuple[int, ...]], Picture | LilbeeError]
"""Returns a page of a file, or of the member that is reached by these numbers, as a picture; or why there is none."""
PagePictures = Callable[[int], Picture | LilbeeError]
OnPage = Callable[[Source, int, int], None]
"""Told of each page that is done: the file, how many pages are, and how many there are to do."""
HOW_TO_INSTALL = (
    "install Tesseract (Debian: apt install tesseract-ocr, macOS: brew install tesseract) or "
    "pip install 'lilbee-core[rapidocr]'"
)
_POLL_S = 0.1


def _untold(source: Source, done: int, total: int) -> None:
    return None


def _never() -> None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """Who follows the reading: `check` may raise to end it, `on_page` is told of each page."""

    check: Callable[[], None] = _never
    on_page: OnPage = _untold


class Recognizer:
    """Has pages without usable text read by the first engine that can, several pages at a time.

    Threads may share it. An engine that fails on a page leaves it to the next one; a page that nobody can read is
    told in a warning, and a file of such pages only is an error.
    """

    def __init__(
        self,
        engines: Callable[[], Sequence[OcrEngine]],
        *,
        mode: Mode = "auto",
        languages: Sequence[str] = ("en",),
        timeout_s: float = 60.0,
        workers: int | Callable[[], int] = 0,
    ) -> None:
        """Take the settings; `engines` is called with the first page that needs one, best engine first.

        So many pages are read at once, of all files together; `workers` that can be called is, after the engines.
        With 0 it is one page per core, at most 4.
        """
        if timeout_s <= 0:
            raise ValueError(f"timeout_s must be positive, got {timeout_s}")
        self.mode: Mode = mode
        self._engines = engines
        self._languages = tuple(languages)
        self._timeout_s = timeout_s
        self._workers = workers
        self._readers: _Readers | None = None
        self._lock = Lock()

    def is_needed(self, source: Source, result: Document | LilbeeError) -> bool:
        """Say whether a file has pictures to look at, which takes its time."""
        return (isinstance(result, Document) and bool(result.scans)) or self._has_pages_to_read(source, result)

    def complete(
        self, source: Source, result: Document | LilbeeError, pictures: Pictures, watch: Watch = Watch()
    ) -> Document | LilbeeError:
        """Return the document with the text of its pictures, or the result as it was with what would help."""
        if isinstance(result, Document) and result.scans:
            return self._complete_members(source, result, pictures, watch)
        outcome, unread = self._complete(source, result, lambda page: pictures(page, ()), watch)
        return _counted(outcome, unread) if isinstance(outcome, Document) else outcome

    def _complete_members(
        self, source: Source, document: Document, pictures: Pictures, watch: Watch
    ) -> Document | LilbeeError:
        read: list[tuple[Scan, Document | LilbeeError]] = []
        unread = 0
        for scan in document.scans:
            if scan.span and not scan.pages and self.mode != "force":
                continue
            own, member = own_document(document, scan), source_of(scan, source)
            outcome, left = self._complete(member, own, partial(_of_member, pictures, scan.at), watch)
            unread += (len(scan.pages) or 1) if left is None else left
            # A picture without letters was read all the same, and is no news.
            if outcome is not own and not (isinstance(outcome, NoText) and left == 0):
                read.append((scan, outcome))
        whole = _counted(with_scans(document, read), unread)
        return whole if whole.text.strip() else _nothing(source, whole)

    def _complete(
        self, source: Source, result: Document | LilbeeError, pictures: PagePictures, watch: Watch
    ) -> tuple[Document | LilbeeError, int | None]:
        """Return what comes of a file, and how many of its pages were not read; None for all of them."""
        if not self._has_pages_to_read(source, result):
            return result, 0
        unread = len(result.pages_without_text) if isinstance(result, Document) else None
        if self.mode == "off":
            return _unread(source, result, "text recognition is off", "set ocr to auto"), unread
        engines = self._engines()
        if not engines:
            return _unread(source, result, "no text recognition is installed", HOW_TO_INSTALL), unread
        first = pictures(1)
        if isinstance(first, LilbeeError):
            return (first if isinstance(result, LilbeeError) else result), unread
        base = result if isinstance(result, Document) else _empty(source)
        pages = tuple(range(1, first.pages + 1))
        if isinstance(result, Document) and self.mode != "force":
            pages = result.pages_without_text
        read, failed = self._read(source, pages, engines, lambda page: first if page == 1 else pictures(page), watch)
        if self.mode != "force":
            read = dict(_beside_own(base, read))
        return _joined(source, result, base, first.pages, read, failed), len(failed)

    def _has_pages_to_read(self, source: Source, result: Document | LilbeeError) -> bool:
        if not has_pictures(source.media_type):
            return False
        if isinstance(result, LilbeeError):
            return isinstance(result, NoText)
        return bool(result.pages_without_text) or self.mode == "force"

    def _read(
        self,
        source: Source,
        pages: Sequence[int],
        engines: Sequence[OcrEngine],
        pictures: PagePictures,
        watch: Watch,
    ) -> tuple[dict[int, tuple[OcrPage, Picture]], dict[int, str]]:
        read: dict[int, tuple[OcrPage, Picture]] = {}
        failed: dict[int, str] = {}
        for done, (page, picture, found) in enumerate(self._results(pages, engines, pictures, watch.check), start=1):
            if isinstance(found, str):
                failed[page] = found
            elif picture is not None:
                read[page] = (found, picture)
            watch.on_page(source, done, len(pages))
        return read, failed

    def _results(
        self, pages: Sequence[int], engines: Sequence[OcrEngine], pictures: PagePictures, check: Callable[[], None]
    ) -> Iterator[tuple[int, Picture | None, OcrPage | str]]:
        """Yield page by page in order; few pictures are held at once."""
        running: deque[tuple[int, Picture, Future[OcrPage | str]]] = deque()
        readers, stopped = self._all_readers(), Event()
        pool = ThreadPoolExecutor(readers.count, thread_name_prefix="lilbee-ocr")
        try:
            for page in pages:
                check()
                picture = pictures(page)
                if isinstance(picture, LilbeeError):
                    yield page, None, picture.message
                    continue
                running.append((page, picture, pool.submit(self._in_turn, picture, engines, readers, stopped)))
                while len(running) > readers.count:
                    yield _next(running, check)
            while running:
                yield _next(running, check)
        finally:
            stopped.set()
            pool.shutdown(wait=False, cancel_futures=True)

    def _all_readers(self) -> _Readers:
        with self._lock:
            if self._readers is None:
                count = self._workers if isinstance(self._workers, int) else self._workers()
                self._readers = _Readers(count or min(4, os.cpu_count() or 1))
            return self._readers

    def _in_turn(
        self, picture: Picture, engines: Sequence[OcrEngine], readers: _Readers, stopped: Event
    ) -> OcrPage | str:
        with readers.free:
            return "it was given up" if stopped.is_set() else self._recognize(picture, engines)

    def _recognize(self, picture: Picture, engines: Sequence[OcrEngine]) -> OcrPage | str:
        reason = "no engine could read it"
        for engine in engines:
            try:
                page = engine.recognize(picture.data, languages=self._languages, timeout_s=self._timeout_s)
                return replace(page, text=page.text.replace("\r\n", "\n").replace("\r", "\n").strip())
            except Exception as error:  # noqa: BLE001 - an engine may be anybody's code; its failure costs one page
                reason = error.message if isinstance(error, LilbeeError) else f"{engine.name} failed ({error!r})"
                log.info("text recognition by %s failed on a page: %s", engine.name, reason)
        return reason


class _Readers:
    """So many pages are read at once, whatever files they belong to."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.free = Semaphore(count)


def _next(
    running: deque[tuple[int, Picture, Future[OcrPage | str]]], check: Callable[[], None]
) -> tuple[int, Picture, OcrPage | str]:
    page, picture, future = running[0]
    while True:
        check()
        try:
            found = future.result(timeout=_POLL_S)
        except TimeoutError:
            continue
        running.popleft()
        return page, picture, found


def _empty(source: Source) -> Document:
    return Document(
        path=source.path, collection=source.collection, media_type=source.media_type, text="", has_lines=False
    )


def _of_member(pictures: Pictures, at: tuple[int, ...], page: int) -> Picture | LilbeeError:
    return pictures(page, at)


def _counted(document: Document, unread: int | None) -> Document:
    """Note how many pages were not read, so that the ledger tells, and a sync can try again."""
    if not unread:
        return document
    return replace(document, metadata=Metadata({**document.metadata, UNREAD_PAGES: unread}))


def _nothing(source: Source, document: Document) -> NoText:
    """Return the error for a file whose members hold no text, with the reason of the first one."""
    error = no_text(source)
    why = f": {document.warnings[0]}" if document.warnings else ""
    return NoText(f"{error.message}{why}", hint=error.hint)


def _unread(source: Source, result: Document | LilbeeError, why: str, hint: str) -> Document | LilbeeError:
    """Say of pages that are pictures why they were not read. The ledger keeps the message alone, so all is in it."""
    if isinstance(result, LilbeeError):
        told = f"{source.path} holds no text that can be read, and {why}: {hint}"
        return NoText(told, hint=f"{hint[0].upper()}{hint[1:]}, then sync again.")
    told = f"pictures on {shown_pages(result.pages_without_text)} not read: {why}"
    return replace(result, warnings=(*result.warnings, told))


def _joined(
    source: Source,
    result: Document | LilbeeError,
    base: Document,
    pages: int,
    read: dict[int, tuple[OcrPage, Picture]],
    failed: dict[int, str],
) -> Document | LilbeeError:
    found = {page: one for page, one in read.items() if any(char.isalnum() for char in one[0].text)}
    reasons = dict.fromkeys(failed.values())
    if not found and isinstance(result, LilbeeError):
        why = f": {next(iter(reasons))}" if reasons else ", and none was recognized"
        return NoText(
            f"{source.path} holds no text that can be read{why}",
            hint="Check that its pages show text, and that ocr_languages names its language.",
        )
    document = with_pages(base, found, pages)
    warnings = [*document.warnings, *(_failures(failed, reason) for reason in reasons)]
    unsure = [page for page, (one, _) in found.items() if one.confidence < UNSURE]
    if unsure:
        warnings.append(f"{shown_pages(unsure)} recognized with low confidence")
    # A page on which an engine found nothing was read: it is blank, or shows no text.
    left = tuple(page for page in document.pages_without_text if page in failed)
    if not found:
        return replace(document, warnings=tuple(warnings), pages_without_text=left)
    # What is not sure of itself should not look as if it were: the mean is kept with the document.
    chars = sum(len(one.text) for one, _ in found.values())
    confidence = sum(one.confidence * len(one.text) for one, _ in found.values()) / chars
    facts = {"ocr_pages": shown_pages(found).split(" ", 1)[1], "ocr_confidence": round(confidence, 3)}
    return replace(
        document,
        warnings=tuple(warnings),
        metadata=Metadata({**document.metadata, **facts}),
        pages_without_text=left,
    )


def _beside_own(
    document: Document, read: dict[int, tuple[OcrPage, Picture]]
) -> Iterator[tuple[int, tuple[OcrPage, Picture]]]:
    for number, (page, picture) in read.items():
        if (better := beside_own(document, number, page)) is not None:
            yield number, (better, picture)


def _failures(failed: dict[int, str], reason: str) -> str:
    return f"{shown_pages([page for page, why in failed.items() if why == reason])} not read: {reason}"
