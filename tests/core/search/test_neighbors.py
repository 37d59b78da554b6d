"""Joining chunks that follow each other: text, place, marks and what is told about it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.protocols import IndexedDocument
from lilbee_core.search import Neighbors
from lilbee_core.testing import MemoryStore, StageContext, a_chunk, a_row, a_state
from lilbee_core.types import Chunk, Hit, Location, Place, SearchState, Span, StoredText

CONTEXT = StageContext()
TEXT = "Bees find home.\nThey see the sun.\n\n\nAt night they stay.\nRain keeps them in.\nHoney keeps for years.\n"


def document(*spans: tuple[int, int], text: str = TEXT, **changes: object) -> tuple[MemoryStore, list[Chunk]]:
    """Return a store with one document, cut at these spans."""
    row = a_row("bees.txt")
    chunks = []
    for ordinal, (start, end) in enumerate(spans):
        piece = text[start:end]
        line = text.count("\n", 0, start) + 1
        place = Location(line_start=line, line_end=line + piece.count("\n"))
        chunk = a_chunk(piece, start=start, document_id=row.id, ordinal=ordinal, span=Span(start, end), location=place)
        chunks.append(replace(chunk, **changes))
    stored = StoredText(document_id=row.id, text=text)
    store = MemoryStore(
        IndexedDocument(row=row, text=stored, chunks=tuple(chunks), words=tuple(one.text for one in chunks))
    )
    return store, chunks


def hits(*chunks: Chunk, **changes: object) -> SearchState:
    """Return a state with a hit per chunk, best first."""
    return a_state(*(replace(Hit(chunk=chunk, score=1 - at / 10), **changes) for at, chunk in enumerate(chunks)))


OVERLAPPING = ((0, 33), (16, 56), (37, 76))
APART = ((0, 33), (36, 76), (76, len(TEXT) - 1))


@pytest.mark.parametrize("spans", [OVERLAPPING, APART], ids=["overlapping", "apart"])
def test_the_text_is_the_slice_of_the_document_and_the_place_that_of_all(spans):
    store, chunks = document(*spans)
    state = Neighbors(store).run(hits(chunks[1], chunks[0]), CONTEXT)
    (joined,) = state.hits

    assert joined.text == TEXT[joined.chunk.span.start : joined.chunk.span.end] == TEXT[0 : spans[1][1]]
    assert (joined.line_start, joined.line_end) == (1, chunks[1].location.line_end)
    assert joined.parts == (chunks[0], chunks[1])
    assert (joined.chunk_id, joined.score) == (chunks[1].id, 1.0), "it stands for the best"
    assert [(one.chunk_id, one.reason) for one in state.dropped] == [
        (chunks[0].id, f"joined with its neighbor {chunks[1].id}")
    ]


def test_marks_move_with_the_text_and_are_marked_once():
    store, chunks = document(*OVERLAPPING)
    bees, sun, sun_again = (0, 4), (29, 32), (13, 16)
    state = a_state(
        Hit(chunk=chunks[0], score=1.0, highlights=(bees, sun)),
        Hit(chunk=chunks[1], score=0.5, highlights=(sun_again, (23, 28))),
    )
    (joined,) = Neighbors(store).run(state, CONTEXT).hits

    assert [joined.text[start:end] for start, end in joined.highlights] == ["Bees", "sun", "night"]


def test_more_chunks_than_allowed_make_more_hits():
    store, chunks = document(*APART)
    state = Neighbors(store, most=2).run(hits(*chunks), CONTEXT)

    assert [len(hit.parts) for hit in state.hits] == [2, 0]


def test_only_neighbors_are_joined():
    store, chunks = document(*APART)
    state = hits(chunks[0], chunks[2])

    assert Neighbors(store).run(state, CONTEXT) is state


@pytest.mark.parametrize(
    "places",
    [
        (Location(label="slide 1"), Location(label="slide 2")),
        (Location(member="a.txt"), Location(member="b.txt")),
    ],
)
def test_places_that_have_their_own_names_stay_apart(places):
    store, chunks = document(*OVERLAPPING)
    state = hits(*(replace(chunk, location=place) for chunk, place in zip(chunks, places, strict=False)))

    assert Neighbors(store).run(state, CONTEXT) is state


def test_pages_and_boxes_are_those_of_all():
    store, chunks = document(*OVERLAPPING)
    places = (Location(page_start=1, page_end=1), Location(page_start=1, page_end=2))
    state = hits(*(replace(chunk, location=place) for chunk, place in zip(chunks, places, strict=False)))
    (joined,) = Neighbors(store).run(state, CONTEXT).hits

    assert (joined.page_start, joined.page_end, joined.line_end) == (1, 2, None)


def test_headings_and_symbol_are_those_that_all_have():
    store, chunks = document(*OVERLAPPING)
    one = replace(chunks[0], headings=("Bees", "Day"), symbol="Bee.fly")
    other = replace(chunks[1], headings=("Bees", "Night"), symbol="Bee.sleep")
    (joined,) = Neighbors(store).run(hits(one, other), CONTEXT).hits

    assert joined.heading == "Bees"
    assert joined.symbol is None


def test_other_places_and_changed_files_are_told_for_all():
    store, chunks = document(*OVERLAPPING)
    place = Place(document_id=chunks[0].document_id, collection="notes", path="copy.md")
    state = a_state(Hit(chunk=chunks[0], score=1.0), Hit(chunk=chunks[1], score=0.5, stale=True, also_at=(place,)))
    (joined,) = Neighbors(store).run(state, CONTEXT).hits

    assert joined.stale
    assert joined.also_at == (place,)


def test_chunks_of_two_versions_of_a_document_stay_apart():
    store, chunks = document(*OVERLAPPING)
    changed = replace(chunks[1], text=chunks[1].text.upper())
    gap_store, gap_chunks = document(*APART)
    gone = replace(gap_chunks[1], text="something else that was there once")

    for reader, state in ((store, hits(chunks[0], changed)), (gap_store, hits(gap_chunks[0], gone))):
        assert Neighbors(reader).run(state, CONTEXT) is state
    assert Neighbors(MemoryStore()).run(hits(*gap_chunks), CONTEXT).hits, "without the text they stay apart"


@given(st.data())
def test_any_neighbors_give_a_verbatim_slice(data):
    text = data.draw(st.text("ab \n", min_size=2, max_size=60))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(text) - 1), min_size=2, max_size=6)))
    spans, last = [], 0
    for start, following in zip(cuts, [*cuts[1:], len(text)], strict=True):
        last = max(last + 1, min(len(text), following + data.draw(st.integers(-2, 3)), len(text)), start + 1)
        if last > len(text):
            break
        spans.append((start, last))
    store, chunks = document(*spans, text=text)
    state = Neighbors(store, most=10).run(hits(*data.draw(st.permutations(chunks))), CONTEXT)

    for hit in state.hits:
        assert hit.text == hit.chunk.span.cut(text)
        assert hit.line_start == text.count("\n", 0, hit.chunk.span.start) + 1
        assert all(hit.chunk.span.start <= one.span.start and one.span.end <= hit.chunk.span.end for one in hit.parts)
    assert len(state.hits) + len(state.dropped) == len(chunks)
