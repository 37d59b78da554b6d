"""The contracts of executors, clocks and launchers notice every broken one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

import pytest

from lilbee_core.protocols import Launch
from lilbee_core.testing import FakeLauncher, FakeProcess, ManualClock
from lilbee_core.testing.contracts import ClockContract, ExecutorContract, LauncherContract
from tests.core.testing._breaking import checks_of, fails, rows

counter = itertools.count()


class Executes:
    """An executor that does what the test says."""

    def __init__(self, act: Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]) -> None:
        self.act = act
        self.uses = 0

    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        self.uses += 1
        return iter(self.act(function, list(items)))


def executor(act: Callable[[Callable[[Any], Any], list[Any]], Iterable[Any]]) -> Callable[[], Executes]:
    return lambda: Executes(act)


def swallowing(function: Callable[[Any], Any], items: list[Any]) -> Iterator[Any]:
    for item in items:
        try:
            yield function(item)
        except KeyError:
            yield None


class Tired(Executes):
    def map(self, function: Callable[[Any], Any], items: Iterable[Any]) -> Iterator[Any]:
        return iter(()) if self.uses else super().map(function, items)


EXECUTOR: dict[str, Any] = {
    "test_results_stand_in_order": [
        executor(lambda function, items: [function(item) for item in items][::-1]),
        executor(lambda function, items: [function(item) for item in items[1:]]),
    ],
    "test_no_items_give_no_results": executor(lambda function, items: [1]),
    "test_the_first_failure_is_raised": [
        executor(swallowing),
        executor(lambda function, items: swallowing(function, items[1:])),
    ],
    "test_it_can_be_used_again": lambda: Tired(map),
}


class Naive(ManualClock):
    def now(self) -> datetime:
        return super().now().replace(tzinfo=None)


class Back(ManualClock):
    def monotonic(self) -> float:
        return -float(next(counter))


class Sleepless(ManualClock):
    def sleep(self, seconds: float) -> None:
        return


CLOCK: dict[str, Any] = {
    "test_now_has_a_zone": Naive,
    "test_seconds_never_go_back": Back,
    "test_sleep_lets_time_pass": Sleepless,
}


def launcher(kind: type[FakeProcess]) -> Callable[[], Any]:
    class Broken(FakeLauncher):
        def start(self, launch: Launch) -> FakeProcess:
            process = kind(1000 + len(self.processes), launch)
            self.processes.append(process)
            return process

    return Broken


class Stillborn(FakeProcess):
    def poll(self) -> int | None:
        return 1


class Stubborn(FakeProcess):
    def terminate(self) -> None:
        return


class Immortal(FakeProcess):
    def kill(self) -> None:
        return


class Forgetful(FakeProcess):
    def poll(self) -> int | None:
        return None


class Fragile(FakeProcess):
    killed = False

    def kill(self) -> None:
        assert not self.killed, "no such process"
        self.killed = True
        super().kill()


class Nameless(FakeProcess):
    @property
    def pid(self) -> int:
        return 0


class Wordless(FakeProcess):
    def log_tail(self, lines: int = 50) -> Any:
        return self.lines


class Linked(FakeProcess):
    """All processes end with the first."""

    ended = False

    def kill(self) -> None:
        type(self).ended = True
        super().kill()

    def poll(self) -> int | None:
        return -9 if type(self).ended else super().poll()


LAUNCHER: dict[str, Any] = {
    "test_a_process_runs_until_it_is_terminated": [
        launcher(Stillborn), launcher(Stubborn), launcher(Forgetful), launcher(Nameless),
    ],
    "test_a_process_can_be_killed_twice": [launcher(Immortal), launcher(Fragile)],
    "test_two_processes_are_two": [launcher(Nameless), launcher(Linked)],
    "test_the_log_is_text": launcher(Wordless),
}  # fmt: skip

SUITES: list[tuple[type, dict[str, Any]]] = [
    (ExecutorContract, EXECUTOR),
    (ClockContract, CLOCK),
    (LauncherContract, LAUNCHER),
]


@pytest.mark.parametrize(("contract", "cases"), SUITES)
def test_every_check_is_broken_once(contract: type, cases: dict[str, Any]) -> None:
    assert set(cases) == checks_of(contract)


@pytest.mark.parametrize(("contract", "check", "make"), [row for suite in SUITES for row in rows(*suite)])
def test_a_broken_one_fails(contract: type, check: str, make: Callable[[], Any]) -> None:
    fails(contract, check, make)
