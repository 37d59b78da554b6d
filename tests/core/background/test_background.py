"""Work in the background waits for what somebody waits for, for a bounded share of its time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest

from lilbee_core.background import background, foreground, give_way
from lilbee_core.embed._threads import for_each
from lilbee_core.search import Searcher
from lilbee_core.testing import a_hit
from lilbee_core.types import Part, Query, SearchState
from tests.core.search.fakes import AnyStage

BRIEF_S, LONG_S = 0.05, 30.0


def started(work: Callable[[], object]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


@background()
def give_way_behind(said: list[str]) -> None:
    give_way()
    said.append("background")


def test_work_in_the_background_waits_until_nobody_waits() -> None:
    said: list[str] = []
    with foreground():
        with foreground():
            thread = started(lambda: give_way_behind(said))
            thread.join(BRIEF_S)
            assert said == []
        thread.join(BRIEF_S)
        said.append("foreground")
    thread.join(LONG_S)
    assert said == ["foreground", "background"]


def test_an_error_in_front_ends_the_wait() -> None:
    said: list[str] = []
    with pytest.raises(RuntimeError), foreground():
        raise RuntimeError("a bug")
    began = time.monotonic()
    give_way_behind(said)
    assert time.monotonic() - began < BRIEF_S


def test_only_work_in_the_background_waits() -> None:
    began = time.monotonic()
    with foreground():
        give_way()
        with background():
            pass
        give_way()
    assert time.monotonic() - began < BRIEF_S


def test_a_search_by_a_job_lets_nobody_wait() -> None:
    said: list[str] = []
    with background(), foreground():
        thread = started(lambda: give_way_behind(said))
        thread.join(LONG_S)
        assert said == ["background"]


def test_however_many_search_a_job_goes_on() -> None:
    pieces = 0

    @background()
    def work() -> None:
        nonlocal pieces
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            time.sleep(0.002)
            give_way()
            pieces += 1

    with foreground():
        thread = started(work)
        thread.join(LONG_S)
    # 2 ms of work and 6 of waiting a piece, behind the quarter of a second that was saved up: 94 on an idle machine.
    assert 5 < pieces < 200


def test_threads_that_work_for_a_job_wait_as_it_does() -> None:
    said: list[str] = []

    def embed(_: int) -> None:
        said.append("background")

    def both() -> None:
        with background():
            for_each(range(2), embed, threads=2)

    with foreground():
        thread = started(both)
        thread.join(BRIEF_S)
        said.append("foreground")
    thread.join(LONG_S)
    assert said == ["foreground", "background", "background"]


def test_new_threads_for_each_batch_bring_no_more_time_to_wait() -> None:
    batches = 0

    @background()
    def work() -> None:
        nonlocal batches
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            for_each(range(2), lambda _: time.sleep(0.002), threads=2)
            batches += 1

    with foreground():
        thread = started(work)
        thread.join(LONG_S)
    # With the quarter of a second that each thread may save up it would be four.
    assert batches > 10


def test_a_search_goes_first() -> None:
    said: list[str] = []

    def run(state: SearchState, context: object) -> SearchState:
        thread = started(lambda: give_way_behind(said))
        thread.join(BRIEF_S)
        said.append("search")
        return SearchState(query=state.query, hits=(a_hit("bees"),))

    assert Searcher([AnyStage(run, writes=[Part.HITS])]).search(Query(text="bees")).hits
    for _ in range(1000):
        if len(said) == 2:
            break
        time.sleep(0.01)
    assert said == ["search", "background"]
