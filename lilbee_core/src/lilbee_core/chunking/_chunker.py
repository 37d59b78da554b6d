"""Documents to chunks of a bounded number of tokens."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from lilbee_core.chunking._cut import Cutter
from lilbee_core.chunking._ruler import TokenRuler
from lilbee_core.chunking._sections import HeadingCursor, section_units
from lilbee_core.chunking._symbols import scope_of, symbol_units
from lilbee_core.chunking._tables import Tables
from lilbee_core.chunking._topics import TopicFinder
from lilbee_core.chunking._units import Unit
from lilbee_core.chunking._zones import Segments, zones
from lilbee_core.errors import InvalidArgument
from lilbee_core.protocols import TokenCounter
from lilbee_core.text import LineIndex, locate
from lilbee_core.types import Chunk, Document, DocumentId, Span, chunk_id

VERSION = 1
"""Changes when the same document is cut differently, so that an index knows."""
RESERVED_TOKENS = 50
"""What the context and the model's special tokens take of what an embedder reads."""

_LINE_WISE = frozenset(
    {
        "application/json",
        "application/jsonl",
        "application/x-ndjson",
        "application/xml",
        "application/yaml",
        "application/toml",
        "text/csv",
        "text/tab-separated-values",
        "text/xml",
        "text/yaml",
    }
)
_LINE_WISE_ENDS = ("+json", "+xml")
_SHEETS = ("spreadsheet", "ms-excel")


class TokenChunker:
    """Cuts documents at sections, definitions and paragraphs into chunks of at most a number of tokens.

    `max_tokens` is what the embedder reads of a text: chunks leave room for their context in it, and the overlap
    shrinks with them. Threads may share a chunker if they may share its counter.
    """

    def __init__(
        self,
        counter: TokenCounter,
        *,
        chunk_size: int = 512,
        overlap: int = 100,
        max_tokens: int | None = None,
        topics: TopicFinder | None = None,
    ) -> None:
        """Take the measures; with `topics`, prose is cut where they change before it is cut by size."""
        if chunk_size < 1:
            raise InvalidArgument(f"chunk_size must be at least 1, got {chunk_size}", hint="Set a positive chunk size.")
        if not 0 <= overlap < chunk_size:
            raise InvalidArgument(
                f"overlap must be smaller than chunk_size {chunk_size} and not negative, got {overlap}",
                hint=f"Choose an overlap from 0 to {chunk_size - 1}.",
            )
        if max_tokens is not None and max_tokens <= RESERVED_TOKENS:
            raise InvalidArgument(
                f"max_tokens must be more than {RESERVED_TOKENS}, got {max_tokens}",
                hint="Choose an embedding model that reads longer texts.",
            )
        self._counter = counter
        self._topics = topics
        self.size = chunk_size if max_tokens is None else min(chunk_size, max_tokens - RESERVED_TOKENS)
        self.overlap = overlap * self.size // chunk_size

    @property
    def fingerprint(self) -> str:
        """Names everything that changes the cut: kind, version, size, overlap and how tokens are counted."""
        counter = getattr(self._counter, "kind", None) or type(self._counter).__name__
        measures = f"tokens-v{VERSION}:size={self.size}:overlap={self.overlap}:counter={counter}"
        return measures if self._topics is None else f"{self._topics.fingerprint}:{measures}"

    def split(self, document: Document, document_id: DocumentId) -> tuple[Chunk, ...]:
        """Return the chunks of a document in order.

        Each is a verbatim slice; together they hold every character behind `body_start` that is not white space.
        """
        return tuple(self.stream(document, document_id))

    def stream(self, document: Document, document_id: DocumentId) -> Iterator[Chunk]:
        """Yield the chunks of a document one by one, so that those of a huge one need not be held at once."""
        text = document.text
        ruler = TokenRuler(text, document.body_start, self._counter)
        segments = Segments(document.segments)
        cutter = Cutter(text, ruler, self.size, self.overlap, line_wise=_is_line_wise(document))
        lines = LineIndex(text) if document.has_lines else None
        tables = Tables(document.tables)
        ordinal = 0
        units = self._units(document, segments, ruler)
        for unit, first, last in self._parts(text, units, ruler, line_wise=cutter.line_wise):
            for start, end in cutter.pieces(first, last):
                piece = text[start:end]
                place = locate(
                    Span(start, end),
                    lines=lines,
                    line_map=document.line_map,
                    line_ends=document.line_ends,
                    segments=segments.touching(start, end),
                )
                yield Chunk(
                    id=chunk_id(document_id, start, piece),
                    document_id=document_id,
                    collection=document.collection,
                    path=document.path,
                    ordinal=ordinal,
                    text=piece,
                    span=Span(start, end),
                    location=place,
                    headings=tables.headings(unit.headings, text, start),
                    symbol=unit.symbol,
                    symbol_kind=unit.kind,
                    title=document.title,
                    language=document.language,
                    media_type=document.media_type,
                    date=document.date,
                )
                ordinal += 1

    def _parts(
        self, text: str, units: Iterator[Unit], ruler: TokenRuler, *, line_wise: bool
    ) -> Iterator[tuple[Unit, int, int]]:
        """Yield what is cut by size: whole units, or their topics where those are asked for and there is prose."""
        if self._topics is None or line_wise:
            return ((unit, unit.start, unit.end) for unit in units)
        return self._topics.parts(text, units, ruler, self.size)

    def _units(self, document: Document, segments: Segments, ruler: TokenRuler) -> Iterator[Unit]:
        text = document.text
        cursor = HeadingCursor(document.headings)
        symbols = sorted(document.symbols, key=lambda one: one.span.start)
        symbol_starts = [one.span.start for one in symbols]
        member: str | None = None
        for zone in zones(text, document.body_start, segments, ruler, self.size):
            if zone.member != member:
                cursor.forget()
                member = zone.member
            if symbols:
                inside = symbols[bisect_left(symbol_starts, zone.start) : bisect_left(symbol_starts, zone.end)]
                yield from symbol_units(text, scope_of(text, zone.start, zone.end, inside), ruler, self.size)
            else:
                yield from section_units(text, zone.start, zone.end, cursor, ruler, self.size)


def _is_line_wise(document: Document) -> bool:
    kind = document.media_type
    return (
        bool(document.symbols)
        or kind.startswith("text/x-")
        or kind in _LINE_WISE
        or kind.endswith(_LINE_WISE_ENDS)
        or any(mark in kind for mark in _SHEETS)
    )
