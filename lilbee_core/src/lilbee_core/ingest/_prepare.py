"""From an extracted document to what the store wants, all but the vectors."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from lilbee_core.analysis import Analyzer, detect_language
from lilbee_core.protocols import Chunker, Owed
from lilbee_core.types import Chunk, Document, DocumentRow, Span, StoredText

_LANGUAGE_SAMPLE = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A document ready for its vectors. `inputs` is what is embedded, one per chunk."""

    row: DocumentRow
    text: StoredText
    chunks: tuple[Chunk, ...]
    words: tuple[str, ...]
    inputs: tuple[str, ...]
    contents: tuple[str, ...]
    updated: bool = False

    @property
    def weight(self) -> int:
        """Characters held in memory, roughly."""
        return 3 * len(self.text.text) + 1000


class Preparer:
    """Chunks and analyzes documents. Threads may share it."""

    def __init__(self, chunker: Chunker, analyzer: Analyzer, embed_text: Callable[[Chunk], str]) -> None:
        self._chunker = chunker
        self._analyzer = analyzer
        self._embed_text = embed_text

    def prepare(self, document: Document, row: DocumentRow, *, updated: bool = False) -> Prepared:
        """Return the document's chunks, words and embedding inputs, with a complete ledger row."""
        language = document.language or detect_language(_sample(document))
        date = document.date or _date_of(row.mtime_ns) or row.attempted_at[:10] or None
        document = replace(document, language=language, date=date, path=row.path, collection=row.collection)
        chunks = self._chunker.split(document, row.id)
        inputs = tuple(self._embed_text(chunk) for chunk in chunks)
        full = replace(
            row,
            media_type=document.media_type,
            title=document.title,
            language=language,
            date=date,
            chunks=len(chunks),
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
        return Prepared(
            row=full,
            text=stored,
            chunks=chunks,
            words=tuple(self.words(chunk) for chunk in chunks),
            inputs=inputs,
            contents=tuple(_content(text) for text in inputs),
            updated=updated,
        )

    def words(self, chunk: Chunk) -> str:
        """Return the analyzed text of a chunk: its words, then its title, headings, symbol and path."""
        return self._analyzer.index_text(chunk.text, language=chunk.language, context=(*chunk.context, chunk.path))

    def owed_input(self, owed: Owed) -> str:
        """Return what is embedded for a chunk whose vector is owed, the same as when it was prepared."""
        headings = owed.context
        chunk = Chunk(
            id=owed.chunk_id,
            document_id=owed.document_id,
            collection="",
            path="",
            ordinal=0,
            text=owed.text,
            span=Span(0, len(owed.text)),
            headings=headings,
        )
        return self._embed_text(chunk)


def _content(text: str) -> str:
    """Name what is embedded. An index holds the vectors of one model only, so the model is no part of it."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _sample(document: Document) -> str:
    start = document.body_start
    return document.text[start : start + _LANGUAGE_SAMPLE]


def _date_of(mtime_ns: int) -> str | None:
    if mtime_ns <= 0:
        return None
    try:
        return datetime.fromtimestamp(mtime_ns / 1e9, tz=UTC).astimezone().date().isoformat()
    except (OverflowError, OSError, ValueError):
        return None
