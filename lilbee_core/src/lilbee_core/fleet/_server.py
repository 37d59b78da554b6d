"""One server of the fleet: started once however many ask for it, watched, rested, and stopped."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.errors import FleetError
from lilbee_core.events import ServerStarted, ServerStopped
from lilbee_core.fleet import _failing, _logs
from lilbee_core.fleet._loading import (
    LOG_LINES,
    Attempt,
    Surroundings,
    backoff_s,
    endpoint_at,
    port_in,
    signature_of,
    weights_bytes,
)
from lilbee_core.fleet._probe import Health
from lilbee_core.fleet._state import ProcessMark, ServerRecord, file_stem, plain_name
from lilbee_core.protocols import Endpoint
from lilbee_core.types import LoadProgress, PlacedServer, ServerStatus

if TYPE_CHECKING:
    from lilbee_core.protocols import ProcessHandle

log = logging.getLogger(__name__)

_TERMINATE_S = 5.0
_PARTING_S = 0.25
MOST_RESTARTS = 5
COOLDOWN_S = 2.0
GONE = "fleet.gone"
STEADY_S = 60.0
"""A server that ran this long is well: what failed before no longer counts."""


class State(StrEnum):
    """Where a server is in its life."""

    STOPPED = "stopped"
    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    STOPPING = "stopping"


class Server:
    """A server and its process. Threads may share it.

    `begin` is single-flight: the first caller has it started in a thread of its own, all get the same outcome.
    `record` is called whenever what should be on disk about it has changed, `is_recorded` tells whether it still is:
    a process that is gone together with its record was ended by somebody on purpose.
    """

    def __str__(self) -> str:
        return self.placed.id

    def __init__(
        self,
        placed: PlacedServer,
        around: Surroundings,
        *,
        record: Callable[[], None],
        is_recorded: Callable[[], bool] = lambda: True,
    ) -> None:
        self.placed = placed
        self._around = around
        self._record, self._is_recorded = record, is_recorded
        self._lock = threading.RLock()
        self._work = threading.Lock()  # held while a process is started or ended
        self._state = State.STOPPED
        self._process: ProcessHandle | None = None
        self._mark: ProcessMark | None = None
        self._key = ""
        self._signature: tuple[str, ...] = ()
        self._endpoint: Endpoint | None = None
        self._starting: Future[Endpoint] | None = None
        self._attempt: Attempt | None = None
        self._error: FleetError | None = None
        self._failures = 0
        self._crashed = self._gone = False
        self._retry_at = self._ready_at = self._last_used = self._cooling_until = 0.0
        self._adopted = False
        stem = file_stem(placed.id, around.owner)
        self.log_file, self._key_file = around.folder / f"{stem}.log", around.folder / f"{stem}.key"
        self.in_flight = 0
        self.starts = 0

    @property
    def id(self) -> str:
        """The server's name within the fleet."""
        return self.placed.id

    @property
    def state(self) -> State:
        return self._state

    @property
    def endpoint(self) -> Endpoint | None:
        """Where it listens, while it is ready."""
        return self._endpoint if self._state is State.READY else None

    @property
    def error(self) -> FleetError | None:
        """Why it is not there, if it failed."""
        return self._error

    @property
    def cooling_s(self) -> float:
        """How long it is still avoided after a failed connection."""
        return max(0.0, self._cooling_until - self._around.clock.monotonic())

    @property
    def may_start(self) -> bool:
        """Whether it is stopped, or failed and its back-off is over."""
        with self._lock:
            if self._state is State.FAILED:
                return self._around.clock.monotonic() >= self._retry_at
            return self._state is State.STOPPED

    def wait_out(self, longest_s: float) -> None:
        """Wait until it may be tried again, if it ran and died, and that is soon."""
        with self._lock:
            left = self._retry_at - self._around.clock.monotonic()
            waits = self._state is State.FAILED and self._crashed and 0 < left <= longest_s
        if waits:
            self._around.clock.sleep(left)

    @property
    def wants_restart(self) -> bool:
        """Whether it ran, died, and may be tried again. What did not even load waits until it is asked for."""
        with self._lock:
            failed = (
                not self._gone and self._state is State.FAILED and self._crashed and self._failures <= MOST_RESTARTS
            )
            return failed and self.may_start

    # ------------------------------------------------------------------ starting

    def begin(self) -> Future[Endpoint]:
        """Begin to start it, if nobody has, and return what will be known then.

        A server that failed just now is not tried again before its back-off is over: its error is what it left.
        """
        with self._lock:
            if self._starting is not None:
                return self._starting
            future: Future[Endpoint] = Future()
            if self._gone:
                future.set_exception(FleetError(f"the server {self.id} is no more", hint="Try again.", code=GONE))
                return future
            if self._state is State.READY and self._endpoint is not None:
                future.set_result(self._endpoint)
                return future
            if self._state is State.FAILED and self._error is not None and not self.may_start:
                future.set_exception(self._error)
                return future
            attempt = Attempt(self.placed, self._around, key_file=self._key_file, log_file=self.log_file)
            self._starting, self._attempt, self._state = future, attempt, State.STARTING
        name = f"lilbee-fleet-{self.id}"
        threading.Thread(target=self._run, args=(attempt, future), name=name, daemon=True).start()
        return future

    def _run(self, attempt: Attempt, future: Future[Endpoint]) -> None:
        with self._work:
            try:
                endpoint = attempt.run(lambda: self._follow(attempt), self._is_recorded)
                self._now_ready(endpoint)
            except FleetError as error:
                self._give_up(attempt, error)
                future.set_exception(error)
                return
            except BaseException as error:  # whatever went wrong, nobody may be left waiting
                log.exception("the server %s could not be started", self.id)
                wrapped = FleetError(
                    f"the server {self.id} could not be started: {type(error).__name__}: {error}",
                    hint="Check the folder of the fleet's state, and run `lilbee doctor`.",
                    code="fleet.start_failed",
                )
                self._give_up(attempt, wrapped)
                future.set_exception(wrapped)
                return
        future.set_result(endpoint)
        self._around.events(ServerStarted(role=self.placed.role, endpoint=endpoint.base_url))

    def _follow(self, attempt: Attempt) -> None:
        """Take over what an attempt has come to, and write it down."""
        with self._lock:
            self._key, self._signature, self._adopted = attempt.key, attempt.signature, False
            self._process, self._mark = attempt.process, attempt.mark
            self.starts += attempt.process is not None
        self._record()

    def _give_up(self, attempt: Attempt, error: FleetError) -> None:
        self._process = attempt.process
        self._end_process()
        self._keep_log()
        with self._lock:
            wanted = attempt.wanted
            self._starting = self._attempt = None
            self._state = State.FAILED if wanted else State.STOPPED
            self._error = error if wanted else None
            if wanted:
                self._count_failure(loading=True)
        self._try_to_record()

    def _count_failure(self, *, loading: bool) -> None:
        self._failures += 1
        # What died may come back at once; what did not load will not load a moment later either.
        self._retry_at = self._around.clock.monotonic() + backoff_s(self._failures + loading)

    def _now_ready(self, endpoint: Endpoint) -> None:
        with self._lock:
            self._endpoint, self._state, self._error = endpoint, State.READY, None
            self._starting = self._attempt = None
            self._ready_at = self._last_used = self._around.clock.monotonic()
            self._cooling_until, self._crashed = 0.0, False
        _discard(self._key_file)  # the server has read it
        self._record()

    def progress(self) -> LoadProgress:
        """Return how far it is."""
        total = weights_bytes(self.placed)
        process = self._process
        if self._state is State.READY:
            return LoadProgress(phase="ready", bytes_read=total, bytes_total=total)
        if self._state is not State.STARTING or process is None:
            phase = "starting" if self._state is State.STARTING else "waiting"
            return LoadProgress(phase=phase, bytes_total=total)
        read = min(self._around.bytes_read(process.pid), total)
        return LoadProgress(phase="loading", bytes_read=read, bytes_total=total)

    # ------------------------------------------------------------------ use

    def enter(self) -> None:
        """Count a request that goes to it. The caller holds the lock of its role."""
        self.in_flight += 1
        self._last_used = self._around.clock.monotonic()

    def leave(self, *, failed: bool) -> None:
        """Count a request that is over; after a failed connection the server is avoided for a while."""
        self.in_flight -= 1
        now = self._last_used = self._around.clock.monotonic()
        self._cooling_until = now + COOLDOWN_S if failed else 0.0
        if not failed:
            self._failures = 0

    # ------------------------------------------------------------------ watching

    def look(self) -> bool:
        """See whether its process still runs. True: it has just been found dead."""
        with self._lock:
            process = self._process
            if self._state is not State.READY or process is None:
                return False
            code, now = process.poll(), self._around.clock.monotonic()
            if now - self._ready_at >= STEADY_S:
                self._failures = 0
            if code is None:
                return False
            wanted = self._is_recorded()
            self._state = State.FAILED if wanted else State.STOPPED
            self._endpoint = self._process = self._mark = None
            if wanted:
                self._crashed = True
                self._count_failure(loading=False)
                self._error = _failing.died(self.id, code, process.log_tail(LOG_LINES))
                log.warning("%s", self._error.message)
        self._keep_log()
        self._try_to_record()
        self._around.events(ServerStopped(role=self.placed.role, server=self.id, reason="died"))
        return True

    def examine(self) -> None:
        """Find out what is wrong after a failed connection, and end a process that answers nothing at all."""
        process, endpoint = self._process, self.endpoint
        if process is None or endpoint is None:
            return
        # One that dies closes its connections a moment before it is gone.
        if process.wait(_PARTING_S) is None and self._around.probe.health(endpoint) is Health.DOWN:
            log.warning("the server %s answers nothing and is ended", self.id)
            process.kill()
            process.wait(_TERMINATE_S)
        self.look()

    def retire(self, idle_s: float) -> bool:
        """Take no more requests if nobody has used it for this long; True: it may be stopped.

        The caller holds the lock of its role, so that no request is on its way to it.
        """
        with self._lock:
            idle = self._around.clock.monotonic() - self._last_used
            if self._state is not State.READY or self.in_flight or idle < idle_s:
                return False
            self._state, self._endpoint = State.STOPPING, None
            return True

    def shorten_log(self) -> None:
        """Keep its log from growing without end."""
        if self._process is not None:
            _logs.shorten(self.log_file)

    # ------------------------------------------------------------------ ending

    def ask_to_end(self) -> None:
        """Ask it to end for good, without waiting for it: `close` has to follow."""
        with self._lock:
            self._gone = True
            attempt, process = self._attempt, self._process
            if self._state is State.READY:
                self._state, self._endpoint = State.STOPPING, None
        if attempt is not None:
            attempt.give_up()
        if process is not None:
            process.terminate()

    def close(self, reason: str = "closed") -> None:
        """End it for good, with all that it left on disk."""
        with self._lock:
            self._gone = True
        self.stop(reason)
        self._keep_log()
        _discard(self._key_file)

    def stop(self, reason: str = "closed") -> None:
        """End it and wait until it is gone; one that is just being started is given up."""
        with self._lock:
            attempt = self._attempt
        if attempt is not None:
            attempt.give_up()
        with self._work:
            with self._lock:
                if self._process is None:
                    return
                self._state, self._endpoint = State.STOPPING, None
            self._end_process()
            with self._lock:
                # Whoever asked for it meanwhile has it started as soon as this is over.
                self._state = State.STOPPED if self._starting is None else State.STARTING
                self._failures = 0
            self._keep_log()
            self._try_to_record()
        self._around.events(ServerStopped(role=self.placed.role, server=self.id, reason=reason))

    def _keep_log(self) -> None:
        _logs.keep(self.log_file, plain_name(self.id))

    def _end_process(self) -> None:
        process = self._process
        if process is not None:
            process.terminate()
            if process.wait(_TERMINATE_S) is None:
                process.kill()
                process.wait(_TERMINATE_S)
        with self._lock:
            self._process = self._mark = None
        _discard(self._key_file)

    def release(self) -> None:
        """Let go of the process without ending it: the next lilbee may adopt it."""
        with self._lock:
            if self._process is not None:
                self._process.detach()
            self._process = self._mark = self._endpoint = None
            self._state, self._gone = State.STOPPED, True

    # ------------------------------------------------------------------ records

    def adopt(self, record: ServerRecord, process: ProcessHandle) -> bool:
        """Take over a server that an earlier lilbee left running, if it answers and is what we would start.

        Nothing is changed if it is not.
        """
        wanted = signature_of(self._around.command(self.placed, self._key_file))
        # Who started it may have died before it could write down where it listens.
        port = record.port if record.port is not None else port_in(process.log_tail(LOG_LINES))
        if record.process is None or port is None or record.signature != wanted or process.poll() is not None:
            return False
        endpoint, probe = endpoint_at(self.placed, port, record.api_key), self._around.probe
        if probe.health(endpoint) is not Health.READY:
            return False
        name = self.placed.model.replace(",", "_")
        if probe.properties(endpoint).get("model_alias", name) != name:
            return False
        with self._lock:
            self._process, self._mark, self._key = process, record.process, record.api_key
            self._signature, self._adopted = record.signature, True
            self.log_file = Path(record.log_file) if record.log_file else self.log_file
        self._now_ready(endpoint)
        return True

    def record(self) -> ServerRecord | None:
        """Return what belongs on disk about it; None where there is no process and none is being started."""
        with self._lock:
            if self._process is None and self._starting is None:
                return None
            url = self._endpoint.base_url if self._endpoint is not None else ""
            return ServerRecord(
                id=self.id,
                role=self.placed.role,
                model=self.placed.model,
                signature=self._signature,
                process=self._mark,
                port=int(url.rpartition(":")[2].partition("/")[0]) if url else None,
                api_key=self._key,
                key_file=str(self._key_file),
                log_file=str(self.log_file),
            )

    def _try_to_record(self) -> None:
        """Write down that it is gone; if that cannot be done, the next start finds out by itself."""
        with contextlib.suppress(OSError):
            self._record()

    def status(self) -> ServerStatus:
        """Return how it is now."""
        with self._lock:
            ready = self._state is State.READY
            idle_s = self._around.clock.monotonic() - self._last_used
            return ServerStatus(
                id=self.id,
                role=self.placed.role,
                model=self.placed.model,
                state=str(self._state),
                group=self.placed.group,
                pid=self._process.pid if self._process is not None else None,
                url=self._endpoint.base_url if self._endpoint is not None else "",
                devices=self.placed.devices,
                context_tokens=self.placed.context_tokens,
                slots=self.placed.slots,
                in_flight=self.in_flight,
                starts=self.starts,
                cooling=self.cooling_s > 0,
                adopted=self._adopted,
                owner_pid=self._around.owner.pid,
                idle_s=idle_s if ready and self.in_flight == 0 else None,
                log_file=str(self.log_file) if self.log_file.exists() else "",
                error=self._error.message if self._error is not None else "",
            )


def _discard(*paths: Path) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
