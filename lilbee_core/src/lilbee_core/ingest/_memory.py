"""Documents that come from memory instead of a file."""

from __future__ import annotations

import hashlib
from dataclasses import replace

from lilbee_core.errors import InvalidArgument
from lilbee_core.types import MEMORY, Document, DocumentId, DocumentRow, DocumentState, document_id


def memory_row(document: Document, known: DocumentId | None, now: str) -> DocumentRow:
    """Return what the ledger says of a document once it is indexed; the one at its place gives it its id."""
    return DocumentRow(
        id=known or document_id(document.collection, document.path, MEMORY),
        collection=document.collection,
        path=document.path,
        state=DocumentState.INDEXED,
        size=len(document.text.encode("utf-8", "surrogatepass")),
        sha256=content_of(document),
        extractor=MEMORY,
        attempted_at=now,
        indexed_at=now,
    )


def check_place(document: Document) -> None:
    """Make sure that a document can be named.

    Raises:
        InvalidArgument: If its path or collection cannot be one.
    """
    for what, value in (("path", document.path), ("collection", document.collection)):
        if not value.strip() or "\x00" in value or not _is_unicode(value):
            raise InvalidArgument(f"{value!r} cannot be the {what} of a document", hint=f"Give it a {what}.")
    if "/" in document.collection or document.collection in {".", ".."}:
        raise InvalidArgument(
            f"{document.collection!r} cannot be a collection's name", hint="Use letters, digits, - and _."
        )


def content_of(document: Document) -> str:
    """Name all that is indexed of a document, so that the same one is not indexed twice."""
    digest = hashlib.sha256(document.text.encode("utf-8", "surrogatepass"))
    digest.update(repr(replace(document, text="")).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _is_unicode(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
