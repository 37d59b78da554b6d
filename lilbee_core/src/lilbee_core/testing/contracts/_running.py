"""What every executor, clock and launcher keeps to."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from itertools import islice
from typing import TYPE_CHECKING

from lilbee_core.protocols import Launch

if TYPE_CHECKING:
    from lilbee_core.protocols import Clock, Executor, Launcher


def _double(number: int) -> int:
    return number * 2


def _fail_at_three(number: int) -> int:
    if number == 3:
        raise KeyError(number)
    return number


class ExecutorContract(ABC):
    """Checks for an `Executor`: results in order, the first failure raised. Functions must be picklable."""

    @abstractmethod
    def make(self) -> Executor:
        """Return an executor."""

    # ------------------------------------------------------------------ the checks

    def test_results_stand_in_order(self) -> None:
        found = list(self.make().map(_double, range(50)))
        assert found == [number * 2 for number in range(50)], f"the results are {found}"

    def test_no_items_give_no_results(self) -> None:
        empty: list[int] = []
        assert list(self.make().map(_double, empty)) == [], "results came from nowhere"

    def test_the_first_failure_is_raised(self) -> None:
        results = self.make().map(_fail_at_three, [1, 2, 3, 4])
        assert list(islice(results, 2)) == [1, 2], "results before the failure are lost"
        try:
            next(results)
        except KeyError:
            return
        raise AssertionError("the failure was swallowed")

    def test_it_can_be_used_again(self) -> None:
        executor = self.make()
        assert [list(executor.map(_double, [n])) for n in range(3)] == [[0], [2], [4]], "the second use differs"


class ClockContract(ABC):
    """Checks for a `Clock`: aware times, and seconds that never go back."""

    @abstractmethod
    def make(self) -> Clock:
        """Return a clock."""

    # ------------------------------------------------------------------ the checks

    def test_now_has_a_zone(self) -> None:
        assert self.make().now().tzinfo is not None, "now() has no zone"

    def test_seconds_never_go_back(self) -> None:
        clock = self.make()
        seen = [clock.monotonic() for _ in range(20)]
        assert seen == sorted(seen), f"the seconds were {seen}"

    def test_sleep_lets_time_pass(self) -> None:
        clock = self.make()
        before = clock.monotonic()
        clock.sleep(0.01)
        assert clock.monotonic() - before >= 0.009, "time did not pass"


class LauncherContract(ABC):
    """Checks for a `Launcher`: a real or pretended process that ends when it is told to."""

    @abstractmethod
    def make(self) -> Launcher:
        """Return a launcher."""

    def launch(self) -> Launch:
        """Return what to start: a program that runs until it is ended."""
        return Launch(command=(sys.executable, "-c", "import time; time.sleep(60)"))

    # ------------------------------------------------------------------ the checks

    def test_a_process_runs_until_it_is_terminated(self) -> None:
        process = self.make().start(self.launch())
        try:
            assert process.pid > 0, f"the process has the id {process.pid}"
            assert process.poll() is None, "it ended at once"
            process.terminate()
            assert process.wait(10.0) is not None, "it does not end when it is terminated"
            assert process.poll() is not None, "it ended, and poll() does not know"
        finally:
            process.kill()

    def test_a_process_can_be_killed_twice(self) -> None:
        process = self.make().start(self.launch())
        process.kill()
        assert process.wait(10.0) is not None, "it does not end when it is killed"
        process.kill()
        process.terminate()

    def test_two_processes_are_two(self) -> None:
        launcher = self.make()
        first, second = launcher.start(self.launch()), launcher.start(self.launch())
        try:
            assert first.pid != second.pid, "two processes share an id"
            first.kill()
            first.wait(10.0)
            assert second.poll() is None, "ending one ended the other"
        finally:
            first.kill()
            second.kill()
            second.wait(10.0)

    def test_the_log_is_text(self) -> None:
        process = self.make().start(self.launch())
        try:
            assert isinstance(process.log_tail(5), str), "log_tail gave no text"
        finally:
            process.kill()
            process.wait(10.0)
