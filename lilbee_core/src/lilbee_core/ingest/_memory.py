"""Documents that come from memory instead of a file."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from lilbee_core.types import Document, DocumentRow, DocumentState, document_id


def memory_row(document: Document, old: DocumentRow | None, now: str) -> DocumentRow:
    """Return what the ledger says of a document once it is indexed; `old`, the one at its place, gives it its id."""
    return DocumentRow(
        id=old.id if old is not None else document_id(document.collection, document.path, "memory"),
        collection=document.collection,
        path=document.path,
        state=DocumentState.INDEXED,
        size=len(document.text.encode("utf-8", "surrogatepass")),
        sha256=content_of(document),
        extractor="memory",
        attempted_at=now,
        indexed_at=now,
    )


def content_of(document: Document) -> str:
    """Name all that is indexed of a document, so that the same one is not indexed twice."""
    digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass"))
    digest.update(repr(replace(document, text="")).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
