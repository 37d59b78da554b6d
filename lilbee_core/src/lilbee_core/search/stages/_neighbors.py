"""Chunks that stand next to each other, as one piece to read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, takewhile

from lilbee_core.protocols import ChunkReader, SearchContext
from lilbee_core.types import Chunk, ChunkId, DocumentId, Dropped, Hit, Location, Part, SearchState, Span


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Join hits that follow each other in one document into the best of them, at most `most` chunks to a hit.

    The text of a joined hit is the slice of the document from the first to the last of its chunks, and its place is
    that of all of them. It keeps the id, the score and the rank of the best, and `Hit.parts` holds the chunks. Slides,
    sheets, archive members and other places that lines and pages do not name are never joined with each other.
    """

    reader: ChunkReader
    most: int = 3
    name: str = "neighbors"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        place = {hit.chunk.id: at for at, hit in enumerate(state.hits)}
        joined: dict[ChunkId, Hit] = {}
        dropped: list[Dropped] = []
        for group in _groups(state.hits, self.most):
            text = self._text(group)
            if text is None:
                continue
            best = min(group, key=lambda hit: place[hit.chunk.id])
            joined[best.chunk.id] = _join(group, best, text)
            reason = f"joined with its neighbor {best.chunk.id}"
            dropped += [
                Dropped(chunk_id=one.chunk.id, reason=reason, score=one.score) for one in group if one is not best
            ]
        if not joined:
            return state
        gone = frozenset(one.chunk_id for one in dropped)
        hits = tuple(joined.get(hit.chunk.id, hit) for hit in state.hits if hit.chunk.id not in gone)
        return replace(state, hits=hits, dropped=tuple(dropped))

    def _text(self, group: Sequence[Hit]) -> str | None:
        """Return the document's text from the first hit to the last, None where it cannot be had."""
        first, last = group[0].chunk, group[-1].chunk
        if all(later.chunk.span.start <= one.chunk.span.end for one, later in pairwise(group)):
            text = first.text
            for hit in group[1:]:
                text += hit.text[first.span.start + len(text) - hit.chunk.span.start :]
        else:  # white space between chunks belongs to neither of them
            stored = self.reader.text(first.document_id)
            text = stored.text[first.span.start : last.span.end] if stored is not None else ""
        # Chunks of two versions of a document do not fit each other.
        fits = all(text.startswith(hit.text, hit.chunk.span.start - first.span.start) for hit in group)
        return text if fits else None


def _groups(hits: Sequence[Hit], most: int) -> Iterator[list[Hit]]:
    """Yield hits that follow each other, two or more at a time, in the order of the text."""
    by_document: dict[DocumentId, list[Hit]] = {}
    for hit in hits:
        if not hit.parts:
            by_document.setdefault(hit.document_id, []).append(hit)
    for found in by_document.values():
        found.sort(key=lambda hit: hit.chunk.ordinal)
        at = 0
        while at < len(found):
            group = found[at : at + most]
            size = 1 + sum(1 for _ in takewhile(lambda pair: _follows(*pair), pairwise(group)))
            if size > 1:
                yield group[:size]
            at += size


def _follows(one: Hit, later: Hit) -> bool:
    first, second = one.chunk, later.chunk
    if second.ordinal != first.ordinal + 1 or not first.span.start < second.span.start:
        return False
    same = (first.scope, first.location.label, first.location.member)
    return second.span.end > first.span.end and same == (second.scope, second.location.label, second.location.member)


def _join(group: Sequence[Hit], best: Hit, text: str) -> Hit:
    chunks = [hit.chunk for hit in group]
    start = chunks[0].span.start
    marks = sorted(
        {
            (first + hit.chunk.span.start - start, last + hit.chunk.span.start - start)
            for hit in group
            for first, last in hit.highlights
        }
    )
    symbols = {chunk.symbol for chunk in chunks}
    chunk = replace(
        best.chunk,
        text=text,
        span=Span(start, chunks[-1].span.end),
        location=_location(chunks),
        ordinal=chunks[0].ordinal,
        headings=_common_headings(chunks),
        symbol=best.chunk.symbol if len(symbols) == 1 else None,
        symbol_kind=best.chunk.symbol_kind if len(symbols) == 1 else None,
    )
    places = dict.fromkeys(place for hit in (best, *group) for place in hit.also_at)
    return replace(
        best,
        chunk=chunk,
        parts=tuple(chunks),
        highlights=_merged(marks),
        also_at=tuple(places),
        stale=any(hit.stale for hit in group),
    )


def _location(chunks: Sequence[Chunk]) -> Location:
    places = [chunk.location for chunk in chunks]
    return replace(
        places[0],
        line_end=max((one.line_end for one in places if one.line_end is not None), default=None),
        page_end=max((one.page_end for one in places if one.page_end is not None), default=None),
        boxes=tuple(dict.fromkeys(box for one in places for box in one.boxes)),
    )


def _common_headings(chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the headings that stand over all of the chunks."""
    levels = zip(*(chunk.headings for chunk in chunks), strict=False)
    return tuple(titles[0] for titles in takewhile(lambda titles: len(set(titles)) == 1, levels))


def _merged(marks: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Return sorted stretches without overlap: two chunks that share text mark the same words."""
    merged: list[tuple[int, int]] = []
    for start, end in marks:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)
