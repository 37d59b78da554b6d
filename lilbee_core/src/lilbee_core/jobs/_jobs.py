"""Starts jobs, one after the other, and remembers them."""

from __future__ import annotations

import inspect
import json
import logging
import os
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC
from functools import partial
from typing import TypeAlias, cast

from lilbee_core.arguments import checked
from lilbee_core.errors import Cancelled, InvalidArgument, LibraryError, LilbeeError, NotFound
from lilbee_core.events import EventSink
from lilbee_core.jobs._job import Job
from lilbee_core.jobs._owner import Owner
from lilbee_core.jobs._record import JobRecord, JobState, record_from
from lilbee_core.protocols import CancelToken, Clock, StateStore

log = logging.getLogger(__name__)

Work: TypeAlias = Callable[..., Mapping[str, object]]
"""Takes a cancel token, an event sink and the job's options by keyword; returns the result. A result whose
``cancelled`` is true says that it ended early on request."""

_KIND, _ASKED = "job", "job.cancel"
_KEPT = 100
_CLOSE_S = 10.0


@checked
class Jobs:
    """The jobs of a library: those of this process, run one at a time in a thread, and those of others.

    They write the index, so a second one would only wait for the first. Those of a kind that runs `beside` the others,
    since it has no end of its own or writes no index, have a thread each. Close it to cancel what runs. Threads may
    share it.

    Args:
        kinds: What does the work, by kind.
        state: Where records are kept.
        clock: Tells when something happened.
        beside: Kinds that run beside the others.
        prepare: Makes the folder that the state lies in.
    """

    def __init__(
        self,
        kinds: Mapping[str, Work],
        state: StateStore,
        clock: Clock,
        *,
        beside: Collection[str] = (),
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        self._prepare = prepare
        self._kinds = dict(kinds)
        self._beside = frozenset(beside)
        self._state = state
        self._clock = clock
        self._own: dict[str, Job] = {}
        self._waiting: deque[Job] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._threads: list[threading.Thread] = []
        self._closed = False

    def start(self, kind: str, **options: object) -> Job:
        """Queue a job and return at once.

        Raises:
            InvalidArgument: If there is no such kind, or it does not take these options.
            LibraryError: If the library is closed, or its data cannot be written.
        """
        self._check(kind, options)
        self._prepare()
        record = JobRecord(
            id=secrets.token_hex(6), kind=kind, options=_plain(options), created_at=self._now(), owner=Owner.me()
        )
        job = Job(record, self, self._clock, own=True)
        with self._changed:
            if self._closed:
                raise LibraryError("this library is closed", hint="Open it again.", code="library.closed")
            self.save(record)
            self._own[job.id] = job
            self._queue(job)
        self._prune()
        return job

    def list(self) -> tuple[JobRecord, ...]:
        """Return all jobs that are remembered, newest first, those of other processes too."""
        found = [self._checked(record_from(value)) for _, value in self._state.items(_KIND)]
        return tuple(sorted(found, key=lambda one: (one.created_at, one.id), reverse=True))

    def running(self, kind: str) -> tuple[Job, ...]:
        """Return the jobs of a kind that this process works on, or will."""
        with self._changed:
            own = tuple(self._own.values())
        return tuple(job for job in own if job.kind == kind and not job.state.is_over)

    def get(self, id: str) -> Job | None:  # noqa: A002 - a job's own word for it
        """Return a job, also one of another process, or None."""
        own = self._own.get(id)
        if own is not None:
            return own
        record = self.load(id)
        return None if record is None else Job(record, self, self._clock, own=False)

    def require(self, id: str) -> Job:  # noqa: A002
        """Return a job.

        Raises:
            NotFound: If there is none.
        """
        job = self.get(id)
        if job is None:
            raise NotFound(f"there is no job {id!r}", hint="List the jobs to see their ids.")
        return job

    def close(self) -> None:
        """Cancel what runs or waits, and wait until it has ended."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            for job in self._own.values():
                job.cancel()
        deadline = time.monotonic() + _CLOSE_S
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))

    # ------------------------------------------------------------------ where records are kept

    def save(self, record: JobRecord) -> None:
        """Keep a record."""
        self._state.save(_KIND, record.id, record.to_state())

    def load(self, id: str) -> JobRecord | None:  # noqa: A002
        """Return a record; one whose process has ended before it is lost."""
        value = self._state.load(_KIND, id)
        return None if value is None else self._checked(record_from(value))

    def ask_to_cancel(self, id: str) -> None:  # noqa: A002
        """Leave word for the process that works on a job."""
        self._state.save(_ASKED, id, {"at": self._now()})

    def is_asked_to_cancel(self, id: str) -> bool:  # noqa: A002
        """Say whether somebody left word to end a job."""
        return self._state.load(_ASKED, id) is not None

    def _checked(self, record: JobRecord) -> JobRecord:
        if record.id in self._own:
            return self._own[record.id].record
        if record.state.is_over or record.owner is None or record.owner.is_alive:
            return record
        lost = replace(
            record,
            state=JobState.LOST,
            finished_at=self._now(),
            error=LilbeeError("its process ended before it did", hint="Start it again.", code="job.lost").to_dict(),
        )
        with suppress(LilbeeError):  # where nothing can be written it is lost all the same
            self.save(lost)
        return lost

    def _prune(self) -> None:
        """Forget the oldest jobs that are over."""
        over = [record for record in self.list() if record.state.is_over]
        for record in over[_KEPT:]:
            self._state.delete(_KIND, record.id)
            self._state.delete(_ASKED, record.id)
            self._own.pop(record.id, None)

    # ------------------------------------------------------------------ work

    def _check(self, kind: str, options: Mapping[str, object]) -> None:
        work = self._kinds.get(kind)
        if work is None:
            raise InvalidArgument(
                f"there is no job of kind {kind!r}", hint=f"Choose one of {', '.join(sorted(self._kinds))}."
            )
        signature = inspect.signature(work)
        try:
            signature.bind(None, None, **options)
        except TypeError as error:
            allowed = ", ".join(name for name, one in signature.parameters.items() if one.kind is one.KEYWORD_ONLY)
            raise InvalidArgument(
                f"a job of kind {kind!r} does not take these options: {error}",
                hint=f"It takes {allowed}." if allowed else "It takes none.",
            ) from error

    def _queue(self, job: Job) -> None:
        """Have a job run in its turn, or in a thread of its own."""
        if job.kind in self._beside:
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self._begin(partial(self._work_recorded, job), f"lilbee-{job.kind}")
            return
        self._waiting.append(job)
        if self._thread is None:
            self._thread = self._begin(self._run, "lilbee-jobs")
        self._changed.notify_all()

    def _begin(self, target: Callable[[], None], name: str) -> threading.Thread:
        thread = threading.Thread(target=target, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()
        return thread

    def _run(self) -> None:
        while (job := self._next()) is not None:
            self._work_recorded(job)

    def _work_recorded(self, job: Job) -> None:
        try:
            self._work(job)
        except LilbeeError:
            log.exception("job %s could not be recorded", job.id)

    def _next(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed)
            return self._waiting.popleft() if self._waiting else None

    def _work(self, job: Job) -> None:
        try:
            job.check()
            job.update(lambda record: replace(record, state=JobState.RUNNING, started_at=self._now()))
            result = dict(self._call(self._kinds[job.kind], job, job.tell, job.record.options))
        except Cancelled:
            self._end(job, JobState.CANCELLED)
        except LilbeeError as error:
            self._end(job, JobState.FAILED, error=error.to_dict())
        except BaseException as error:  # said in the record, since nobody sees this thread
            # Not only bugs: a panic of a native library is no Exception, and whoever waits must not wait for ever.
            log.exception("job %s failed", job.id)
            said = LilbeeError(f"{type(error).__name__}: {error}", hint="See the log.", code="job.failed")
            self._end(job, JobState.FAILED, error=said.to_dict())
        else:
            self._end(job, JobState.CANCELLED if result.get("cancelled") else JobState.DONE, result=result)

    @staticmethod
    def _call(
        work: Work, cancel: CancelToken, events: EventSink, options: Mapping[str, object]
    ) -> Mapping[str, object]:
        return work(cancel, events, **options)

    def _end(
        self,
        job: Job,
        state: JobState,
        *,
        result: Mapping[str, object] | None = None,
        error: Mapping[str, object] | None = None,
    ) -> None:
        job.update(lambda record: replace(record, state=state, result=result, error=error, finished_at=self._now()))
        self._state.delete(_ASKED, job.id)

    def _now(self) -> str:
        return self._clock.now().astimezone(UTC).isoformat(timespec="microseconds")


def _plain(options: Mapping[str, object]) -> dict[str, object]:
    """Return the options as they are kept: lists, strings, numbers; paths become strings.

    Raises:
        InvalidArgument: If one is something else.
    """
    try:
        return cast("dict[str, object]", json.loads(json.dumps(dict(options), default=os.fspath)))
    except (TypeError, ValueError) as error:
        raise InvalidArgument(f"an option cannot be kept: {error}", hint="Give strings, numbers, lists.") from error
