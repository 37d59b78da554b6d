"""From an extracted document to what the store wants, all but the vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import TypeAlias

from lilbee_core.analysis import Analyzer, detect_language
from lilbee_core.background import give_way
from lilbee_core.protocols import Chunker, Owed, StreamingChunker
from lilbee_core.text import without_escapes
from lilbee_core.types import WIKI, Chunk, Document, DocumentRow, Mention, Span, StoredText

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LANGUAGE_SAMPLE = 4000
_BYTES_PER_CHAR = 10
"""What a character of a chunk takes on its way: the text, its words, its context, and the objects around them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document, or a part of a big one, ready for its vectors. `inputs` is what is embedded, one per chunk."""

    row: DocumentRow
    text: StoredText
    chunks: tuple[Chunk, ...]
    words: tuple[str, ...]
    inputs: tuple[str, ...]
    contents: tuple[str, ...]
    mentions: tuple[tuple[Mention, ...], ...] = ()
    updated: bool = False
    first: bool = True
    last: bool = True

    @property
    def whole(self) -> bool:
        """Whether this is all of the document."""
        return self.first and self.last

    @property
    def weight(self) -> int:
        """Bytes held in memory, roughly."""
        own = len(self.text.text) if self.first else 0
        return 2_000 + own + _BYTES_PER_CHAR * sum(len(chunk.text) for chunk in self.chunks)


Mentions: TypeAlias = Callable[[Sequence[Chunk]], Sequence[tuple[Mention, ...]]]
"""Finds the concepts of chunks: a list for each of them, or nothing at all."""


def no_mentions(chunks: Sequence[Chunk]) -> Sequence[tuple[Mention, ...]]:
    """Look for no concepts."""
    return ()


class Preparer:
    """Chunks and analyzes documents. Threads may share it."""

    def __init__(
        self,
        chunker: Chunker,
        analyzer: Analyzer,
        embed_text: Callable[[Chunk], str],
        mentions: Mentions = no_mentions,
        *,
        part_chunks: int = 2048,
    ) -> None:
        self._chunker = chunker
        self._analyzer = analyzer
        self._embed_text = embed_text
        self._mentions = mentions
        self._part_chunks = part_chunks

    def prepare(self, document: Document, row: DocumentRow, *, updated: bool = False) -> Iterator[Prepared]:
        """Yield the document with a complete ledger row, in parts if it has very many chunks."""
        language = document.language or detect_language(_sample(document))
        own = document.date
        date = own or date_of(row.mtime_ns) or row.attempted_at[:10] or None
        document = replace(document, language=language, date=date, path=row.path, collection=row.collection)
        full = replace(
            row,
            media_type=document.media_type,
            title=document.title,
            language=language,
            date=date,
            file_date=own is None and row.mtime_ns != 0,
            metadata=document.metadata,
            warnings=document.warnings,
        )
        stored = StoredText(
            document_id=row.id,
            text=document.text,
            has_lines=document.has_lines,
            line_map=document.line_map,
            segments=document.segments,
            headings=document.headings,
            body_start=document.body_start,
            extractor=row.extractor,
        )
        chunks = _in_turn(self._chunks(document, row))
        part = tuple(islice(chunks, self._part_chunks))
        first = True
        while True:
            following = tuple(islice(chunks, self._part_chunks)) if len(part) == self._part_chunks else ()
            yield self._part(full, stored, part, updated=updated, first=first, last=not following)
            if not following:
                return
            part, first = following, False

    def _chunks(self, document: Document, row: DocumentRow) -> Iterator[Chunk]:
        if row.collection == WIKI:
            return (replace(chunk, scope="wiki") for chunk in self._chunker.split(document, row.id))
        if isinstance(self._chunker, StreamingChunker):
            return self._chunker.stream(document, row.id)
        return iter(self._chunker.split(document, row.id))

    def _part(
        self,
        row: DocumentRow,
        text: StoredText,
        chunks: tuple[Chunk, ...],
        *,
        updated: bool,
        first: bool,
        last: bool,
    ) -> Prepared:
        inputs = tuple(map(self._input, chunks))
        return Prepared(
            row=replace(row, chunks=len(chunks)),
            text=text,
            chunks=chunks,
            words=tuple(self.words(chunk) for chunk in chunks),
            inputs=inputs,
            contents=tuple(content_of(one) for one in inputs),
            # What is written about the documents is none of them.
            mentions=() if row.collection == WIKI else tuple(self._mentions(chunks)),
            updated=updated,
            first=first,
            last=last,
        )

    def words(self, chunk: Chunk) -> str:
        """Return the analyzed text of a chunk: its words, then its title, headings, symbol and path."""
        give_way()
        # Colors of a terminal would be part of the words beside them.
        shown = without_escapes(chunk.text)
        return self._analyzer.index_text(shown, language=chunk.language, context=(*chunk.context, chunk.path))

    def owed_input(self, owed: Owed) -> str:
        """Return what is embedded for a chunk whose vector is owed, the same as when it was prepared."""
        chunk = Chunk(
            id=owed.chunk_id,
            document_id=owed.document_id,
            collection="",
            path="",
            ordinal=0,
            text=owed.text,
            span=Span(0, len(owed.text)),
            headings=owed.context,
        )
        return self._input(chunk)

    def _input(self, chunk: Chunk) -> str:
        return without_escapes(self._embed_text(chunk))


def content_of(text: str) -> str:
    """Name what is embedded. An index holds the vectors of one model only, so the model is no part of it."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _in_turn(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """Yield the chunks; let others go first before each is cut."""
    give_way()
    for chunk in chunks:
        yield chunk
        give_way()


def _sample(document: Document) -> str:
    start = document.body_start
    return document.text[start : start + _LANGUAGE_SAMPLE]


def date_of(mtime_ns: int) -> str | None:
    """Return the day of a file's time, in the user's zone; None for the time 0, which stands for no time."""
    if not mtime_ns:
        return None
    try:
        # Not `fromtimestamp`: on some systems it knows no time before 1970.
        at = _EPOCH + timedelta(microseconds=mtime_ns // 1000)
    except OverflowError:
        return None
    try:
        return at.astimezone().date().isoformat()
    except (OverflowError, OSError, ValueError):
        return at.date().isoformat()
