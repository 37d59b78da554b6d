"""Stages side by side, on threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")

_MOST_THREADS = 4


class ThreadExecutor:
    """Does pieces of work at the same time; the first one, and any that no thread has begun, in the caller's thread.

    So a piece of work may use the executor itself, and never waits for a thread that waits for it. Threads start
    with the first use and end with `close`; they may be shared.
    """

    def __init__(self, *, threads: int = _MOST_THREADS) -> None:
        self._threads = threads
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """Yield what the function makes of each item, in the order of the items; the first failure is raised."""
        listed = list(items)
        if len(listed) < 2:
            yield from map(function, listed)
            return
        pool = self._opened()
        futures = [pool.submit(function, item) for item in listed[1:]]
        try:
            yield function(listed[0])
            for future, item in zip(futures, listed[1:], strict=True):
                yield function(item) if future.cancel() else future.result()
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        """End the threads; safe to call twice."""
        with self._lock:
            self._closed = True
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=True)

    def _opened(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._closed:
                raise ValueError("this executor is closed")
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="lilbee-search")
            return self._pool
