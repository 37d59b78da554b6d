"""A text cut into lines of pieces is that text, whatever is marked in it."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.text import visible
from lilbee_core.types import Span
from lilbee_server.web.lines import lines_of, words_in

TEXTS = st.text(alphabet="ab \n\t\r\x1b\u202e<é🐝", max_size=60)
CUTS = st.lists(st.integers(0, 60), max_size=12)


def spans(cuts: list[int], length: int) -> list[Span]:
    edges = sorted({min(one, length) for one in cuts})
    return [Span(start, end) for start, end in zip(edges[::2], edges[1::2], strict=False)]


@given(TEXTS, CUTS, CUTS, st.tuples(st.integers(0, 60), st.integers(0, 60)))
def test_nothing_is_lost_and_the_passage_is_marked(
    text: str, words: list[int], kinds: list[int], passage: tuple[int, int]
) -> None:
    here = Span(*sorted(min(one, len(text)) for one in passage))
    classes = [(one.start, one.end, "hl-k") for one in spans(kinds, len(text))]
    lines = list(lines_of(text, number=7, passage=here, words=spans(words, len(text)), kinds=classes))
    expected = text.split("\n")[:-1] if text.endswith("\n") else text.split("\n")
    pieces = [piece for line in lines for piece in line.pieces]
    assert ["".join(piece.text for piece in line.pieces) for line in lines] == [visible(one) for one in expected]
    assert [line.number for line in lines] == list(range(7, 7 + len(expected)))
    assert "".join(one.text for one in pieces if one.here) == visible(here.cut(text).replace("\n", ""))
    kept = "".join(text[one.start : one.end] for one in spans(kinds, len(text))).replace("\n", "")
    assert "".join(one.text for one in pieces if one.kind) == visible(kept)
    assert [one.here for one in pieces if one.begins] == [True] * bool(here.cut(text).strip("\n"))
    assert all(one.here for one in pieces if one.word)


@given(TEXTS, st.text(alphabet="ab \n.*(é", max_size=20), st.tuples(st.integers(0, 60), st.integers(0, 60)))
def test_words_are_found_within_the_passage(text: str, query: str, passage: tuple[int, int]) -> None:
    here = Span(*sorted(min(one, len(text)) for one in passage))
    found = words_in(text, query, here)
    assert all(here.start <= one.start < one.end <= here.end for one in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(
        any(
            one.cut(text).casefold() == word.casefold()
            for word in query.replace(".", " ").replace("*", " ").replace("(", " ").split()
        )
        for one in found
    )


def test_words_of_the_query_are_marked_and_short_ones_are_not() -> None:
    text = "The Queen, queens and a QUEEN of bees"
    assert [one.cut(text) for one in words_in(text, "queen a of", Span(0, len(text)))] == [
        "Queen",
        "queen",
        "QUEEN",
        "of",
    ]
