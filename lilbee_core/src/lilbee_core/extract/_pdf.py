"""PDFs: the texts of their pages in reading order, with boxes, and which pages hold no usable text."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from lilbee_core.extract._bidi import Seen, has_rtl, in_reading_order, is_rtl
from lilbee_core.extract._boxes import box_segments
from lilbee_core.extract._columns import bands, in_mirror, lines_by_column, lines_text, reads_across, rows_of
from lilbee_core.extract._engine import Extraction, Node
from lilbee_core.extract._grid import page_tables
from lilbee_core.extract._hyphens import Hyphens
from lilbee_core.extract._layout import (
    NoLayout,
    PdfFile,
    Run,
    opened,
    page_letters,
    page_runs,
    page_shown,
    page_size,
)
from lilbee_core.extract._letters import letters_of
from lilbee_core.extract._paged import GAP, Placed, find_headings
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Box, Heading, Segment, Span, Table

_LAYOUT_S = 20.0
"""Longest time spent on positions; the pages behind have no boxes."""
_STAMP_CHARS = 60
"""A page that is a picture and has fewer letters than this holds a stamp or a page number, not its text."""
_LITTLE_CHARS = 300
"""So few letters over a picture that covers most of its page are a line that a scanner or an archive put there."""
_MOSTLY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The text of a PDF, and the pages that a reader of pictures should look at."""

    placed: Placed
    without_text: tuple[int, ...] = ()
    tables: tuple[Table, ...] = ()


def join_pages(extraction: Extraction, data: bytes, context: ExtractContext) -> Pages:
    """Join page texts by blank lines; headings are those blocks that can be found again on their page."""
    pieces: list[str] = []
    segments: list[Segment] = []
    headings: list[Heading] = []
    without: list[int] = []
    tables: list[Table] = []
    marked = _headings_by_page(extraction)
    at = 0
    with ExitStack() as stack:
        layout = _Layout(stack, data, context, extraction.hyphens)
        for number, raw in extraction.pages:
            body = layout.in_order(number, in_reading_order(raw, layout.seen(number, raw)).strip("\n"))
            if not layout.has_text(number, body):
                without.append(number)
            segments.append(Segment(span=Span(at, at + len(body)), page=number))
            segments += layout.boxes(number, body, at)
            headings += find_headings(body, marked.get(number, ()), offset=at)
            tables += layout.tables(number, body, at)
            pieces.append(body)
            at += len(body) + len(GAP)
    placed = Placed(text=GAP.join(pieces), segments=tuple(segments), headings=tuple(headings))
    return Pages(placed=placed, without_text=tuple(without), tables=tuple(tables))


def _headings_by_page(extraction: Extraction) -> Mapping[int, list[Node]]:
    by_page: dict[int, list[Node]] = {}
    for node in extraction.nodes:
        if node.kind == "heading" and node.page is not None:
            by_page.setdefault(node.page, []).append(node)
    return by_page


class _Layout:
    """What the positions on the pages tell; without them the text stays as it is."""

    def __init__(self, stack: ExitStack, data: bytes, context: ExtractContext, hyphens: Hyphens) -> None:
        self._context = context
        self._hyphens = hyphens
        self._deadline = time.monotonic() + _LAYOUT_S
        self._document: PdfFile | None = None
        self._page = (0, list[Run]())
        try:
            self._document = stack.enter_context(opened(data, context.password))
        except NoLayout:
            return

    def seen(self, number: int, raw: str) -> Seen:
        """Return where the letters of a page stand, if it is one with right-to-left writing."""
        if self._document is None or not has_rtl(raw) or time.monotonic() > self._deadline:
            return Seen()
        try:
            letters, mirrored = page_letters(self._document, number)
        except NoLayout:
            return Seen()
        rows = ("".join(letters_of(run.text) for run in row.runs) for row in rows_of(letters))
        return Seen(tuple(rows), mirrored=mirrored)

    def in_order(self, number: int, body: str) -> str:
        """Return the text of a page with its columns one after the other, if it reads across them."""
        runs = self._runs(number)
        # Seen in a mirror, a page that is read from the right is one that is read from the left.
        rows = rows_of(map(in_mirror, runs) if is_rtl(body) else runs)
        found = bands(rows)
        if not found or not reads_across(body, rows, found):
            return body
        return lines_text(lines_by_column(rows, found), self._hyphens)

    def has_text(self, number: int, body: str) -> bool:
        """Say whether the text of a page is what a reader sees there."""
        letters = sum(char.isalnum() for char in body)
        lost = sum(char == "\ufffd" or "\ue000" <= char <= "\uf8ff" for char in body)
        legible = lost < letters
        if letters >= _LITTLE_CHARS and legible:
            return True
        if self._document is None:
            return letters > 0
        shown = page_shown(self._document, number)
        if shown is None:
            return True
        if not (letters and legible):
            return shown.pictures == 0.0 and not shown.drawings
        if shown.unseen_text:
            return True
        return shown.pictures < _MOSTLY and not (shown.drawings and letters < _STAMP_CHARS)

    def boxes(self, number: int, body: str, offset: int) -> Iterator[Segment]:
        """Yield where the lines of a page stand."""
        if self._document is None or time.monotonic() > self._deadline:
            return
        try:
            width, height = page_size(self._document, number)
        except NoLayout:
            return
        whole = Box(page=number, left=0.0, bottom=0.0, right=round(width, 1), top=round(height, 1))
        yield from box_segments(body, self._runs(number), number, offset=offset, whole=whole)

    def tables(self, number: int, body: str, offset: int) -> Iterator[Table]:
        """Yield the tables of a page."""
        for one in page_tables(body, self._runs(number)):
            yield Table(Span(offset + one.span.start, offset + one.span.end), one.head)

    def _runs(self, number: int) -> list[Run]:
        self._context.check()
        if self._page[0] != number:
            self._page = (number, self._read_runs(number))
        return self._page[1]

    def _read_runs(self, number: int) -> list[Run]:
        if self._document is None or time.monotonic() > self._deadline:
            return []
        try:
            return page_runs(self._document, number)
        except NoLayout:
            return []
