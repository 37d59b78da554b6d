"""How rankings become one, by hand (R166, R312)."""

import math

import pytest

from lilbee_core.search import adaptive, convex, reciprocal_rank, weighted
from lilbee_core.types import ChunkId, Ranking, Scored


def ranking(name: str = "lexical", floor: float | None = None, weight: float = 1.0, **scores: float) -> Ranking:
    ordered = sorted(scores.items(), key=lambda pair: -pair[1])
    entries = tuple(Scored(ChunkId(key), score) for key, score in ordered)
    return Ranking(name=name, entries=entries, weight=weight, floor=floor)


def ids(entries: tuple[Scored, ...]) -> str:
    return "".join(entry.chunk_id for entry in entries)


def test_convex_is_one_for_the_first_of_all_lists_and_zero_for_the_last():
    fused = convex([ranking(a=9, b=5, c=1), ranking("dense", a=0.9, b=0.6, c=0.2)])

    assert ids(fused) == "abc"
    assert fused[0].score == pytest.approx(1)
    assert fused[2].score == 0


def test_convex_by_hand():
    # Standard deviation of (3, 1) is 1 and of (0.8, 0.4) is 0.2: both firsts lie two deviations above the last.
    fused = convex([ranking(a=3, b=1), ranking("dense", b=0.8, c=0.4)], weights={"dense": 0.75, "lexical": 0.25})

    assert {one.chunk_id: pytest.approx(one.score) for one in fused} == {"b": 0.75, "a": 0.25, "c": 0}


def test_convex_keeps_a_lead_that_ranks_would_lose():
    words = ranking(a=30, b=2, c=1.9, d=1.8)
    meaning = ranking("dense", b=0.502, c=0.501, a=0.5, d=0.0)

    assert convex([words, meaning])[0].chunk_id == "a"


def test_the_only_chunk_with_a_rare_word_stands_out():
    words = ranking(floor=0.0, z=4)
    meaning = ranking("dense", **{key: 0.5 + at / 100 for at, key in enumerate("abcdefgh")})

    assert convex([words, meaning], weights={"dense": 0.55, "lexical": 0.45})[0].chunk_id == "z"


def test_a_list_that_was_cut_off_counts_missing_chunks_as_its_worst():
    cut = convex([ranking(a=3, b=2), ranking("dense", c=0.9, a=0.8)])
    whole = convex([ranking(floor=0.0, a=3, b=2), ranking("dense", c=0.9, a=0.8)])

    assert {one.chunk_id: one.score for one in cut}["b"] == 0
    assert {one.chunk_id: one.score for one in whole}["b"] > 0


def test_equal_scores_decide_nothing_and_ties_go_by_id():
    assert ids(convex([ranking(b=1, a=1)])) == "ab"
    assert ids(convex([ranking(b=1, a=1, c=1), ranking("dense", c=0.9, b=0.1)])) == "cab"


def test_a_ranking_without_weight_has_no_say():
    assert ids(convex([ranking(a=2, b=1), ranking("dense", weight=0, b=9, a=1)])) == "ab"


@pytest.mark.parametrize("fuse", [adaptive, convex, reciprocal_rank, weighted])
def test_nothing_gives_nothing(fuse):
    assert fuse([]) == ()
    assert fuse([ranking()]) == ()


def test_reciprocal_rank_by_hand():
    fused = reciprocal_rank([ranking(a=3, b=2), ranking("dense", b=0.9, c=0.5)], k=60)

    assert ids(fused) == "bac"
    assert fused[0].score == pytest.approx(1 / 62 + 1 / 61)
    assert fused[1].score == pytest.approx(1 / 61)


def test_reciprocal_rank_needs_a_positive_k():
    with pytest.raises(ValueError, match="k must be positive, got 0"):
        reciprocal_rank([], k=0)


def test_weighted_by_hand():
    fused = weighted([ranking(a=8, b=4), ranking("dense", b=0.5, c=0.2, d=-0.5)])

    assert {one.chunk_id: pytest.approx(one.score) for one in fused} == {
        "b": 0.7 * 0.5 + 0.3 * 0.5, "a": 0.3, "c": 0.7 * 0.2, "d": 0,
    }  # fmt: skip


def test_all_scores_are_finite_even_at_the_edges():
    fused = convex([ranking(a=1e308, b=-1e308), ranking("dense", a=5e-324, b=0.0)])

    assert all(math.isfinite(one.score) for one in fused)


def test_a_whole_list_of_equals_above_its_floor_is_no_trouble():
    words = ranking(floor=0.0, **{f"c{at:02}": 5.0 for at in range(40)})

    assert {one.score for one in convex([words])} == {1.0}
    assert convex([words, ranking("dense", x=0.9, y=0.1)])


MEANING = ranking("dense", m=0.63, n=0.1)


@pytest.mark.parametrize(
    ("words", "weight"),
    [
        (ranking(a=10, b=5), 0.5),
        (ranking(a=10, b=9), 0.7),
        (ranking(a=10, b=1), 0.3),
        (ranking(floor=0.0, a=10, b=9), 0.3),
        (ranking(**{"a": 10, **{f"w{at}": 9 for at in range(8)}, "x": 8, "y": 1}), 0.65),
    ],
    ids=["as most", "no word tells", "one word tells", "only two have any", "the tenth counts"],
)
def test_words_count_more_when_their_first_leads_by_far(words, weight):
    found = {one.chunk_id: one.score for one in adaptive([words, MEANING])}
    plain = {
        one.chunk_id: one.score for one in convex([words, MEANING], weights={"dense": weight, "lexical": 1 - weight})
    }

    assert found == pytest.approx(plain)


@pytest.mark.parametrize(("cosine", "weight"), [(0.63, 0.5), (0.73, 0.6), (0.43, 0.3), (0.99, 0.8)])
def test_meaning_counts_more_when_it_is_nearer_than_usual(cosine, weight):
    words, meaning = ranking(a=10, b=5), ranking("dense", m=cosine, n=0.1)
    found = {one.chunk_id: one.score for one in adaptive([words, meaning], usual_cosine=0.63)}
    plain = convex([words, meaning], weights={"dense": weight, "lexical": 1 - weight})

    assert found == pytest.approx({one.chunk_id: one.score for one in plain})


def test_one_list_alone_needs_no_weight():
    assert adaptive([ranking(a=3, b=1)]) == convex([ranking(a=3, b=1)])
    assert adaptive([MEANING], usual_cosine=0.9) == convex([MEANING])
