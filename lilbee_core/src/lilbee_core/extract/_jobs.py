"""One file on its way through the workers, and the files of one call."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from lilbee_core.errors import LilbeeError
from lilbee_core.extract._pictures import FOR_READING, Look
from lilbee_core.extract._wire import Outcome, Recipe
from lilbee_core.types import Document, Source

Result = tuple[Source, Document | LilbeeError]
Delivered = tuple[Source, Outcome, bool]
"""A file, what came of it, and whether that is final."""
Fallback = Callable[[Source, LilbeeError], Document | LilbeeError]
_POLL_S = 0.1


class Stoppable(Protocol):
    """A worker process, as far as a job knows it."""

    def stop(self) -> None: ...


class Job:
    """A file to be read elsewhere. Its first result counts; later ones are dropped."""

    def __init__(
        self,
        source: Source,
        deliver: Callable[[Job, Outcome], None],
        *,
        recipe: Recipe | None = None,
        page: int | None = None,
        at: tuple[int, ...] = (),
        look: Look = FOR_READING,
        fallback: Fallback | None = None,
        deadline: float | None = None,
        expired: LilbeeError | None = None,
        final: bool = False,
    ) -> None:
        """Take the file; a result that is `final` needs nothing more done to it."""
        self.source = source
        self.final = final
        self.recipe = recipe
        self.page = page
        self.at = at
        self.look = look
        self.fallback = fallback
        self.deadline = deadline
        self._expired = expired
        self._deliver = deliver
        self._lock = threading.Lock()
        self._done = False
        self._process: Stoppable | None = None

    @property
    def done(self) -> bool:
        return self._done

    def attach(self, process: Stoppable) -> bool:
        """Note which process reads the file; False when nobody waits for it any more."""
        with self._lock:
            if self._done:
                return False
            self._process = process
            return True

    def detach(self) -> None:
        """Note that the process is free again."""
        with self._lock:
            self._process = None

    def finish(self, result: Outcome) -> None:
        """Hand over the result, unless one was handed over before."""
        with self._lock:
            if self._done:
                return
            self._done = True
        self._deliver(self, result)

    def cancel(self) -> None:
        """Give the file up; a process that reads it is stopped."""
        with self._lock:
            self._done = True
            process = self._process
        if process is not None:
            process.stop()

    def expire(self, now: float) -> None:
        """Give the file up when its time is over and no process can be killed for it."""
        if self.deadline is not None and now > self.deadline and self._expired is not None:
            self.finish(self._expired)


class Call:
    """The files of one call of `ExtractPool.extract` that are under way. Used by one thread."""

    def __init__(self, check: Callable[[], None]) -> None:
        self.check = check
        self.given_up = False
        self._jobs: set[Job] = set()
        self._finished: queue.SimpleQueue[tuple[Job, Outcome]] = queue.SimpleQueue()

    @property
    def pending(self) -> int:
        """How many files are not done."""
        return len(self._jobs)

    def add(self, job: Job) -> Job:
        """Count a file as under way."""
        self._jobs.add(job)
        return job

    def deliver(self, job: Job, result: Outcome) -> None:
        """Take a result from any thread."""
        self._finished.put((job, result))

    def ready(self) -> Iterator[Delivered]:
        """Yield what is done, without waiting."""
        while not self._finished.empty():
            yield self._take(*self._finished.get())

    def wait(self) -> Delivered:
        """Wait for the next file to be done; may raise what `check` raises."""
        while True:
            self.check()
            try:
                return self._take(*self._finished.get(timeout=_POLL_S))
            except queue.Empty:
                now = time.monotonic()
                for job in tuple(self._jobs):
                    job.expire(now)

    def _take(self, job: Job, result: Outcome) -> Delivered:
        self._jobs.discard(job)
        return job.source, result, job.final

    def abandon(self) -> None:
        """Give up everything that is not done."""
        self.given_up = True
        for job in self._jobs:
            job.cancel()
        self._jobs.clear()
