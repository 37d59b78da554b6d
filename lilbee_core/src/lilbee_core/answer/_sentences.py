"""Pieces of a passage that can stand in an answer: sentences, or lines where there are none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from lilbee_core.text import place_in, sentences, titles_in, trimmed, without_titles
from lilbee_core.types import Chunk, Citation, Hit, Span

_LEAD = re.compile(r"(?:\s*(?:[-*+•>]|\d{1,3}[.)]|/{2,3}|/\*{1,2}|--(?=[ \t]\S)|<!--)\s+)+|\s*#{1,6}\s+|\s*\|\s*")
_HEADING = re.compile(r"\s*#{1,6}\s")
_FEWEST_LETTERS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """A piece of a hit's text, with the place it has there."""

    hit: Hit
    span: Span
    order: int

    @property
    def text(self) -> str:
        return self.span.cut(self.hit.chunk.text)


def sentences_of(hit: Hit, *, order: int, max_chars: int) -> list[Sentence]:
    """Return the pieces of a hit that say something, none longer than `max_chars`; headings are left out."""
    text = hit.chunk.text
    spans: list[Span] = []
    for span in sentences(text):
        spans += [span] if len(span) <= max_chars else _lines(text, span, max_chars)
    titles = _titles(hit)
    kept = [without_titles(text, _without_lead(text, span), titles) for span in spans if not _is_heading(text, span)]
    return [Sentence(hit=hit, span=span, order=order) for span in kept if _says_something(span.cut(text))]


def cite(sentence: Sentence, *, marker: int, answer_span: Span | None = None) -> Citation:
    """Return the citation of a sentence, with the lines that hold it."""
    return cite_span(sentence.hit, sentence.span, marker=marker, answer_span=answer_span)


def cite_span(hit: Hit, span: Span, *, marker: int, answer_span: Span | None = None) -> Citation:
    """Return a citation of a stretch of a hit's text, with its place in the file.

    Of a hit that chunks were joined to, the chunk that holds the stretch is cited; a stretch that no single one holds
    has no place in a chunk, only in the file.
    """
    quote, location = span.cut(hit.text), place_in(hit.chunk.location, hit.text, span)
    chunk, quote_span = _owner(hit, span)
    return Citation(
        marker=marker,
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        collection=chunk.collection,
        path=chunk.path,
        quote=quote,
        location=place_in(chunk.location, chunk.text, quote_span) if quote_span is not None else location,
        answer_span=answer_span,
        quote_span=quote_span,
        stale=hit.stale,
        url=hit.url,
    )


def _owner(hit: Hit, span: Span) -> tuple[Chunk, Span | None]:
    """Return the chunk of the index that a stretch of a hit's text stands in, and where in it."""
    if not hit.parts:
        return hit.chunk, span
    start, end = span.start + hit.chunk.span.start, span.end + hit.chunk.span.start
    holds = next((one for one in hit.parts if one.span.start <= start and end <= one.span.end), None)
    if holds is None:
        return next(one for one in hit.parts if start < one.span.end), None
    return holds, Span(start - holds.span.start, end - holds.span.start)


def _is_heading(text: str, span: Span) -> bool:
    return _HEADING.match(text, span.start) is not None and "\n" not in span.cut(text)


def _without_lead(text: str, span: Span) -> Span:
    """Return the span without a heading's line, a bullet or a number in front."""
    start = span.start
    if _HEADING.match(text, start):
        start = text.index("\n", start, span.end) + 1
    match = _LEAD.match(text, start, span.end)
    start = match.end() if match else start
    while start < span.end and text[start].isspace():
        start += 1
    return Span(min(start, span.end), span.end)


def _titles(hit: Hit) -> frozenset[str]:
    """Return the headings over a hit as they may stand in its text, where nothing marks them (pages, slides)."""
    headings = (heading for chunk in hit.parts or (hit.chunk,) for heading in chunk.headings)
    return titles_in((*headings, hit.chunk.title))


def _says_something(piece: str) -> bool:
    letters = sum(letter.isalnum() for letter in piece)
    # A sentence in Chinese or Japanese says with four characters what others need twenty for.
    return letters >= (_FEWEST_LETTERS if piece.isascii() else 4)


def _lines(text: str, span: Span, max_chars: int) -> list[Span]:
    """Cut a long stretch (a table, code, a text without stops) at line ends, or between words."""
    pieces: list[Span] = []
    start = span.start
    while start < span.end:
        stop = min(span.end, start + max_chars)
        if stop < span.end:
            newline, blank = text.rfind("\n", start, stop), text.rfind(" ", start, stop)
            stop = newline if newline > start else blank if blank > start else stop
        piece = trimmed(text, start, stop)
        if len(piece):
            pieces.append(piece)
        start = stop if stop > start else stop + 1
        while start < span.end and text[start].isspace():
            start += 1
    return pieces
