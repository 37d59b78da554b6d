"""Whether words alone are sure (R160, R168, R169)."""

from __future__ import annotations

import math

import pytest

from lilbee_core.analysis import AnalyzedQuery
from lilbee_core.search import ANALYZED, CONFIDENCE, Probe
from lilbee_core.search.stages._probe import CENTER, SLOPE, Confidence, is_unsure
from lilbee_core.testing import StageContext, a_state
from lilbee_core.types import ChunkId, Ranking, Scored, SearchState, Variant


def score_of(confidence: float) -> float:
    """Return the score per word that the sigmoid turns into this confidence."""
    return CENTER - math.log(1 / confidence - 1) / SLOPE


def found(*scores: float, words: int = 1, floor: float | None = 0.0, variant: str = "original") -> SearchState:
    entries = tuple(Scored(ChunkId(f"c{at}"), score) for at, score in enumerate(scores))
    ranking = Ranking(name="lexical", entries=entries, floor=floor, variant=variant)
    return a_state(rankings=(ranking,)).put(
        ANALYZED, AnalyzedQuery(highlights=tuple("w" * (at + 1) for at in range(words)))
    )


def probed(state: SearchState, **options: float) -> Confidence:
    confidence = Probe(**options).run(state, StageContext()).get(CONFIDENCE)
    assert confidence is not None
    return confidence


def test_the_sigmoid_is_a_half_in_its_center_and_never_leaves_0_to_1():
    assert probed(found(CENTER)).first == 0.5
    assert probed(found(1e300)).first == 1.0
    assert probed(found(0.0, -1e300)).second < 1e-300
    assert probed(found(math.nan)).first == 0.0
    scores = [probed(found(float(at))).first for at in range(40)]
    assert scores == sorted(scores)


def test_scores_count_per_word():
    assert probed(found(30.0, 6.0, words=3)) == probed(found(10.0, 2.0))


@pytest.mark.parametrize(
    ("first", "second", "sure"),
    [(0.80, 0.65, True), (0.7999, 0.1, False), (0.80, 0.6501, False), (0.95, 0.80, True), (0.95, 0.8001, False)],
)
def test_the_search_is_sure_from_the_threshold_and_the_gap_on(first, second, sure):
    # A hair above what is asked for, since the inverse of the sigmoid is not exact.
    state = found(score_of(first) + 1e-9, score_of(second) - 1e-9)

    assert probed(state).is_sure is sure
    assert is_unsure(Probe().run(state, StageContext())) is not sure


def test_threshold_and_gap_are_options():
    state = found(score_of(0.7), score_of(0.6))

    assert not probed(state).is_sure
    assert probed(state, threshold=0.7, gap=0.05).is_sure
    assert not probed(state, threshold=0.7, gap=0.2).is_sure


def test_a_single_hit_is_compared_with_all_others():
    assert probed(found(score_of(0.9))).is_sure
    assert not probed(found(score_of(0.9), floor=score_of(0.85))).is_sure


def test_without_word_hits_it_is_not_sure():
    for state in (a_state(), found(), found(score_of(0.99), variant="expansion")):
        after = Probe().run(state, StageContext())
        assert after.get(CONFIDENCE) == Confidence(0.0, 0.0, is_sure=False)
        assert after.note == "no word hits"


def test_what_was_not_probed_is_unsure_and_nothing_is_reworded_without_words():
    assert is_unsure(a_state())
    assert not is_unsure(a_state(variants=()))
    assert is_unsure(a_state(variants=(Variant(text="x"),)))
