"""A thread that owns one worker process and feeds it files."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable

from lilbee_core.errors import Cancelled, ExtractError, LilbeeError
from lilbee_core.extract._jobs import Job
from lilbee_core.extract._process import Loss, WorkerLost, WorkerProcess
from lilbee_core.extract._run import crashed, out_of_memory, timed_out
from lilbee_core.extract._wire import Outcome, Reply, Setup, Task
from lilbee_core.types import Document, Source

log = logging.getLogger(__name__)

_ATTEMPTS = 3


class Lane:
    """Takes jobs from a shared queue, one at a time, until it finds None there or is stopped.

    The thread itself starts the process: on Linux a process is told of the end of the *thread* that started it.
    """

    def __init__(
        self,
        jobs: queue.SimpleQueue[Job | None],
        setup: Callable[[], Setup],
        *,
        timeout_s: float,
        memory_mb: int | None,
        recycle_after: int,
    ) -> None:
        """Take the settings; `memory_mb` is given where the process cannot limit its memory itself."""
        self._jobs = jobs
        self._setup = setup
        self._timeout_s = timeout_s
        self._memory_mb = memory_mb
        self._recycle_after = recycle_after
        self._process: WorkerProcess | None = None
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="lilbee-extract", daemon=True)
        self.busy = False

    @property
    def pid(self) -> int | None:
        """Id of the process, if one runs."""
        process = self._process
        return process.pid if process is not None else None

    def start(self) -> None:
        """Start the thread; its process comes with the first job."""
        self._thread.start()

    def stop(self) -> None:
        """Give up what is being read."""
        self._stopping = True
        if self.busy and (process := self._process) is not None:
            process.stop()

    def join(self) -> None:
        """Wait for the thread to end, with its process."""
        if self._thread is threading.current_thread():
            return
        self._thread.join(timeout=3)
        if (process := self._process) is not None:
            process.stop()
        self._thread.join(timeout=10)

    def watch(self) -> None:
        """Kill the process when its file takes too long or too much; called every now and then."""
        if (process := self._process) is not None:
            process.expire(memory_mb=self._memory_mb)

    def _run(self) -> None:
        try:
            while not self._stopping and (job := self._jobs.get()) is not None:
                self.busy = True
                job.finish(self._read(job))
                self.busy = False
        finally:
            self._drop()

    def _read(self, job: Job) -> Outcome:
        """Read one file. A worker that was not fresh may suffer from an earlier file, so a new one gets a try."""
        for _ in range(_ATTEMPTS):
            try:
                return self._try(job)
            except WorkerLost as lost:
                fresh = self._process is None or self._process.files <= 1
                self._drop()
                if lost.loss is Loss.STOPPED and not (job.done or self._stopping):
                    continue
                if lost.loss in (Loss.CRASH, Loss.MEMORY) and not fresh:
                    continue
                return self._failure(job, lost)
        return crashed(job.source)

    def _try(self, job: Job) -> Outcome:
        if job.recipe is None and job.page is None:
            raise TypeError("a job without a recipe cannot be sent to a worker")
        process = self._ready_process()
        if self._stopping or not job.attach(process):
            return _given_up(job.source)
        try:
            reply: Reply = process.ask(
                Task(source=job.source, recipe=job.recipe, page=job.page, at=job.at, look=job.look),
                timeout_s=self._timeout_s,
            )
        finally:
            job.detach()
        return reply.result if reply.result is not None else crashed(job.source)

    def _ready_process(self) -> WorkerProcess:
        if self._process is not None and (self._process.files >= self._recycle_after or not self._process.running):
            self._drop()
        if self._process is None:
            self._process = WorkerProcess(self._setup())
            self._process.start()
        return self._process

    def _drop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _failure(self, job: Job, lost: WorkerLost) -> Document | LilbeeError:
        if lost.noise:
            log.debug("a reader process ended (%s): %s", lost.loss, lost.noise.strip()[-1000:])
        error = self._error(job.source, lost)
        if job.fallback is not None and lost.loss in (Loss.TIMEOUT, Loss.MEMORY, Loss.CRASH):
            return job.fallback(job.source, error)
        return error

    def _error(self, source: Source, lost: WorkerLost) -> LilbeeError:
        match lost.loss:
            case Loss.TIMEOUT:
                return timed_out(source, self._timeout_s)
            case Loss.MEMORY:
                return out_of_memory(source, self._setup().memory_mb)
            case Loss.STOPPED:
                return _given_up(source)
            case Loss.NOT_STARTED:
                last = lost.noise.strip().splitlines()[-1:] or ["no reason given"]
                return ExtractError(
                    f"{source.path} was not read: the reader process does not start ({last[0][:200]})",
                    hint="Check that Python can start other processes here and that memory is left.",
                    code="extract.crashed",
                )
            case _:
                return crashed(source)


def _given_up(source: Source) -> Cancelled:
    return Cancelled(f"reading {source.path} was given up")
