"""Work side by side: really at once, never waiting for itself, gone after `close`."""

from __future__ import annotations

import threading

import pytest

from lilbee_core.search import ThreadExecutor


def test_work_is_done_at_once() -> None:
    executor = ThreadExecutor()
    together = threading.Barrier(3)

    def meet(number: int) -> int:
        together.wait(timeout=10)  # raises unless all three are there
        return number

    assert list(executor.map(meet, [1, 2, 3])) == [1, 2, 3]
    executor.close()


def test_work_may_use_the_executor_that_does_it() -> None:
    executor = ThreadExecutor(threads=1)

    def deep(depth: int) -> int:
        return 1 + sum(executor.map(deep, [depth - 1] * 3)) if depth else 1

    assert deep(4) == 1 + 3 + 9 + 27 + 81
    executor.close()


def test_the_first_piece_of_work_stays_in_the_thread_that_asks() -> None:
    executor = ThreadExecutor()
    assert next(iter(executor.map(lambda _: threading.current_thread(), "ab"))) is threading.current_thread()
    executor.close()


def test_threads_start_on_use_and_end_with_it() -> None:
    def threads() -> list[str]:
        return [one.name for one in threading.enumerate() if one.name.startswith("lilbee-search")]

    executor = ThreadExecutor()
    list(executor.map(str, [1]))
    assert threads() == []
    list(executor.map(str, [1, 2]))
    assert threads()
    executor.close()
    executor.close()
    assert threads() == []
    with pytest.raises(ValueError, match="closed"):
        list(executor.map(str, [1, 2]))
