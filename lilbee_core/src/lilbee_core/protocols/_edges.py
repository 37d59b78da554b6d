"""Time, cancellation, executors."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    pass

S = TypeVar("S")
T = TypeVar("T")


class Clock(Protocol):
    """Time, so that tests need no sleep."""

    def now(self) -> datetime:
        """The current time, aware, in the user's zone."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class CancelToken(Protocol):
    """Cooperative cancellation: long work calls `check` between stages, batches and pages."""

    def check(self) -> None:
        """Raise `Cancelled` when the work should stop."""
        ...


class Executor(Protocol):
    """Runs independent pieces of work: threads and processes here, a cluster behind an extra later."""

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """Yield `function(item)` in the order of `items`; the first failure is raised."""
        ...
