"""Doing one thing with many items in a few threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from threading import Event, Lock

from lilbee_core.background import give_way


def for_each(indices: Iterable[int], do: Callable[[int], None], *, threads: int) -> None:
    """Call `do` with every index, in up to `threads` threads; the first failure ends them all and is raised.

    The threads live as long as the call: that costs microseconds, and nothing is left to close or to break in a fork.
    """
    pending = iter(indices)
    lock, stopped = Lock(), Event()

    def work() -> None:
        while not stopped.is_set():
            give_way()
            with lock:
                index = next(pending, None)
            if index is None:
                return
            try:
                do(index)
            except BaseException:
                stopped.set()
                raise

    if threads <= 1:
        work()
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="lilbee-embed") as pool:
        running = [pool.submit(copy_context().run, work) for _ in range(threads)]
        try:
            for future in running:
                future.result()
        finally:
            stopped.set()
