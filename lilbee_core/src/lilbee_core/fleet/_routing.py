"""Which server answers a request: the least busy healthy one of its role, started when it is first needed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from dataclasses import dataclass

from lilbee_core.errors import FleetError
from lilbee_core.events import EventSink, Progress
from lilbee_core.fleet._server import Server, State
from lilbee_core.fleet._turns import Turns
from lilbee_core.protocols import Clock, Endpoint
from lilbee_core.types import LoadProgress

_SLICE_S = 0.1
_MOMENT_S = 0.5
_ROUNDS = 3
_LONGEST_WAIT_S = 5.0

OnProgress = Callable[[LoadProgress], None]


class LoadTeller:
    """Tells all who listen how far a model is that a request waits for, once that takes longer than a moment."""

    def __init__(self, role: str, events: EventSink, clock: Clock) -> None:
        self._role = role
        self._events = events
        self._clock = clock
        self._since = clock.monotonic()
        self._told = False

    def __call__(self, progress: LoadProgress) -> None:
        ready = progress.phase == "ready"
        if self._told if ready else self._clock.monotonic() - self._since >= _MOMENT_S:
            self._told = True
            # It is there when it answers, not when its last byte has been read.
            total, read = progress.bytes_total, progress.bytes_read
            done = total if ready else max(0, min(read, total - 1))
            self._events(Progress(phase=f"loading {self._role} model", done=done, total=total or None, unit="bytes"))


@dataclass(slots=True)
class Lease:
    """A server that a request may use. Say `failed` when the connection to it broke."""

    id: str
    endpoint: Endpoint
    has_failed: bool = False

    def failed(self) -> None:
        """Say that the server could not be reached, or did not finish its answer."""
        self.has_failed = True


class Role:
    """The servers of one role. Threads may share it.

    The first request starts the first server; another one is started, without anybody waiting for it, as soon as all
    that are there are busy. So replicas appear under the load of an ingest, and a query needs but one.
    """

    def __init__(self, name: str, servers: Sequence[Server], turns: Turns[Server] | None = None) -> None:
        self.name = name
        self.servers = tuple(servers)
        self._turns = turns
        self._lock = threading.Lock()

    def take(self, avoid: Collection[str] = (), on_progress: OnProgress | None = None) -> tuple[Server, Endpoint]:
        """Return the server for a request, and count the request; `give_back` has to follow.

        `avoid` names servers to leave out if there is any other.

        Raises:
            FleetError: If no server can be had; the error is that of the server which was tried.
        """
        if self._turns is not None:
            self._turns.enter(self.servers[0], _change)
        try:
            return self._take(avoid, on_progress)
        except BaseException:
            if self._turns is not None:
                self._turns.leave()
            raise

    def give_back(self, server: Server, *, failed: bool) -> None:
        """Say that a request is over."""
        with self._lock:
            server.leave(failed=failed)
        if failed:
            server.examine()
        if self._turns is not None:
            self._turns.leave()

    def rest(self, idle_s: float) -> None:
        """Stop the servers that nobody has used for this long."""
        with self._lock:
            idle = [one for one in self.servers if one.retire(idle_s)]
        for one in idle:
            one.stop("idle")

    def _take(self, avoid: Collection[str], on_progress: OnProgress | None) -> tuple[Server, Endpoint]:
        error: FleetError | None = None
        for _ in range(_ROUNDS):
            with self._lock:
                chosen = self._least_busy(avoid)
                if chosen is not None:
                    chosen[0].enter()
                    self._grow()
                    return chosen
            try:
                self._start_one(avoid, on_progress)
            except FleetError as failure:
                error = failure
                avoid = ()
                if not any(one.may_start for one in self.servers):
                    break
        raise error or self._nobody()

    def _least_busy(self, avoid: Collection[str]) -> tuple[Server, Endpoint] | None:
        """Return the best server that is ready; one that failed lately, or is to be avoided, only if it is the last."""
        ready = [(one, endpoint) for one in self.servers if (endpoint := one.endpoint) is not None]
        dead = [one for one, _ in ready if one.cooling_s > 0 and one.look()]
        ready = [pair for pair in ready if pair[0] not in dead]
        wanted = [pair for pair in ready if pair[0].id not in avoid]
        healthy = [pair for pair in wanted if pair[0].cooling_s <= 0]
        # A server that is being started anew is better than one whose connections break, a broken one than none.
        if not healthy and any(one.state is State.STARTING or one.may_start for one in self.servers):
            return None
        return min(healthy or wanted or ready, key=lambda pair: pair[0].in_flight, default=None)

    def _grow(self) -> None:
        """Start another server if all that are ready have as much to do as they can."""
        ready = [one for one in self.servers if one.state is State.READY]
        if all(one.in_flight >= one.placed.slots for one in ready):
            waiting = next((one for one in self.servers if one.state is State.STOPPED), None)
            starting = any(one.state is State.STARTING for one in self.servers)
            if waiting is not None and not starting:
                waiting.begin()

    def _start_one(self, avoid: Collection[str], on_progress: OnProgress | None) -> None:
        """Start a server, or wait for one that is being started."""
        starting = [one for one in self.servers if one.state is State.STARTING]
        able = [one for one in self.servers if one.may_start]
        fresh = [one for one in able if one.id not in avoid] or able
        server = next(iter([*starting, *fresh]), self.servers[0])
        server.wait_out(_LONGEST_WAIT_S)
        wait_for(server, server.begin(), on_progress)

    def _nobody(self) -> FleetError:
        error = next((one.error for one in self.servers if one.error is not None), None)
        if error is not None:
            return error
        return FleetError(
            f"no server of the {self.name} model answers",
            hint="Run `lilbee engine status`, and try again in a moment.",
            code="fleet.unhealthy",
        )


def wait_for(server: Server, future: Future[Endpoint], on_progress: OnProgress | None) -> Endpoint:
    """Wait until a server is ready, telling how far it is.

    Raises:
        FleetError: If it does not get there.
    """
    while True:
        if on_progress is not None:
            on_progress(server.progress())
        try:
            endpoint = future.result(_SLICE_S)
        except NotYet:
            continue
        if on_progress is not None:
            on_progress(server.progress())
        return endpoint


def _change(before: Server | None, after: Server) -> None:
    if before is not None:
        before.stop("swap")
