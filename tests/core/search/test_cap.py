"""The cap on hits of one document (R180)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.search import Cap
from lilbee_core.testing import StageContext, a_hit, a_state
from lilbee_core.types import Hit, SearchState

CONTEXT = StageContext()


def found(documents: str, top_k: int = 10, *, diversify: bool = True) -> SearchState:
    """Return a state with a hit per letter, which names its document."""
    hits = [
        a_hit(f"{name} {at}", score=1.0 - at / 100, path=name, document_id=name, ordinal=at)
        for at, name in enumerate(documents)
    ]
    state = a_state(*hits)
    return replace(state, query=replace(state.query, top_k=top_k, diversify=diversify))


def shown(hits: tuple[Hit, ...]) -> str:
    return "".join(hit.path for hit in hits)


def test_further_hits_of_a_document_make_room_for_others():
    state = Cap(2).run(found("aaabaacd", top_k=5), CONTEXT)

    assert shown(state.hits) == "aabcd"
    assert {one.reason for one in state.dropped} == {"2 better passages of a come first"}
    assert [one.score for one in state.dropped] == [0.98, 0.96, 0.95]


def test_one_book_is_shown_as_far_as_asked():
    state = found("a" * 12, top_k=10)

    assert Cap(3).run(state, CONTEXT).hits == state.hits[:10]
    assert shown(Cap(3, strict=True).run(state, CONTEXT).hits) == "aaa"


def test_places_that_nobody_else_takes_stay_with_the_best_in_the_old_order():
    state = Cap(1).run(found("aabbc", top_k=4), CONTEXT)

    assert shown(state.hits) == "aabc"


def test_on_demand_relevance_alone_counts():
    state = found("aaaab", top_k=2, diversify=False)

    assert Cap(1).run(state, CONTEXT).hits is state.hits


def test_a_cap_of_nothing_is_refused():
    with pytest.raises(ValueError, match="at least 1"):
        Cap(0)


@given(st.text("abcde", max_size=30), st.integers(1, 4), st.integers(1, 12))
def test_no_document_has_more_than_the_cap_while_others_fill_the_rest(documents, most, top_k):
    before = found(documents, top_k)
    after = Cap(most).run(before, CONTEXT)
    strict = Cap(most, strict=True).run(before, CONTEXT)
    counts = Counter(shown(after.hits))
    enough = sum(min(most, count) for count in Counter(documents).values()) >= top_k

    assert max(Counter(shown(strict.hits)).values(), default=0) <= most
    assert not enough or max(counts.values(), default=0) <= most
    assert len(after.hits) >= min(top_k, len(documents))
    assert len(after.hits) + len(after.dropped) == len(documents)
    places = [before.hits.index(hit) for hit in after.hits]
    assert places == sorted(places)
    assert list(dict.fromkeys(shown(after.hits))) == list(dict.fromkeys(documents)), "no document is lost"
