"""A reranker's opinion: the blend by place, and the first hit that stays (R181-R184)."""

from __future__ import annotations

import math

import pytest

from lilbee_core.errors import ProviderError
from lilbee_core.search import ANALYZED, ProfileSearcher, Rerank
from lilbee_core.search.stages._probe import CENTER, SLOPE
from lilbee_core.search.stages._rerank import blend_weight
from lilbee_core.testing import ScriptedReranker, StageContext, a_hit, a_state
from lilbee_core.types import Hit, Query
from tests.core.search.fakes import ANALYZER, parts_of, store_of

CONTEXT = StageContext()


def paths(hits: tuple[Hit, ...]) -> list[str]:
    return [hit.path for hit in hits]


def test_the_blend_changes_at_4_and_11():
    assert [blend_weight(rank) for rank in (1, 3, 4, 10, 11, 99)] == [0.7, 0.7, 0.5, 0.5, 0.3, 0.3]


def test_rerank_blends_by_position_exactly():
    hits = [a_hit(f"text {at}", score=(20 - at) / 20, path=f"{at:02}.md") for at in range(12)]
    reranker = ScriptedReranker({f"text {at}": at / 12 for at in range(12)})
    state = Rerank(reranker).run(a_state(*hits, text="q"), CONTEXT)

    by_path = {hit.path: hit for hit in state.hits}
    assert by_path["02.md"].score == pytest.approx(0.7 * 18 / 20 + 0.3 * 2 / 12)
    assert by_path["03.md"].score == pytest.approx(0.5 * 17 / 20 + 0.5 * 3 / 12)
    assert by_path["09.md"].score == pytest.approx(0.5 * 11 / 20 + 0.5 * 9 / 12)
    assert by_path["10.md"].score == pytest.approx(0.3 * 10 / 20 + 0.7 * 10 / 12)
    assert dict(by_path["10.md"].scores)["rerank_score"] == pytest.approx(10 / 12)
    assert [hit.score for hit in state.hits] == sorted((hit.score for hit in state.hits), reverse=True)


def test_rerank_asks_for_the_first_ones_only_and_keeps_the_rest_below():
    hits = [a_hit(f"text {at}", score=1 - at / 100, path=f"{at}.md") for at in range(5)]
    reranker = ScriptedReranker({f"text {at}": 0.0 for at in range(5)})
    state = Rerank(reranker, candidates=2).run(a_state(*hits, text="q"), CONTEXT)

    assert reranker.requests == [("q", ("text 0", "text 1"))]
    assert paths(state.hits) == [f"{at}.md" for at in range(5)]
    assert [hit.score for hit in state.hits] == sorted((hit.score for hit in state.hits), reverse=True)


# Where the sigmoid of the probe gives exactly .8, per word of the query.
EDGE = CENTER + math.log(4) / SLOPE


@pytest.mark.parametrize(("words", "over", "stays"), [(1, 0.01, True), (1, -0.01, False), (3, 0.01, True)])
def test_a_first_hit_that_its_words_make_certain_cannot_be_demoted(words, over, stays):
    score = words * (EDGE + over)
    hits = [a_hit("a", score=1.0, path="a.md", scores=(("lexical", score),)), a_hit("b", score=0.9, path="b.md")]
    query = "hive wax honey"[: 4 if words == 1 else None]
    state = a_state(*hits, text=query).put(ANALYZED, ANALYZER.query(query))
    after = Rerank(ScriptedReranker({"a": 0.0, "b": 1.0})).run(state, CONTEXT)

    assert paths(after.hits) == (["a.md", "b.md"] if stays else ["b.md", "a.md"])
    assert ("stays for its words" in after.note) == stays
    assert after.hits[0].score >= after.hits[1].score
    assert after.hits[0].rerank_score == (0.0 if stays else 1.0)


def test_only_the_first_hit_is_kept_and_only_for_its_words():
    certain = (("lexical", 99.0),)
    hits = [
        a_hit("a", score=1.0, path="a.md"),
        a_hit("b", score=0.9, path="b.md", scores=certain),
        a_hit("c", score=0.8),
    ]
    after = Rerank(ScriptedReranker({"a": 0.0, "b": 0.0, "c": 1.0})).run(a_state(*hits), CONTEXT)

    assert after.hits[0].text == "c"
    assert a_hit().rerank_score is None


@pytest.mark.parametrize("given", [(0.1,), (0.1, math.nan), (0.1, math.inf)])
def test_scores_that_cannot_be_used_are_the_rerankers_fault(given):
    reranker = ScriptedReranker({})
    reranker.score = lambda query, texts: given

    with pytest.raises(ProviderError, match="gave"):
        Rerank(reranker).run(a_state(a_hit("a"), a_hit("b", path="b.md")), CONTEXT)


def test_odd_scores_of_a_reranker_cost_only_the_reranking():
    reranker = ScriptedReranker({})
    reranker.score = lambda query, texts: tuple(math.nan for _ in texts)
    parts = parts_of(store_of({"a.md": "Bees fly.", "b.md": "Bees dance."}), reranker=reranker)
    result = ProfileSearcher(parts).search(Query(text="bees"))

    assert len(result) == 2
    (warning,) = result.warnings
    assert warning.startswith(f"Hits are not reranked: {reranker.model} gave scores that are no numbers. Restart")
