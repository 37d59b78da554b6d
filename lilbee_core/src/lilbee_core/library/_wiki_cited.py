"""What pages of the wiki cite of the documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lilbee_core.text import place_in
from lilbee_core.types import Citation
from lilbee_core.wiki import StoredPage

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

_MARK = re.compile(r"\[\^(\d+)\](?!:)")


def citations_of(parts: Parts, page: StoredPage) -> tuple[Citation, ...]:
    """Return what a page cites, as far as it stands there still."""
    if not page.citations or not parts.store.version:
        return ()
    chunks = {chunk.id: chunk for chunk in parts.store.get([one.chunk_id for one in page.citations])}
    found: list[Citation] = []
    for one in page.citations:
        chunk = chunks.get(one.chunk_id)
        if chunk is not None and one.span is not None and one.span.end <= len(chunk.text):
            found.append(
                Citation(
                    marker=one.marker,
                    chunk_id=chunk.id,
                    document_id=chunk.document_id,
                    collection=chunk.collection,
                    path=chunk.path,
                    quote=one.span.cut(chunk.text),
                    location=place_in(chunk.location, chunk.text, one.span),
                    quote_span=one.span,
                )
            )
    return tuple(found)


def cited_on(parts: Parts, page: StoredPage, line_start: int | None, line_end: int | None) -> tuple[Citation, ...]:
    """Return what a page, or the lines of its file, cite."""
    every = citations_of(parts, page)
    if line_start is None:
        return every
    lines = page.text.split("\n")[max(0, line_start - 1) : line_end or line_start]
    marks = {int(mark) for line in lines for mark in _MARK.findall(line)}
    return tuple(one for one in every if one.marker in marks)
