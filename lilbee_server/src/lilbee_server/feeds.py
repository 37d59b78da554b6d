"""What happens in jobs, told to many clients by one thread a job."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Generator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from lilbee_core.events import Event

if TYPE_CHECKING:
    from lilbee_core.jobs import Job

_LOOK_EVERY_S = 1.0
"""How soon a thread notices that nobody follows any longer."""


class Feed:
    """Wakes those who follow a job when something happened in it. Made and used in one event loop."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._over = False
        self._left = threading.Event()
        self.followers = 0
        threading.Thread(target=self._watch, name="lilbee-feed", daemon=True).start()

    async def follow(self, seen: int, *, heartbeat_s: float) -> AsyncIterator[tuple[int, Event] | None]:
        """Yield the events after the first `seen` with their numbers, None where nothing happens, until the end."""
        while True:
            over, changed = self._over, self._changed
            events, seen, _ = self._job.since(seen, timeout_s=0)
            for number, event in enumerate(events, start=seen - len(events) + 1):
                yield number, event
            if over:
                return
            try:
                async with asyncio.timeout(heartbeat_s):
                    await changed.wait()
            except TimeoutError:
                yield None

    def leave(self) -> None:
        """End the thread: nobody follows any longer."""
        self._left.set()

    def _watch(self) -> None:
        seen = 0
        while not self._over and not self._left.is_set():
            before = seen
            _, seen, silent = self._job.since(before, timeout_s=_LOOK_EVERY_S)
            if silent:  # it is over, or works in another process, which tells nothing of it here
                self._job.wait(_LOOK_EVERY_S)
                self._over = self._job.state.is_over
            if seen != before or self._over:
                with suppress(RuntimeError):  # the server went away meanwhile
                    self._loop.call_soon_threadsafe(self._notify)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class Feeds:
    """The feeds of jobs that somebody follows. Used from one event loop."""

    def __init__(self) -> None:
        self._known: dict[str, Feed] = {}

    @contextmanager
    def of(self, job: Job) -> Generator[Feed]:
        """Give the feed of a job for as long as it is followed."""
        feed = self._known.get(job.id)
        if feed is None:
            feed = self._known[job.id] = Feed(job)
        feed.followers += 1
        try:
            yield feed
        finally:
            feed.followers -= 1
            if not feed.followers:
                feed.leave()
                self._known.pop(job.id, None)
