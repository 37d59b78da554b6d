"""What a running search gives its stages: time, an executor, and the wish to stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from lilbee_core.protocols import CancelToken, Clock, Executor

S = TypeVar("S")
T = TypeVar("T")


class InlineExecutor:
    """Runs one piece of work after the other, in the caller's thread."""

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        return map(function, items)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunContext:
    """The `SearchContext` of one search."""

    clock: Clock
    executor: Executor
    cancel: CancelToken | None = None

    def check(self) -> None:
        """Raise `Cancelled` when the caller gave up."""
        if self.cancel is not None:
            self.cancel.check()
