"""The contract of search stages notices every broken stage."""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from lilbee_core.errors import Cancelled, SearchError
from lilbee_core.testing import a_chunk
from lilbee_core.testing.contracts import StageContract
from lilbee_core.types import Hit, Part, Ranking, Scored, SearchState, Variant
from tests.core.testing._breaking import checks_of, fails, rows, run

HITS = frozenset({Part.HITS})
counter = itertools.count()


@dataclass
class Stage:
    """A stage that does what the test says."""

    act: Callable[[SearchState, Any], Any] = lambda state, context: state
    name: Any = "acme-stage"
    reads: Any = HITS
    writes: Any = HITS

    def run(self, state: SearchState, context: Any) -> Any:
        return self.act(state, context)


def stage(act: Callable[..., Any] = lambda state, context: state, **more: Any) -> Callable[[], Stage]:
    return lambda: Stage(act, **more)


def mutate(state: SearchState, context: Any) -> SearchState:
    object.__setattr__(state, "hits", ())
    return state


def scale_vector(state: SearchState, context: Any) -> SearchState:
    for variant in state.variants:
        if variant.vector is not None:
            variant.vector[:] *= 2
    return state


def count_up(state: SearchState, context: Any) -> SearchState:
    return replace(state, hits=(Hit(chunk=a_chunk(), score=float(next(counter))),))


def with_scores(*scores: float) -> Callable[[], Stage]:
    hits = tuple(Hit(chunk=a_chunk(f"text {at}"), score=score) for at, score in enumerate(scores))
    return stage(lambda state, context: replace(state, hits=hits))


def with_entries(*scores: float, ids: str = "abcdef") -> Callable[[], Stage]:
    entries = tuple(Scored(id_, score) for id_, score in zip(ids, scores, strict=False))  # type: ignore[arg-type]
    added = Ranking(name="x", entries=entries)
    return stage(
        lambda state, context: replace(state, rankings=(*state.rankings, added)), writes=frozenset({Part.RANKINGS})
    )


def swallow(state: SearchState, context: Any) -> SearchState:
    with contextlib.suppress(Cancelled):
        context.check()
    return state


def rename(state: SearchState, context: Any) -> SearchState:
    try:
        context.check()
    except Cancelled as error:
        raise SearchError("it broke") from error
    return state


def in_order_of_work(state: SearchState, context: Any) -> SearchState:
    done: list[str] = []
    list(context.executor.map(done.append, ["a", "b"]))
    return replace(state, warnings=(*state.warnings, "".join(done)))


@dataclass
class Remembers(Stage):
    """Gives something else the second time."""

    calls: list[int] = field(default_factory=list)

    def run(self, state: SearchState, context: Any) -> Any:
        self.calls.append(1)
        return replace(state, hits=()) if len(self.calls) > 1 else state


twin = Hit(chunk=a_chunk(), score=1.0)

CASES: dict[str, Any] = {
    "test_it_says_what_it_is": [
        stage(name=""),
        stage(name=None),
        stage(reads={Part.HITS}),
        stage(writes=frozenset({"hits!"})),
        stage(writes=(Part.HITS,)),
    ],
    "test_same_input_same_output": [stage(count_up), Remembers],
    "test_the_input_stays_unchanged": [stage(mutate), stage(scale_vector)],
    "test_only_what_it_writes_differs": [
        stage(lambda state, context: replace(state, hits=()), writes=frozenset()),
        stage(lambda state, context: replace(state, hits=(*state.hits,)), writes=frozenset()),
        stage(lambda state, context: replace(state, variants=(Variant(text="x"),))),
        stage(lambda state, context: replace(state, rankings=())),
        stage(lambda state, context: None),
    ],
    "test_scores_are_finite_and_descending_without_doubles": [
        with_scores(1.0, 2.0),
        with_scores(math.nan),
        with_scores(math.inf, 1.0),
        stage(lambda state, context: replace(state, hits=(twin, twin))),
        with_entries(1.0, 3.0),
        with_entries(math.nan),
        with_entries(2.0, 1.0, ids="aa"),
    ],
    "test_the_empty_state_is_accepted": stage(lambda state, context: state.hits),
    "test_a_cancelled_search_ends": [stage(swallow), stage(rename)],
    "test_the_order_of_work_does_not_matter": stage(in_order_of_work),
}


def test_every_check_is_broken_once() -> None:
    assert set(CASES) == checks_of(StageContract)


@pytest.mark.parametrize(("contract", "check", "make"), rows(StageContract, CASES))
def test_a_broken_one_fails(contract: type, check: str, make: Callable[[], Any]) -> None:
    fails(contract, check, make)


@pytest.mark.parametrize("check", sorted(CASES))
def test_a_stage_that_changes_nothing_passes(check: str) -> None:
    run(StageContract, check, stage())


def test_a_reported_stage_before_it_must_stay() -> None:
    from lilbee_core.testing import a_state
    from lilbee_core.types import StageReport

    state = a_state(reports=(StageReport(name="before"),))
    forgetful = stage(lambda state, context: replace(state, reports=()))
    fails(StageContract, "test_only_what_it_writes_differs", forgetful, states=lambda: [state])


def test_a_stage_may_raise_when_cancelled() -> None:
    def check(state: SearchState, context: Any) -> SearchState:
        context.check()
        return state

    run(StageContract, "test_a_cancelled_search_ends", stage(check))


def test_a_stage_made_of_stages_writes_what_they_write() -> None:
    class Wrapper(Stage):
        stages = (Stage(writes=HITS),)

    cut = lambda: Wrapper(lambda state, context: replace(state, hits=state.hits[:1]), writes=frozenset())  # noqa: E731
    run(StageContract, "test_only_what_it_writes_differs", cut)
    change = lambda: Wrapper(lambda state, context: replace(state, rankings=()), writes=frozenset())  # noqa: E731
    fails(StageContract, "test_only_what_it_writes_differs", change)
