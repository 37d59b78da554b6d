"""Stand-ins for the edges: time, threads, processes, events, and what running code may ask for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from lilbee_core.errors import Cancelled
from lilbee_core.events import Event
from lilbee_core.protocols import Clock, Executor, Launch

S = TypeVar("S")
T = TypeVar("T")
EventT = TypeVar("EventT", bound=Event)

_NOON = datetime(2026, 3, 14, 12, 0, tzinfo=UTC)


class ManualClock:
    """A clock that stands still until a test moves it. `sleep` moves it and returns at once. Thread-safe."""

    def __init__(self, start: datetime = _NOON) -> None:
        self._start = start
        self._passed = 0.0
        self._lock = threading.Lock()
        self.sleeps: list[float] = []

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._passed)

    def monotonic(self) -> float:
        return self._passed

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.advance(max(0.0, seconds))

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._passed += seconds


class DirectExecutor:
    """Runs one piece of work after the other, in the caller's thread, when its result is asked for."""

    def __init__(self) -> None:
        self.calls = 0

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        for item in items:
            self.calls += 1
            yield function(item)


class RecordingSink:
    """Keeps every event it is given."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)

    def of(self, kind: type[EventT]) -> list[EventT]:
        """Return the events of one kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def names(self) -> list[str]:
        """The kinds of all events, in order."""
        return [event.name for event in self.events]


class Switch:
    """Cancels what asks it: at once, or after a number of questions."""

    def __init__(self, *, after: int | None = None) -> None:
        self._left = after
        self.checks = 0

    def cancel(self) -> None:
        """Cancel from now on."""
        self._left = 0

    def check(self) -> None:
        self.checks += 1
        if self._left is None:
            return
        if self._left <= 0:
            raise Cancelled("the test cancelled this", hint="Start it again.")
        self._left -= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class StageContext:
    """What a search stage gets while it runs, with time and threads in the test's hands."""

    clock: Clock = field(default_factory=ManualClock)
    executor: Executor = field(default_factory=DirectExecutor)
    switch: Switch = field(default_factory=Switch)

    def check(self) -> None:
        self.switch.check()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadContext:
    """What an extractor gets while it reads a file."""

    max_chars: int = 1_000_000
    password: str | None = None
    languages: tuple[str, ...] = ("en",)
    switch: Switch = field(default_factory=Switch)

    def check(self) -> None:
        self.switch.check()


class FakeProcess:
    """A process that runs until the test, or its owner, ends it."""

    def __init__(self, pid: int, launch: Launch) -> None:
        self._pid = pid
        self._code: int | None = None
        self.launch = launch
        self.lines: list[str] = []
        self.ignores_terminate = False
        self.detached = False

    @property
    def pid(self) -> int:
        return self._pid

    def exit(self, code: int = 0, *lines: str) -> None:
        """Let the process end by itself, with last words in its log."""
        self.lines += lines
        if self._code is None:
            self._code = code

    def poll(self) -> int | None:
        return self._code

    def terminate(self) -> None:
        if not self.ignores_terminate:
            self.exit(-15)

    def kill(self) -> None:
        self.exit(-9)

    def wait(self, timeout_s: float) -> int | None:
        return self._code

    def log_tail(self, lines: int = 50) -> str:
        return "\n".join(self.lines[-lines:])

    def detach(self) -> None:
        self.detached = True


class FakeLauncher:
    """Starts no processes, but remembers which ones it was asked for.

    Args:
        prepare: Called with each new process, to let it exit at once or write to its log.
    """

    def __init__(self, prepare: Callable[[FakeProcess], None] | None = None) -> None:
        self._prepare = prepare
        self._error: OSError | None = None
        self.processes: list[FakeProcess] = []

    def fail(self, error: OSError | None = None) -> None:
        """Let the next start fail, as if the program were missing."""
        self._error = error or FileNotFoundError("no such program")

    def start(self, launch: Launch) -> FakeProcess:
        error, self._error = self._error, None
        if error is not None:
            raise error
        process = FakeProcess(1000 + len(self.processes), launch)
        self.processes.append(process)
        if self._prepare is not None:
            self._prepare(process)
        return process

    @property
    def running(self) -> list[FakeProcess]:
        """The processes that have not ended."""
        return [process for process in self.processes if process.poll() is None]
