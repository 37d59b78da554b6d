"""Pages of a document exchanged for what was recognized on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from lilbee_core.extract._headings import markdown_headings
from lilbee_core.extract._letters import letters_of
from lilbee_core.extract._paged import GAP
from lilbee_core.extract._pictures import Picture
from lilbee_core.extract._tables import marked_tables
from lilbee_core.protocols import OcrPage
from lilbee_core.types import Box, Document, Heading, Segment, Span, Table

UNSURE = 0.5
"""A page whose recognition is less sure than this is named."""
_MORE = 1.25
_STAMP_CHARS = 60
_LINE = 8
Found = Mapping[int, tuple[OcrPage, Picture]]


def with_pages(document: Document, found: Found, pages: int) -> Document:
    """Return a document with the text of the found pages in the place of what they held before."""
    if not found:
        return document
    if pages == 1 and not any(one.page for one in document.segments) and not next(iter(found.values()))[1].width:
        # An image file has no pages.
        (page, _), *_ = found.values()
        marked = markdown_headings(page.text) if page.markdown else ()
        marks = tuple(marked_tables(page.text)) if page.markdown else ()
        title = document.title or _title(marked)
        return replace(document, text=page.text, headings=marked, tables=marks, title=title)
    old = {one.page: one for one in document.segments if one.page is not None}
    pieces: list[str] = []
    segments: list[Segment] = []
    headings: list[Heading] = []
    tables: list[Table] = []
    at = 0
    for number in range(1, max([pages, *(page for page in old if page)]) + 1):
        if number in found:
            body, inside, heads = _recognized(*found[number], at)
            tables += (_at(one, at) for one in (marked_tables(body) if found[number][0].markdown else ()))
        else:
            body, inside, heads = _kept(document, old.get(number), at)
            tables += _kept_tables(document, old.get(number), at)
        segments += [Segment(span=Span(at, at + len(body)), page=number), *inside]
        headings += heads
        pieces.append(body)
        at += len(body) + len(GAP)
    return replace(
        document,
        text=GAP.join(pieces),
        segments=tuple(segments),
        headings=tuple(headings),
        tables=tuple(tables),
        title=document.title or _title(headings),
    )


def beside_own(document: Document, number: int, page: OcrPage) -> OcrPage | None:
    """Return what was recognized on a page with lines of its own text that are missing there.

    None where the page's own text says as much: it is the exact one.
    """
    own = next((one.span.cut(document.text) for one in document.segments if one.page == number), "")
    found, written = letters_of(page.text), letters_of(own)
    unsure = page.confidence < UNSURE and len(written) >= _STAMP_CHARS
    if written and (unsure or len(found) < _MORE * len(written)):
        return None
    lines = [line for line in own.split("\n") if len(letters := letters_of(line)) >= _LINE and letters not in found]
    return replace(page, text="\n\n".join(["\n".join(lines), page.text])) if lines else page


def _at(table: Table, shift: int) -> Table:
    return Table(Span(table.span.start + shift, table.span.end + shift), table.head)


def _kept_tables(document: Document, old: Segment | None, at: int) -> Sequence[Table]:
    if old is None:
        return ()
    start, end = old.span.start, old.span.end
    return [_at(one, at - start) for one in document.tables if start <= one.span.start and one.span.end <= end]


def _title(headings: Sequence[Heading]) -> str | None:
    return next((one.title for one in headings if one.level == 1), None)


def _recognized(page: OcrPage, picture: Picture, at: int) -> tuple[str, list[Segment], list[Heading]]:
    body = page.text.strip("\n")
    box = Box(page=picture.page, left=0.0, bottom=0.0, right=round(picture.width, 1), top=round(picture.height, 1))
    inside = [Segment(span=Span(at, at + len(body)), boxes=(box,), fine=True)] if body else []
    heads = markdown_headings(body) if page.markdown else ()
    return body, inside, [replace(one, start=one.start + at) for one in heads]


def _kept(document: Document, old: Segment | None, at: int) -> tuple[str, list[Segment], list[Heading]]:
    if old is None:
        return "", [], []
    start, end = old.span.start, old.span.end
    shift = at - start
    inside = [
        replace(one, span=Span(one.span.start + shift, one.span.end + shift))
        for one in document.segments
        if one.fine and start <= one.span.start and one.span.end <= end
    ]
    heads = [replace(one, start=one.start + shift) for one in document.headings if start <= one.start < end]
    return old.span.cut(document.text), inside, heads


def shown_pages(pages: Collection[int]) -> str:
    """Return page numbers as a reader says them: ``page 3``, ``pages 1-4, 9``."""
    numbers = sorted(pages)
    breaks = [0, *(at for at, (one, two) in enumerate(pairwise(numbers), start=1) if two != one + 1), len(numbers)]
    runs = [(numbers[first], numbers[last - 1]) for first, last in pairwise(breaks) if last > first]
    shown = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
    return f"page {shown}" if len(numbers) == 1 else f"pages {shown}"
