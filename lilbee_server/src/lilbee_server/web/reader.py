"""Which part of a document is shown, and where in it the passage stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.text import find_quote
from lilbee_core.types import DocumentRow, Location, Passage, Span
from lilbee_server.web.lines import words_in
from lilbee_server.web.places import parse_span, sum_of

PART_CHARS = 24_000
"""So much of a document is shown at once."""
_BEFORE = PART_CHARS // 3
_MOST_PAGES = 5
_LONGEST_LINE = 4_000
"""How far the end of a line is looked for: there are files whose only line has megabytes."""
CHANGED = "The document has changed since: the passage is not where it was. Its place is shown as it is now."
ELSEWHERE = "The quote does not stand at this place of the document any more."


class Request(Protocol):
    """What is asked for."""

    @property
    def place(self) -> str: ...

    @property
    def span(self) -> str: ...

    @property
    def sum(self) -> str: ...

    @property
    def quote(self) -> str: ...

    @property
    def marked(self) -> str: ...

    @property
    def at(self) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A part of a document. `passage` is the one that was asked for, in characters of `text`.

    `start` is where the part begins in the document, which has `length` characters; `number` the line that it begins
    with, None where the document has no lines; `page` and `pages` count those of a document that has pages.
    """

    text: str
    start: int
    length: int
    number: int | None
    location: Location
    passage: Span | None = None
    page: int = 1
    pages: int = 0
    note: str = ""

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def member(self) -> str:
        """The member of the document that it lies in, "" if that is the document itself."""
        return self.location.member or ""

    @property
    def passage_span(self) -> Span | None:
        """Where the passage stands in the document."""
        return Span(self.start + self.passage.start, self.start + self.passage.end) if self.passage else None

    @property
    def before(self) -> int | None:
        """Where the part before begins; None if there is none."""
        return max(0, self.start - PART_CHARS) if self.start else None

    @property
    def behind(self) -> int | None:
        """Where the next part begins; None if there is none."""
        return self.end if self.end < self.length else None


def open_document(bee: Lilbee, row: DocumentRow, asked: Request) -> Opened:
    """Return the part of a document that shows what is asked for.

    Raises:
        NotFound: If it has no text.
        InvalidArgument: If the place is none.
    """
    whole = bee.get_text(str(row.id))
    passage, note = _passage(bee, whole, asked)
    pages = whole.location.page_end or 0
    if pages and not asked.at and not (passage is not None and bee.get_text(str(row.id), passage).location.member):
        return _page_of(bee, whole, passage, note, asked.marked, pages)
    at = min(asked.at, len(whole.text))
    return _part_of(bee, whole, passage, note, at)


def _passage(bee: Lilbee, whole: Passage, asked: Request) -> tuple[Span | None, str]:
    """Return where the passage stands, and what is to be said of that."""
    named = parse_span(asked.span)
    if named is not None and named.end <= len(whole.text) and sum_of(named.cut(whole.text)) == asked.sum:
        return named, ""
    note = CHANGED if named is not None and asked.sum else ""
    if not asked.place:
        return None, note
    try:
        place = bee.get_text(str(whole.document_id), asked.place)
    except InvalidArgument:
        if not note:
            raise
        return None, note
    if not asked.quote:
        return place.span, note
    quoted = find_quote(asked.quote, place.text)
    if quoted is None:
        return place.span, ELSEWHERE
    return Span(place.span.start + quoted.start, place.span.start + quoted.end), note


def _words(page: Passage, passage: Span | None, query: str) -> int:
    """Return how many different words of a query stand in what a page has of the passage."""
    inside = _inside(passage, page.span)
    if inside is None:
        return -1
    return len({one.cut(page.text).casefold() for one in words_in(page.text, query, inside)})


def _page_of(bee: Lilbee, whole: Passage, passage: Span | None, note: str, query: str, pages: int) -> Opened:
    """Return the page where most of the passage's words of the query stand, the first one if there is no passage."""
    ref = str(whole.document_id)
    place = bee.get_text(ref, passage).location if passage is not None else whole.location
    first = place.page_start or 1
    last = min(place.page_end or first, first + _MOST_PAGES) if passage is not None else first
    found = [(page, bee.get_text(ref, f"p{page}")) for page in range(first, last + 1)]
    page, shown = max(found, key=lambda one: (_words(one[1], passage, query), -one[0]))
    inside = _inside(passage, shown.span)
    return Opened(
        text=shown.text,
        start=shown.span.start,
        length=shown.span.end,
        number=None,
        location=shown.location,
        passage=inside,
        page=page,
        pages=pages,
        note=note,
    )


def _part_of(bee: Lilbee, whole: Passage, passage: Span | None, note: str, at: int) -> Opened:
    text = whole.text
    start = at if at or passage is None else max(0, passage.start - _BEFORE)
    if start and start < len(text):
        line = text.rfind("\n", max(0, start - _LONGEST_LINE), start) + 1
        start = line or start
    end = min(len(text), start + PART_CHARS)
    if end < len(text):
        line = text.rfind("\n", max(start, end - _LONGEST_LINE), end) + 1
        end = line or end
    shown = bee.get_text(str(whole.document_id), Span(start, end)) if text else whole
    part = text[start:end]
    return Opened(
        text=part,
        start=start,
        length=len(text),
        number=_number(shown, part),
        location=shown.location,
        passage=_inside(passage, Span(start, end)),
        note=note,
    )


def _number(shown: Passage, part: str) -> int | None:
    """Return the line that a part begins with, None where its lines do not follow each other in the file."""
    first, last = shown.location.line_start, shown.location.line_end
    if first is None or last is None:
        return None
    return first if part.count("\n", 0, max(0, len(part) - 1)) == last - first else None


def _inside(passage: Span | None, shown: Span) -> Span | None:
    """Return the passage in characters of what is shown of it, None if that is nothing."""
    if passage is None or passage.end <= shown.start or passage.start >= shown.end:
        return None
    return Span(max(0, passage.start - shown.start), min(passage.end, shown.end) - shown.start)
