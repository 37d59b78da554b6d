"""Context selection by set cover (R189)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.search import ANALYZED, Cover
from lilbee_core.search.stages._cover import choose
from lilbee_core.testing import StageContext, a_hit, a_state
from lilbee_core.types import SearchState
from tests.core.search.fakes import ANALYZER

CONTEXT = StageContext()


def asked(text: str, *texts: str, language: str = "en") -> SearchState:
    """Return a state with a marked hit per text, best first."""
    words = ANALYZER.query(text, languages=(language,))
    hits = [
        replace(
            a_hit(one, score=1 - at / 100, path=f"{at}.md"),
            highlights=tuple(ANALYZER.spans(one, words, language=language)),
        )
        for at, one in enumerate(texts)
    ]
    return a_state(*hits, text=text).put(ANALYZED, words)


def places(state: SearchState) -> list[int]:
    return [int(hit.path.removesuffix(".md")) for hit in state.hits]


BEES, WASPS = "Bees build with wax.", "A wasp builds with paper."
COMPARE = ("compare bees and wasps", *[f"{BEES} Note {at}." for at in range(7)], WASPS)


def test_a_comparison_gets_passages_about_both():
    state = Cover(ANALYZER).run(asked(*COMPARE), CONTEXT)

    assert places(state) == [0, 1, 2, 3, 7]
    assert state.note == "2 of 3 words by 2 hits"
    assert {one.reason for one in state.dropped} == {"adds no words to the chosen hits"}
    assert len(state.dropped) == 3


def test_without_filling_it_stops_where_all_words_are_held():
    assert places(Cover(ANALYZER, fill=False).run(asked(*COMPARE), CONTEXT)) == [0, 7]
    full = asked("wax bees", BEES, BEES + " More.", WASPS)
    assert places(Cover(ANALYZER, fill=False).run(full, CONTEXT)) == [0]


def test_the_order_of_the_hits_stays():
    state = asked("bees wax wasps paper", "Bees.", "Wasps and paper and wax.", "Nothing.")

    assert places(Cover(ANALYZER).run(state, CONTEXT)) == [0, 1, 2]


def test_words_are_held_in_any_form_and_in_scripts_without_blanks():
    state = Cover(ANALYZER, fill=False).run(asked("building papers", BEES, WASPS), CONTEXT)
    chinese = asked("比较蜜蜂和水泵", "蜜蜂会筑巢。", "蜜蜂采蜜。", "水泵在花园里。", language="zh")

    assert places(state) == [1]
    assert places(Cover(ANALYZER, most=2).run(chinese, CONTEXT)) == [0, 2]


def test_a_query_without_words_keeps_the_first():
    state = asked("?!", *[f"Text {at}." for at in range(7)])

    assert places(Cover(ANALYZER).run(state, CONTEXT)) == [0, 1, 2, 3, 4]
    assert Cover(ANALYZER).run(a_state(), CONTEXT).hits == ()
    assert places(Cover(ANALYZER).run(replace(state, private=()), CONTEXT)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("words", "count"), [(20, 2), (21, 1)])
def test_a_gain_under_five_percent_is_none(words, count):
    names = [f"w{at}" for at in range(words)]
    held = [frozenset(names[1:]), frozenset(names[:1])]

    assert len(choose(held, frozenset(names), 5, 0.05)) == count


HELD = st.lists(st.frozensets(st.sampled_from("abcdefgh")), max_size=9)


@given(HELD, st.frozensets(st.sampled_from("abcdefgh")), st.integers(1, 6))
def test_every_choice_gains_most(held, words, most):
    chosen = choose(held, words, most, 0.05)
    told: frozenset[str] = frozenset()

    assert len(set(chosen)) == len(chosen) <= most
    for at in chosen:
        gain = len((held[at] & words) - told)
        assert gain > 0
        assert gain == max(len((one & words) - told) for one in held)
        told |= held[at]
    if len(chosen) < most:
        assert not any((one & words) - told for one in held)
