"""Builders make values that fit together."""

from __future__ import annotations

import pytest

from lilbee_core.testing import (
    MemoryStore,
    a_chunk,
    a_document,
    a_hit,
    a_row,
    a_source,
    a_state,
    an_indexed_document,
)
from lilbee_core.testing.fakes import hash_vector
from lilbee_core.types import DocumentState


def test_a_chunk_stands_in_its_document() -> None:
    document = a_document("one\ntwo\nthree")
    chunk = a_chunk("two", start=4, document=document)
    assert chunk.text == chunk.span.cut(document.text)
    assert (chunk.location.line_start, chunk.location.line_end) == (2, 2)
    assert (chunk.path, chunk.title) == (document.path, document.title)


def test_ids_belong_to_content_and_place() -> None:
    assert a_chunk("a").id == a_chunk("a").id
    assert len({a_chunk("a").id, a_chunk("b").id, a_chunk("a", path="other.txt").id}) == 3


def test_every_field_can_be_named() -> None:
    assert a_document(language="de").language == "de"
    assert a_source(b"\x00", path="x.bin").path == "x.bin"
    assert a_row("a.md", state=DocumentState.FAILED).state == "failed"
    assert a_hit("honey", score=0.5, ordinal=3).chunk.ordinal == 3
    with pytest.raises(TypeError):
        a_document(colour="red")


def test_a_state_holds_its_hits_and_how_they_were_found() -> None:
    hit = a_hit()
    state = a_state(hit, text="bees?")
    assert state.variants[0].text == state.query.text == "bees?"
    assert [entry.chunk_id for entry in state.rankings[0].entries] == [hit.chunk.id]
    assert a_state().rankings == ()


def test_an_indexed_document_fits_together() -> None:
    texts = ("Bees fly.", "Honey keeps.")
    document = an_indexed_document(*texts, vectors=[hash_vector(text) for text in texts], language="en")
    assert [chunk.span.cut(document.text.text) for chunk in document.chunks] == list(texts)
    assert [chunk.location.line_start for chunk in document.chunks] == [1, 2]
    assert document.words == ("bees fly.", "honey keeps.")
    assert (document.row.chunks, document.row.embedded) == (2, 2)
    assert {chunk.document_id for chunk in document.chunks} == {document.row.id} == {document.text.document_id}
    assert MemoryStore(document).check() == ()
