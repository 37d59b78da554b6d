"""Calls in worker threads, for async code."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from lilbee_core.library import CancelSwitch

if TYPE_CHECKING:
    import anyio

    from lilbee_core.protocols import CancelToken

T = TypeVar("T")
_END = object()


class Threads:
    """Runs calls in worker threads, at most so many at once."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._limiter: anyio.CapacityLimiter | None = None

    async def run(self, call: Callable[[], T]) -> T:
        from anyio import CapacityLimiter, to_thread

        if self._limiter is None:
            self._limiter = CapacityLimiter(self._limit)
        return await to_thread.run_sync(call, limiter=self._limiter)

    async def run_cancellable(self, call: Callable[[CancelToken], T], cancel: CancelToken | None) -> T:
        """Run long work; when the task is cancelled, the work ends at its next safe point, then the task."""
        import anyio

        token = _TaskToken(cancel)
        outcome: list[T | Exception] = []
        done = anyio.Event()

        async def work() -> None:
            try:
                outcome.append(await self.run(partial(call, token)))
            except Exception as error:  # noqa: BLE001 - raised below: out of the group it comes as a group of errors
                outcome.append(error)
            finally:
                done.set()

        async with anyio.create_task_group() as group:
            group.start_soon(work)
            try:
                await done.wait()
            except anyio.get_cancelled_exc_class():
                # The thread cannot be abandoned, since it holds the writer lock: the group waits until it has ended.
                token.switch.cancel()
                raise
        (result,) = outcome
        if isinstance(result, Exception):
            raise result
        return result

    async def iterate(self, start: Callable[[], Iterator[T]]) -> AsyncGenerator[T]:
        """Turn an iterator into an async one, item by item; leaving early closes it."""
        import anyio

        steps = _Steps(await self.run(start))
        try:
            while (item := await self.run(steps.take)) is not _END:
                yield cast("T", item)
        finally:
            with anyio.CancelScope(shield=True):
                await self.run(steps.close)


class _TaskToken:
    """Cancels when the task does, and when the caller's own token does."""

    def __init__(self, inner: CancelToken | None) -> None:
        self.switch = CancelSwitch()
        self._inner = inner

    def check(self) -> None:
        self.switch.check()
        if self._inner is not None:
            self._inner.check()


class _Steps:
    """An iterator that is advanced and closed from different threads, one after the other."""

    def __init__(self, iterator: Iterator[object]) -> None:
        self._iterator = iterator
        self._lock = threading.Lock()

    def take(self) -> object:
        with self._lock:
            return next(self._iterator, _END)

    def close(self) -> None:
        close = getattr(self._iterator, "close", None)
        if close is not None:
            with self._lock:
                close()
