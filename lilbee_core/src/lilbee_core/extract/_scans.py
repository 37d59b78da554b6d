"""Members that are pictures of text: what was recognized on them, put into the text of the file around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lilbee_core.errors import LilbeeError, NoText
from lilbee_core.extract._members import GAP, member_segments, moved_tables
from lilbee_core.types import Document, Heading, Metadata, Scan, Segment, Source, Span, Table

_MOST_FAILURES = 20


def source_of(scan: Scan, around: Source) -> Source:
    """Return the member as a file of its own, without its bytes; the file itself if the scan is of its own pages."""
    if not scan.at:
        return around
    return Source(collection=around.collection, path=scan.member, media_type=scan.media_type)


def own_document(document: Document, scan: Scan) -> Document | NoText:
    """Return what was read of a member so far as a document of its own."""
    start, end = scan.span.start, scan.span.end
    if start == end:
        return NoText(f"{scan.member or document.path} holds no text that can be read")
    return Document(
        path=scan.member or document.path,
        collection=document.collection,
        media_type=scan.media_type,
        text=scan.span.cut(document.text),
        has_lines=False,
        segments=tuple(
            replace(one, span=Span(one.span.start - start, one.span.end - start), member=None)
            for one in document.segments
            if start <= one.span.start and one.span.end <= end
        ),
        headings=tuple(replace(one, start=one.start - start) for one in document.headings if start <= one.start < end),
        tables=tuple(
            Table(Span(one.span.start - start, one.span.end - start), one.head)
            for one in document.tables
            if start <= one.span.start and one.span.end <= end
        ),
        pages_without_text=scan.pages,
    )


def with_scans(document: Document, read: Sequence[tuple[Scan, Document | LilbeeError]]) -> Document:
    """Return the document with what was recognized on its members, each in its place."""
    out = _Rewritten(document)
    warnings, failed = list(document.warnings), list[str]()
    for scan, result in sorted(read, key=lambda pair: pair[0].span.start):
        if isinstance(result, LilbeeError):
            failed.append(f"{scan.kind} not read: {result.message}")
            continue
        out.put(scan, result)
        warnings += [f"{scan.member}: {warning}" if scan.member else warning for warning in result.warnings]
    out.finish()
    more = len(failed) - _MOST_FAILURES
    warnings += [*failed[:_MOST_FAILURES], *([f"and {more} more not read"] if more > 0 else [])]
    return replace(
        document,
        text=out.text,
        segments=tuple(out.segments),
        headings=tuple(out.headings),
        tables=tuple(out.tables),
        warnings=tuple(warnings),
        metadata=_facts(document, [(scan, one) for scan, one in read if isinstance(one, Document)]),
    )


def _facts(document: Document, read: Sequence[tuple[Scan, Document]]) -> Metadata:
    found = [(one.metadata.get("ocr_confidence"), len(one.text)) for _, one in read]
    pages = next((one.metadata["ocr_pages"] for scan, one in read if not scan.at and "ocr_pages" in one.metadata), None)
    own: dict[str, object] = {} if pages is None else {"ocr_pages": pages}
    sure = [(value, chars) for value, chars in found if isinstance(value, float)]
    if not sure:
        return document.metadata
    mean = sum(value * chars for value, chars in sure) / max(1, sum(chars for _, chars in sure))
    if members := len(sure) - len(own):
        own["ocr_members"] = members
    return Metadata({**document.metadata, **own, "ocr_confidence": round(mean, 3)})


class _Rewritten:
    """A document on its way to a new text. Members are put in the order in which they stand."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._pieces: list[str] = []
        self._length = 0
        self._at = 0
        self._owes_gap = False
        self.segments: list[Segment] = []
        self.headings: list[Heading] = []
        self.tables: list[Table] = []

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def put(self, scan: Scan, result: Document) -> None:
        """Put a member's text into its place."""
        body = result.text.rstrip("\n")
        if not body.strip():
            return
        self._copy_until(scan.span.start)
        if not scan.span and self._length and not self._pieces[-1].endswith(GAP):
            self._add(GAP)
        start = self._length
        self._add(body)
        self._owes_gap = not self._document.text.startswith(GAP, scan.span.end)
        self.segments += member_segments(result, scan.member, start, len(body))
        self.headings += [replace(one, start=one.start + start) for one in result.headings if one.start < len(body)]
        self.tables += moved_tables(result, start, len(body))
        self._at = max(self._at, scan.span.end)

    def finish(self) -> None:
        """Copy what is left."""
        self._copy_until(len(self._document.text) + 1)

    def _copy_until(self, end: int) -> None:
        piece = self._document.text[self._at : end]
        if piece and self._owes_gap:
            self._add(GAP)
            self._owes_gap = False
        first, shift = self._at, self._length - self._at
        self._add(piece)
        self._at = max(self._at, end)
        self.segments += [
            replace(one, span=Span(one.span.start + shift, one.span.end + shift))
            for one in self._document.segments
            # An empty segment is a page without text, of a member that was read meanwhile.
            if one.span and first <= one.span.start < end
        ]
        self.headings += [
            replace(one, start=one.start + shift) for one in self._document.headings if first <= one.start < end
        ]
        self.tables += [
            Table(Span(one.span.start + shift, one.span.end + shift), one.head)
            for one in self._document.tables
            if first <= one.span.start < end
        ]

    def _add(self, piece: str) -> None:
        if piece:
            self._pieces.append(piece)
            self._length += len(piece)
