"""A job as a front end holds it: watch it, wait for it, cancel it."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Protocol

from lilbee_core.errors import Cancelled
from lilbee_core.events import Event, Progress
from lilbee_core.jobs._record import JobRecord, JobState
from lilbee_core.protocols import Clock

_KEPT_EVENTS = 1000
_SAVE_EVERY_S = 0.5
_ASK_EVERY_S = 0.5


class Keeper(Protocol):
    """Where records are kept, for this process and for others."""

    def save(self, record: JobRecord) -> None: ...

    def load(self, id: str) -> JobRecord | None: ...  # noqa: A002 - a job's own word for it

    def ask_to_cancel(self, id: str) -> None: ...  # noqa: A002

    def is_asked_to_cancel(self, id: str) -> bool: ...  # noqa: A002


class Job:
    """Work in the background. Threads may share it.

    A job of another process can be watched and cancelled too; its events stay there, so `follow` yields none.
    """

    def __init__(self, record: JobRecord, keeper: Keeper, clock: Clock, *, own: bool) -> None:
        self._record = record
        self._keeper = keeper
        self._clock = clock
        self._own = own
        self._changed = threading.Condition()
        self._events: deque[Event] = deque(maxlen=_KEPT_EVENTS)
        self._seen = 0
        self._cancel = threading.Event()
        self._saved_at = self._asked_at = float("-inf")

    def __repr__(self) -> str:
        record = self.record
        return f"Job({record.id!r}, {record.kind!r}, {record.state.value!r})"

    @property
    def id(self) -> str:
        """Names the job."""
        return self._record.id

    @property
    def kind(self) -> str:
        """What it does."""
        return self._record.kind

    @property
    def record(self) -> JobRecord:
        """Everything that is known of it now."""
        if not self._own and not self._record.state.is_over:
            self._record = self._keeper.load(self.id) or self._record
        return self._record

    @property
    def state(self) -> JobState:
        """Where it stands."""
        return self.record.state

    def to_dict(self) -> dict[str, object]:
        """Return the record as front ends show it."""
        return self.record.to_dict()

    def cancel(self) -> None:
        """Ask it to end at its next safe point; what was finished stays. A job that is over stays as it is."""
        if self._own:
            self._cancel.set()
        elif not self.state.is_over:
            self._keeper.ask_to_cancel(self.id)

    def wait(self, timeout_s: float | None = None) -> JobRecord:
        """Wait until it is over, at most so long, and return what is known of it then."""
        if self._own:
            with self._changed:
                self._changed.wait_for(lambda: self._record.state.is_over, timeout_s)
            return self._record
        deadline = None if timeout_s is None else self._clock.monotonic() + timeout_s
        while not self.state.is_over and (deadline is None or self._clock.monotonic() < deadline):
            self._clock.sleep(_ASK_EVERY_S)
        return self.record

    def follow(self) -> Iterator[Event]:
        """Yield its events, those of before first, until it is over. Only the latest thousand are kept."""
        seen, over = 0, False
        while not over:
            events, seen, over = self.since(seen)
            yield from events

    def since(self, seen: int, *, timeout_s: float | None = None) -> tuple[tuple[Event, ...], int, bool]:
        """Wait for more events than the first `seen`; return them, how many there were by then, and if that was all."""
        with self._changed:
            self._changed.wait_for(lambda: self._seen > seen or self._is_silent, timeout_s)
            fresh = tuple(self._events)[-(self._seen - seen) :] if self._seen > seen else ()
            return fresh, self._seen, self._is_silent

    @property
    def _is_silent(self) -> bool:
        """Whether no more events will come."""
        return self._record.state.is_over or not self._own

    # ------------------------------------------------------------------ for the one who works on it

    def check(self) -> None:
        """Raise `Cancelled` once somebody asked for the end, here or in another process."""
        if not self._cancel.is_set():
            now = self._clock.monotonic()
            if now - self._asked_at < _ASK_EVERY_S:
                return
            self._asked_at = now
            if not self._keeper.is_asked_to_cancel(self.id):
                return
            self._cancel.set()
        raise Cancelled("cancelled on request", hint="Start it again to go on.")

    def tell(self, event: Event) -> None:
        """Take an event; progress is kept for other processes too, twice a second."""
        with self._changed:
            self._events.append(event)
            self._seen += 1
            if isinstance(event, Progress):
                self._record = replace(
                    self._record, phase=event.phase, done=event.done, total=event.total, unit=event.unit
                )
            self._changed.notify_all()
        now = self._clock.monotonic()
        if isinstance(event, Progress) and now - self._saved_at >= _SAVE_EVERY_S:
            self._saved_at = now
            self._keeper.save(self._record)

    def update(self, change: Callable[[JobRecord], JobRecord]) -> JobRecord:
        """Change the record, here and where it is kept; whoever waits sees it afterwards."""
        with self._changed:
            record = change(self._record)
        try:
            self._keeper.save(record)
        finally:
            with self._changed:
                self._record = record
                self._changed.notify_all()
        return record
