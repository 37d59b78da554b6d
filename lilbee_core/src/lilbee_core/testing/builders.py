"""Values for tests, with every field filled in sensibly; name only what the test is about."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lilbee_core.protocols import IndexedDocument
from lilbee_core.types import (
    Chunk,
    Document,
    DocumentId,
    DocumentRow,
    DocumentState,
    Hit,
    Location,
    Query,
    Ranking,
    Scored,
    SearchState,
    Source,
    Span,
    StoredText,
    Variant,
    chunk_id,
    document_id,
)

if TYPE_CHECKING:
    from lilbee_core.types import Vectors

TEXT = "Bees find their way home by the sun."


def a_source(data: bytes | str = TEXT, **changes: Any) -> Source:
    """Return a source in memory."""
    raw = data.encode() if isinstance(data, str) else data
    source = Source(collection="notes", path="bees.txt", media_type="text/plain", data=raw, size=len(raw))
    return replace(source, **changes)


def a_document(text: str = TEXT, **changes: Any) -> Document:
    """Return a document as an extractor makes it."""
    return replace(Document(path="bees.txt", text=text, collection="notes", title="Bees"), **changes)


def a_chunk(text: str = TEXT, *, start: int = 0, document: Document | None = None, **changes: Any) -> Chunk:
    """Return a chunk that stands at `start` of its document; its ids belong to document, place and text."""
    owner = document or a_document(text, path=changes.get("path", "bees.txt"))
    owner_id = changes.pop("document_id", None) or id_of(owner)
    line = owner.text.count("\n", 0, start) + 1
    chunk = Chunk(
        id=chunk_id(owner_id, start, text),
        document_id=owner_id,
        collection=owner.collection,
        path=owner.path,
        ordinal=0,
        text=text,
        span=Span(start, start + len(text)),
        location=Location(line_start=line, line_end=line + text.count("\n")),
        title=owner.title,
        language=owner.language,
        media_type=owner.media_type,
        date=owner.date,
    )
    return replace(chunk, **changes)


def a_hit(text: str = TEXT, *, score: float = 1.0, scores: Sequence[tuple[str, float]] = (), **chunk: Any) -> Hit:
    """Return a hit; more names change its chunk."""
    return Hit(chunk=a_chunk(text, **chunk), score=score, scores=tuple(scores))


def a_state(*hits: Hit, text: str = "how do bees find home?", **changes: Any) -> SearchState:
    """Return the state of a search: the query as its only wording, the hits, and a ranking that found them."""
    entries = tuple(Scored(hit.chunk.id, hit.score) for hit in hits)
    state = SearchState(
        query=Query(text=text),
        variants=(Variant(text=text),),
        rankings=(Ranking(name="lexical", entries=entries),) if hits else (),
        hits=hits,
    )
    return replace(state, **changes)


def a_row(path: str = "bees.txt", *, collection: str = "notes", **changes: Any) -> DocumentRow:
    """Return a row of the ledger, of a file that is indexed."""
    sha256 = hashlib.sha256(path.encode()).hexdigest()
    row = DocumentRow(
        id=document_id(collection, path, sha256),
        collection=collection,
        path=path,
        state=DocumentState.INDEXED,
        media_type="text/plain",
        title="Bees",
        size=len(TEXT),
        mtime_ns=1_700_000_000_000_000_000,
        sha256=sha256,
        chunks=1,
        extractor="text@1",
        attempted_at="2026-03-14T12:00:00+00:00",
        indexed_at="2026-03-14T12:00:00+00:00",
    )
    return replace(row, **changes)


def an_indexed_document(
    *texts: str,
    path: str = "bees.txt",
    collection: str = "notes",
    words: Sequence[str] | None = None,
    vectors: Vectors | None = None,
    contents: Sequence[str] = (),
    chunk: dict[str, Any] | None = None,
    **row: Any,
) -> IndexedDocument:
    """Return all that a store writes for one document: a chunk per text, a line each.

    More names change the row, `chunk` changes every chunk. Without `words`, a chunk's words are those of its
    text in lower case.
    """
    pieces = texts or (TEXT,)
    whole = "\n".join(pieces)
    found = a_row(path, collection=collection, **row)
    document = a_document(
        whole,
        path=path,
        collection=collection,
        title=found.title,
        media_type=found.media_type,
        language=found.language,
        date=found.date,
    )
    chunks: list[Chunk] = []
    start = 0
    for ordinal, piece in enumerate(pieces):
        one = a_chunk(piece, start=start, document=document, document_id=found.id, ordinal=ordinal)
        chunks.append(replace(one, **(chunk or {})))
        start += len(piece) + 1
    return IndexedDocument(
        row=replace(found, chunks=len(chunks), embedded=0 if vectors is None else len(chunks)),
        text=StoredText(document_id=found.id, text=whole, extractor=found.extractor),
        chunks=tuple(chunks),
        words=tuple(words) if words is not None else tuple(piece.lower() for piece in pieces),
        vectors=vectors,
        contents=tuple(contents) or tuple(one.text for one in chunks),
    )


def id_of(document: Document) -> DocumentId:
    """Return the id that a document gets when it is first seen."""
    sha256 = hashlib.sha256(document.text.encode("utf-8", "surrogatepass")).hexdigest()
    return document_id(document.collection, document.path, sha256)
