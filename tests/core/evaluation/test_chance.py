"""Intervals and tests say of means what is known of them."""

from __future__ import annotations

import itertools
import random
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lilbee_core.evaluation import Interval, is_held_out
from lilbee_core.evaluation import _chance as chance


def test_the_interval_is_that_of_the_normal_law_for_many_queries() -> None:
    drawn = random.Random(7)
    values = [drawn.random() for _ in range(2000)]
    low, high = chance.interval_of_mean(values).to_list()
    error = 1.96 * statistics.stdev(values) / len(values) ** 0.5
    mean = statistics.fmean(values)
    assert (low, high) == pytest.approx((mean - error, mean + error), abs=error / 8)


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_the_mean_lies_inside_and_nothing_depends_on_luck(values: list[float]) -> None:
    interval = chance.interval_of_mean(values)
    assert min(values) - 1e-9 <= interval.low <= statistics.fmean(values) + 1e-9
    assert statistics.fmean(values) - 1e-9 <= interval.high <= max(values) + 1e-9
    assert chance.interval_of_mean(values) == interval


def test_equal_values_and_none_at_all() -> None:
    assert chance.interval_of_mean([0.25] * 9) == Interval(0.25, 0.25)
    assert chance.interval_of_mean([]) == Interval(0.0, 0.0)


@pytest.mark.parametrize("seed", range(4))
def test_the_paired_test_is_near_all_assignments_of_signs(seed: int) -> None:
    drawn = random.Random(seed)
    values = [drawn.gauss(0.15 * seed, 0.3) for _ in range(10)]
    every = [abs(sum(map(float.__mul__, values, signs))) for signs in itertools.product((-1.0, 1.0), repeat=10)]
    exact = sum(one >= abs(sum(values)) - 1e-12 for one in every) / len(every)
    assert chance.chance_of(values) == pytest.approx(exact, abs=0.025)


def test_queries_without_a_difference_say_nothing() -> None:
    assert chance.chance_of([]) == chance.chance_of([0.0, 0.0]) == 1.0
    assert chance.chance_of([0.1] * 20) == chance.chance_of([0.1] * 20 + [0.0] * 500) < 0.01


def test_batches_that_fit_no_memory_give_the_same_kind_of_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [number % 7 / 7 for number in range(200)]
    whole = chance.interval_of_mean(values)
    monkeypatch.setattr(chance, "_MOST_AT_ONCE", 999)
    assert chance.interval_of_mean(values).to_list() == pytest.approx(whole.to_list(), abs=0.005)


def test_half_of_the_queries_is_held_out_by_their_id_alone() -> None:
    held = [is_held_out(f"q{number}") for number in range(4000)]
    assert 0.46 < statistics.fmean(held) < 0.54
    assert held == [is_held_out(f"q{number}") for number in range(4000)]
    assert (is_held_out("1"), is_held_out("q1"), is_held_out("q2")) == (True, False, True)
