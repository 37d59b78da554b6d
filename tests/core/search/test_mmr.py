"""Maximal marginal relevance (R178, R179): its two ends, its formula, and what has no vector."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.search import Mmr
from lilbee_core.search._scores import falling
from lilbee_core.search.stages._mmr import choose
from lilbee_core.testing import MemoryStore, StageContext, a_hit, a_state, an_indexed_document
from lilbee_core.types import Hit, SearchState

CONTEXT = StageContext()
EAST, NEAR_EAST, NORTH = (1.0, 0.0), (0.96, 0.28), (0.0, 1.0)


def found(*rows: tuple[str, float, tuple[float, ...] | None]) -> tuple[MemoryStore, SearchState]:
    """Return a store and a state with a hit per name, score and vector."""
    store = MemoryStore()
    hits: list[Hit] = []
    for name, score, vector in rows:
        vectors = None if vector is None else np.array([vector], dtype=np.float32)
        document = an_indexed_document(name, path=name, vectors=vectors)
        store.put([document])
        hits.append(Hit(chunk=document.chunks[0], score=score))
    return store, a_state(*hits)


def names(state: SearchState) -> list[str]:
    return [hit.path for hit in state.hits]


ROWS = (("first", 0.8, EAST), ("copy", 0.7, NEAR_EAST), ("other", 0.6, NORTH))


def test_pure_relevance_changes_nothing():
    store, state = found(*ROWS)
    after = Mmr(store, 1.0).run(state, CONTEXT)

    assert after.hits is state.hits
    assert after.note == "relevance alone"


def test_pure_diversity_takes_what_is_least_like_the_chosen_ones():
    rows = (("a", 0.9, EAST), ("b", 0.8, NEAR_EAST), ("c", 0.7, (0.6, 0.8)), ("d", 0.1, NORTH))
    store, state = found(*rows)

    assert names(Mmr(store, 0.0).run(state, CONTEXT)) == ["a", "d", "c", "b"]


def test_between_them_both_count_as_shares_of_the_best():
    store, state = found(*ROWS)
    # copy: w * .875 - (1 - w) * .96, other: w * .75 - 0; equal at w = .96 / 1.085.
    edge = 0.96 / (0.96 + 0.125)
    below, above = Mmr(store, edge - 0.001).run(state, CONTEXT), Mmr(store, edge + 0.001).run(state, CONTEXT)

    assert names(below) == ["first", "other", "copy"]
    assert names(above) == ["first", "copy", "other"]
    assert below.note == "2 of 3 stand elsewhere"
    assert dict(below.hits[2].scores)["likeness"] == pytest.approx(0.96)


def test_a_hit_that_was_moved_back_stays_there_for_whoever_sorts_by_score():
    store, state = found(*ROWS)
    after = Mmr(store, 0.5).run(state, CONTEXT)

    assert [hit.score for hit in after.hits] == [0.8, 0.6, math.nextafter(0.6, 0)]


def test_on_demand_relevance_alone_counts():
    store, state = found(*ROWS)
    state = replace(state, query=replace(state.query, diversify=False))

    assert Mmr(store, 0.0).run(state, CONTEXT).hits is state.hits


@pytest.mark.parametrize("vector", [None, (0.0, 0.0), (math.nan, 1.0), (math.inf, 0.0), (1.0, 0.0, 0.0)])
def test_what_has_no_usable_vector_is_like_nothing(vector):
    store, state = found(("first", 0.8, EAST), ("odd", 0.7, None), ("copy", 0.6, EAST))
    odd = state.hits[1].chunk.id
    read = store.vectors
    if vector is not None:
        store.vectors = lambda ids: {**read(ids), odd: np.array(vector, dtype=np.float32)}
    after = Mmr(store, 0.0).run(state, CONTEXT)

    assert names(after) == ["first", "odd", "copy"]
    assert dict(after.hits[1].scores)["likeness"] == 0.0


def test_without_any_vector_nothing_moves():
    store, state = found(("a", 0.8, None), ("b", 0.7, None))

    assert Mmr(store, 0.5).run(state, CONTEXT).hits is state.hits


def test_what_lies_behind_the_most_stays_behind():
    store, state = found(*ROWS, ("late", 0.5, NORTH))

    assert names(Mmr(store, 0.0, most=2).run(state, CONTEXT)) == ["first", "copy", "other", "late"]


def test_scores_below_zero_and_huge_ones_are_shares_too():
    rows = (("first", 1.5e308, EAST), ("copy", 1.4e308, NEAR_EAST), ("other", -1.5e308, NORTH))
    store, state = found(*rows)

    assert names(Mmr(store, 0.99).run(state, CONTEXT)) == ["first", "copy", "other"]
    assert names(Mmr(store, 0.1).run(state, CONTEXT)) == ["first", "other", "copy"]


@pytest.mark.parametrize("weight", [-0.1, 1.1, math.nan])
def test_a_weight_that_is_no_share_is_refused(weight):
    with pytest.raises(ValueError, match="between 0 and 1"):
        Mmr(MemoryStore(), weight)


SHARES = st.floats(0, 1, width=32)
VECTORS = st.lists(st.tuples(SHARES, st.floats(-1, 1, width=32), st.floats(-1, 1, width=32)), min_size=1, max_size=12)


@given(VECTORS, SHARES)
def test_every_choice_is_the_best_that_is_left(rows, weight):
    relevance = sorted((row[0] for row in rows), reverse=True)
    vectors = np.array([row[1:] for row in rows], dtype=np.float32)
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = np.divide(vectors, norms, where=norms > 0, out=np.zeros_like(vectors))
    order, likeness = choose(relevance, vectors, weight)

    assert sorted(order) == list(range(len(rows)))
    assert order[0] == 0
    for at in range(1, len(order)):
        chosen, left = order[:at], order[at:]
        like = {one: max(0.0, *(float(vectors[one] @ vectors[other]) for other in chosen)) for one in left}
        gains = {one: weight * relevance[one] - (1 - weight) * like[one] for one in left}
        assert gains[order[at]] >= max(gains.values()) - 1e-5
        assert likeness[at] == pytest.approx(like[order[at]], abs=1e-5)


@given(VECTORS)
def test_both_ends_are_exact(rows):
    relevance = sorted((row[0] for row in rows), reverse=True)
    vectors = np.zeros((len(rows), 2), dtype=np.float32)

    assert choose(relevance, vectors, 1.0)[0] == list(range(len(rows)))
    assert choose(relevance, vectors, 0.0)[0] == list(range(len(rows)))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_scores_only_fall_and_keep_the_order(scores):
    hits = [a_hit(score=score, path=str(at)) for at, score in enumerate(scores)]
    fallen = falling(hits)

    assert [hit.path for hit in fallen] == [hit.path for hit in hits]
    assert all(after.score <= before.score for before, after in zip(hits, fallen, strict=True))
    assert [hit.path for hit in sorted(fallen, key=lambda hit: -hit.score)] == [hit.path for hit in hits]
