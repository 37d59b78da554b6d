"""Every figure is the one that the usual scoring library gives for the same run."""

from __future__ import annotations

import math

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_measures import RR, R, Success, nDCG

from lilbee_core.evaluation import METRICS, in_run_order, score_ranking
from lilbee_core.evaluation._metrics import percentile

REFERENCE = {
    "ndcg@10": nDCG @ 10,
    "recall@10": R @ 10,
    "recall@100": R @ 100,
    "mrr@10": RR @ 10,
    "success@5": Success @ 5,
}
NAMES = [f"d{number}" for number in range(150)]


def by_the_library(ranking: list[str], grades: dict[str, int]) -> dict[str, float]:
    run = {"q": {name: float(len(ranking) - place) for place, name in enumerate(ranking)}}
    found = dict.fromkeys(METRICS, 0.0)
    for one in ir_measures.iter_calc(list(REFERENCE.values()), {"q": grades}, run):
        found[next(name for name, measure in REFERENCE.items() if measure == one.measure)] = one.value
    return found


@given(
    ranking=st.lists(st.sampled_from(NAMES), unique=True, min_size=1, max_size=120),
    grades=st.dictionaries(st.sampled_from(NAMES), st.integers(0, 3), min_size=1, max_size=130),
)
def test_figures_equal_those_of_the_scoring_library(ranking: list[str], grades: dict[str, int]) -> None:
    if not any(grades.values()):
        return
    assert score_ranking(ranking, grades) == pytest.approx(by_the_library(ranking, grades), abs=1e-9)


def test_figures_by_hand() -> None:
    figures = score_ranking(["x", "a", "b", "y"], {"a": 1, "b": 2, "c": 1})
    best = 2 + 1 / math.log2(3) + 1 / 2
    assert figures["ndcg@10"] == pytest.approx((1 / math.log2(3) + 2 / 2) / best)
    assert figures["recall@10"] == figures["recall@100"] == pytest.approx(2 / 3)
    assert figures["mrr@10"] == 0.5
    assert figures["success@5"] == 1


def test_nothing_found_counts_zero() -> None:
    assert set(score_ranking([], {"a": 1}).values()) == {0.0}


def test_success_looks_at_five_and_the_rank_at_ten() -> None:
    sixth = score_ranking([*"vwxyz", "a"], {"a": 1})
    assert sixth["success@5"] == 0
    assert sixth["mrr@10"] == pytest.approx(1 / 6)
    eleventh = score_ranking([*"klmnopqrst", "a"], {"a": 1})
    assert eleventh["mrr@10"] == eleventh["ndcg@10"] == eleventh["recall@10"] == 0
    assert eleventh["recall@100"] == 1


def test_equal_scores_go_by_name() -> None:
    assert in_run_order([("b", 1.0), ("c", 2.0), ("a", 1.0)]) == [("c", 2.0), ("a", 1.0), ("b", 1.0)]


@pytest.mark.parametrize(("share", "expected"), [(0.5, 2.0), (0.95, 4.0), (0.25, 1.0), (1.0, 4.0)])
def test_percentiles_are_values_that_were_measured(share: float, expected: float) -> None:
    assert percentile([3.0, 1.0, 4.0, 2.0], share) == expected


def test_no_values_have_no_percentile() -> None:
    assert percentile([], 0.5) == 0
