"""Documents made up for the tests of the store: every chunk is a slice of its document's text."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lilbee_core.protocols import IndexedDocument
from lilbee_core.types import (
    Chunk,
    ChunkId,
    DocumentId,
    DocumentRow,
    DocumentState,
    Location,
    Span,
    StoredText,
    Vectors,
    chunk_id,
)

DIMENSION = 8


@dataclass(frozen=True)
class Words:
    """What the analyzer makes of a query, as far as the store looks at it."""

    match_text: str = ""
    phrases: tuple[tuple[str, ...], ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.match_text and not self.phrases


def unit_vectors(count: int, seed: int, dimension: int = DIMENSION) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def a_document(
    name: str = "doc",
    texts: Sequence[str] = ("alpha beta", "gamma delta"),
    *,
    path: str | None = None,
    collection: str = "docs",
    vectors: Vectors | str | None = "made up",
    **fields: object,
) -> IndexedDocument:
    """Return a document with one chunk per text; `fields` are fields of its chunks."""
    document_id = DocumentId(name)
    place = path if path is not None else f"notes/{name}.md"
    chunks: list[Chunk] = []
    start = 0
    for ordinal, text in enumerate(texts):
        chunk = Chunk(
            id=chunk_id(document_id, start, text),
            document_id=document_id,
            collection=collection,
            path=place,
            ordinal=ordinal,
            text=text,
            span=Span(start, start + len(text)),
            location=Location(line_start=ordinal + 1, line_end=ordinal + 1),
        )
        chunks.append(replace(chunk, **fields))  # type: ignore[arg-type]
        start += len(text) + 1
    if isinstance(vectors, str):
        vectors = unit_vectors(len(texts), seed=zlib.crc32("\n".join((name, *texts)).encode()))
    row = DocumentRow(
        id=document_id,
        collection=collection,
        path=place,
        state=DocumentState.INDEXED,
        chunks=len(chunks),
        embedded=0 if vectors is None else len(chunks),
        sha256=f"sha of {name}",
    )
    return IndexedDocument(
        row=row,
        text=StoredText(document_id=document_id, text="\n".join(texts)),
        chunks=tuple(chunks),
        words=tuple(text.lower() for text in texts),
        vectors=vectors,
    )


def ids(found: Sequence[object]) -> list[ChunkId]:
    return [one.chunk_id for one in found]  # type: ignore[attr-defined]
