"""`Fleet`: model servers on this machine, planned together, started when they are needed, ended with us."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import threading
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lilbee_core.clock import SystemClock
from lilbee_core.errors import FleetError
from lilbee_core.events import EventSink, SafeSink, Warned
from lilbee_core.fleet._adopting import adopt_groups
from lilbee_core.fleet._argv import Wiring, server_command
from lilbee_core.fleet._built import Built, end, roles_of
from lilbee_core.fleet._engine import WRONG_PROCESSOR, Engine, find_engine, mark_unfit, switched
from lilbee_core.fleet._groups import TURN_TIMEOUT_S, Group
from lilbee_core.fleet._inventory import log_of, running, tidy
from lilbee_core.fleet._launcher import SystemLauncher
from lilbee_core.fleet._loading import SHORTEST_LIMIT_S, Surroundings, loaded_bytes
from lilbee_core.fleet._monitor import Monitor
from lilbee_core.fleet._planner import ModelPlanner
from lilbee_core.fleet._probe import HttpProbe, Probe
from lilbee_core.fleet._reaper import Processes, SystemProcesses, reap
from lilbee_core.fleet._routing import Lease, LoadTeller, OnProgress, Role
from lilbee_core.fleet._server import GONE
from lilbee_core.fleet._sizing import PlanOptions, RoleModel
from lilbee_core.fleet._state import ProcessMark, StateFolder
from lilbee_core.settings import user_cache_dir, user_data_dir
from lilbee_core.types import FleetPlan, MachineSnapshot, Placement, ServerStatus

if TYPE_CHECKING:
    from lilbee_core.fleet._server import Server
    from lilbee_core.protocols import Clock, Endpoint, Launcher

log = logging.getLogger(__name__)

_MOVES = 4


class Planner(Protocol):
    """Decides which server runs where."""

    def look(self, engine: Engine) -> MachineSnapshot:
        """Return what the machine has to offer now.

        Raises:
            FleetError: If the engine cannot be asked.
        """
        ...

    def plan(self, machine: MachineSnapshot) -> FleetPlan:
        """Return the plan for the configured models.

        Raises:
            FleetError: If there cannot be one.
        """
        ...

    def preview(self, machine: MachineSnapshot, placement: Placement | None) -> FleetPlan:
        """Return what a placement, or the planner by itself, would make of the machine."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetOptions:
    """How a fleet behaves, in plain values. Zero or None leaves a matter to the engine, or switches it off."""

    engine_path: str = ""
    keep_warm: bool = False
    idle_ttl_s: float = 300.0
    eager: bool = False
    threads: int | None = None
    turn_timeout_s: float = TURN_TIMEOUT_S
    shortest_load_limit_s: float = SHORTEST_LIMIT_S


class Fleet:
    """Model servers on this machine. Threads may share it.

    Nothing happens before a role is first asked for: then the engine is found, what a dead lilbee left behind is ended,
    the plan for all roles is made, and the server of that role alone is started. `close` ends them all, or leaves them
    running with `keep_warm`.

    Args:
        planner: Decides which server runs where.
        state_dir: Where it is written down what runs. All fleets of a user share it, or they do not find each other's
            leftovers.
        options: How it behaves.
        version: Of lilbee; a fleet of another version is not adopted.
        cache_file: Keeps what an engine can do.
        events: Hears of servers that start and stop.
        engine: Finds the engine; the default looks for one.
        launcher: Starts processes, for tests.
        probe: Asks servers how they are, for tests.
        processes: Knows the processes of the machine, for tests.
        clock: Time, for tests.
        watch: Whether a thread looks after the servers; without one, call `tick`.
    """

    def __init__(
        self,
        planner: Planner,
        *,
        state_dir: Path,
        options: FleetOptions | None = None,
        version: str = "",
        cache_file: Path | None = None,
        events: EventSink | None = None,
        engine: Callable[[], Engine] | None = None,
        launcher: Launcher | None = None,
        probe: Probe | None = None,
        processes: Processes | None = None,
        clock: Clock | None = None,
        watch: bool = True,
    ) -> None:
        self._planner = planner
        self._options = options or FleetOptions()
        self._version = version
        self._given_engine = engine
        self._cache_file = cache_file
        self._state = StateFolder(state_dir)
        self._events = SafeSink(events)
        self._own_launcher = SystemLauncher() if launcher is None else None
        self._launcher: Launcher = launcher or self._own_launcher  # type: ignore[assignment]
        self._probe: Probe = probe or HttpProbe()
        self._processes: Processes = processes or SystemProcesses()
        self._clock = clock or SystemClock()
        self._monitor = Monitor(self.tick) if watch else None
        self._lock = threading.RLock()
        self._built: Built | None = None
        self._next: tuple[Planner, FleetOptions] | None = None
        self._unfit: set[tuple[str, ...]] = set()
        self._closed = False
        self._pid = os.getpid()

    @classmethod
    def of(
        cls,
        *models: RoleModel,
        plan: PlanOptions | None = None,
        options: FleetOptions | None = None,
        state_dir: Path | None = None,
        events: EventSink | None = None,
    ) -> Fleet:
        """Return a fleet for these models, planned for this machine; it keeps its state where every lilbee looks."""
        from lilbee_core import __version__

        planner = ModelPlanner(models=lambda: models, options=plan or PlanOptions())
        return cls(
            planner,
            state_dir=state_dir or user_data_dir() / "fleet",
            options=options,
            version=__version__,
            cache_file=user_cache_dir() / "engines.json",
            events=events,
        )

    # ------------------------------------------------------------------ use

    @property
    def probe(self) -> Probe:
        """Asks servers about themselves."""
        return self._probe

    @contextmanager
    def lease(
        self, role: str, *, model: str | None = None, avoid: Collection[str] = (), on_progress: OnProgress | None = None
    ) -> Generator[Lease]:
        """Give the least busy server of a role for one request, started if need be.

        `model` makes sure that the role has this model, `avoid` names servers that just failed.

        Raises:
            FleetError: If the role has no server, or it cannot be started.
        """
        served, server, endpoint = self._take(role, model, avoid, on_progress)
        lease = Lease(server.id, endpoint)
        try:
            yield lease
        finally:
            served.give_back(server, failed=lease.has_failed)
            if server.error is not None and server.error.code == WRONG_PROCESSOR:
                with contextlib.suppress(FleetError):
                    self._replace_engine(server.error)

    def endpoint(self, role: str) -> Endpoint:
        """Return where the role is served, starting the server on first use.

        Raises:
            FleetError: If the role has no server, or it cannot be started.
        """
        return self.wait(role)

    def wait(self, role: str, *, on_progress: OnProgress | None = None) -> Endpoint:
        """Wait until the role is served, telling how far its server is.

        Raises:
            FleetError: If the role has no server, or it cannot be started.
        """
        with self.lease(role, on_progress=on_progress) as lease:
            return lease.endpoint

    def wait_chat_ready(self, on_progress: OnProgress | None = None) -> Endpoint:
        """Wait until the chat model is loaded, telling how many bytes of it have been read.

        Raises:
            FleetError: If there is no chat model, or it cannot be loaded.
        """
        return self.wait("chat", on_progress=on_progress)

    def warm(self) -> None:
        """Begin to start the servers of all roles without waiting for them. Those that take turns wait for theirs.

        Raises:
            FleetError: If there is no engine, or no plan can be made.
        """
        for group in self._build().groups.values():
            if group.turns is None:
                for server in group.servers:
                    if server.placed.replica == 0:
                        server.begin()
        self._watch()

    # ------------------------------------------------------------------ plan

    def plan(self) -> FleetPlan:
        """Return which server runs where. Starts none.

        Raises:
            FleetError: If there is no engine, or no plan can be made.
        """
        return self._build().plan

    @property
    def planned(self) -> FleetPlan | None:
        """The plan that is in force, or None as long as nothing was asked for."""
        built = self._built
        return built.plan if built is not None else None

    def preview(self, placement: Placement | None = None) -> FleetPlan:
        """Return what a placement, or the planner by itself, would make of the machine as it is now.

        Raises:
            FleetError: If the placement makes no sense.
        """
        return self._planner.preview(self._planner.look(self._find()), placement)

    def machine(self) -> MachineSnapshot:
        """Return what the machine has to offer now; never used to decide anything.

        Raises:
            FleetError: If there is no engine.
        """
        return self._planner.look(self._find())

    def check(self) -> FleetPlan:
        """Return the plan for the machine as it is now, if the engine can start all of its servers. Starts none.

        Raises:
            FleetError: If there is no engine, no plan, or the engine lacks what a server needs.
        """
        engine = self._find()
        plan = self._planner.plan(self._planner.look(engine))
        for server in plan.servers:
            server_command(engine, server, Wiring(key_file=self._state.folder / "key"))
        return plan

    def engine(self) -> Engine:
        """Return the program that runs the models.

        Raises:
            FleetError: If there is none.
        """
        built = self._built
        return built.around.engine if built is not None else self._find()

    def configure(self, planner: Planner, options: FleetOptions) -> None:
        """Plan by another planner, or behave otherwise, from the next use on; what does not change keeps running."""
        with self._lock:
            self._next = (planner, options)

    def reload(self) -> tuple[str, ...]:
        """Plan anew and restart only the groups whose servers changed; return their names.

        The machine is taken to be what it was before we loaded anything: our own models are no reason to move them.

        Raises:
            FleetError: If no plan can be made; everything stays as it was then.
        """
        with self._lock:
            planner, options = self._next or (self._planner, self._options)
            built, before = self._built, self._options
            if built is None or options != before:
                self._planner, self._options, self._next = planner, options, None
                self._built = None
                end([] if built is None else list(built.groups.values()), reason="reload")
                return () if built is None else tuple(sorted(built.groups))
            plan = planner.plan(built.plan.machine)
            self._planner, self._next = planner, None
            kept, gone, changed = built.changes(plan)
            end(gone, reason="reload")  # before anything new is loaded: both would not fit
            self._built = self._arrange(plan, built.around, kept)
            return tuple(sorted(changed))

    # ------------------------------------------------------------------ watching

    def status(self) -> tuple[ServerStatus, ...]:
        """Return how each server of this fleet is; nothing before it is first used."""
        built = self._built
        return () if built is None else tuple(one.status() for one in built.servers)

    def running(self) -> tuple[ServerStatus, ...]:
        """Return every server of this user's processes that runs now, whoever started it."""
        return running(self._state, self._processes)

    def log(self, server: str, *, lines: int = 50, ended: bool = False) -> str:
        """Return the last lines of the log of a running server, or of the servers of a role.

        Where none runs, or with `ended`, it is the last that was heard of those which have ended.

        Raises:
            FleetError: If there is no such server, and nothing is kept of one.
        """
        tidy(self._state, self._processes)
        return log_of(self._state, server, lines, ended=ended)

    def stop(self) -> tuple[int, ...]:
        """End every server of this user's processes and return their ids; a role that is asked for starts anew."""
        return reap(self._state, self._processes, spare_detached=False, everything=True).pids

    def obituary(self, server: str) -> FleetError | None:
        """Return why a server is gone, if it is."""
        built = self._built
        return next((one.error for one in built.servers if one.id == server), None) if built is not None else None

    def tick(self) -> None:
        """Look after the servers: start those again that died, rest those that nobody uses, keep logs short."""
        built = self._built
        if built is None:
            return
        for role in built.roles.values():
            for server in role.servers:
                server.look()
                if server.wants_restart:
                    server.begin()
                server.shorten_log()
            if self._options.idle_ttl_s > 0:
                role.rest(self._options.idle_ttl_s)

    # ------------------------------------------------------------------ life

    def close(self) -> None:
        """End all servers, or leave them running with `keep_warm`. The fleet cannot be used afterwards."""
        if os.getpid() != self._pid:  # a forked child owns none of this
            return
        with self._lock:
            self._closed = True
            built, self._built = self._built, None
        if self._monitor is not None:
            self._monitor.close()
        atexit.unregister(self.close)
        if built is not None:
            end(list(built.groups.values()), keep=self._options.keep_warm)
        if self._own_launcher is not None:
            self._own_launcher.close()

    def __enter__(self) -> Fleet:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # ------------------------------------------------------------------ inside

    def _take(
        self, role: str, model: str | None, avoid: Collection[str], on_progress: OnProgress | None
    ) -> tuple[Role, Server, Endpoint]:
        on_progress = on_progress or LoadTeller(role, self._events, self._clock)
        for _ in range(_MOVES):
            built = self._build()
            self._watch()
            served = built.role(role, model)
            try:
                return served, *served.take(avoid, on_progress)
            except FleetError as error:
                if error.code == WRONG_PROCESSOR:
                    self._replace_engine(error)
                elif error.code != GONE or self._closed:
                    raise
            avoid = ()
        raise FleetError(f"the {role} model is moved again and again", hint="Try again in a moment.", code="fleet.busy")

    def _replace_engine(self, error: FleetError) -> None:
        """Go on with another engine than the one that does not run on this processor.

        Raises:
            FleetError: That same error, if there is no other.
        """
        with self._lock:
            built = self._built
            if built is None:
                return
            unfit = built.around.engine
            self._unfit.add(unfit.command)
            mark_unfit(unfit, self._cache_file)
            try:
                other = self._find()
            except FleetError:
                raise error from None
            if other.command == unfit.command:
                raise error
            self._events(Warned(message=switched(f"{unfit.file} does not run on this processor", other)))
            self._built = None
            end(list(built.groups.values()), reason="reload")

    def _watch(self) -> None:
        if self._monitor is not None:
            self._monitor.start()

    def _build(self) -> Built:
        with self._lock:
            if self._closed or os.getpid() != self._pid:
                raise FleetError("this fleet is closed", hint="Open the library again.", code="fleet.closed")
            if self._next is not None:
                self.reload()
            if self._built is None:
                self._built = self._make()
                atexit.register(self.close)
                if self._options.eager:
                    self.warm()
            return self._built

    def _make(self) -> Built:
        engine = self._find()
        around = self._surroundings(engine)
        self._state.prepare()
        with self._state.alone():
            reap(self._state, self._processes, spare_detached=self._options.keep_warm)
            left = [one for one in self._state.scan() if one.detached and not self._processes.is_alive(one.owner)]
            # What runs already was planned for the machine as it was before; so that it fits, the same is assumed now.
            known = next((one.machine for one in left if one.machine is not None), None)
            machine = known or self._planner.look(engine)
            built = self._arrange(self._planner.plan(machine), around, {})
            if left:
                adopt_groups(left, list(built.groups.values()), self._state, self._processes, version=self._version)
        for warning in built.plan.warnings:
            self._events(Warned(message=warning))
        return built

    def _find(self) -> Engine:
        if self._given_engine is not None:
            return self._given_engine()
        return find_engine(self._options.engine_path, cache_file=self._cache_file, unfit=self._unfit)

    def _surroundings(self, engine: Engine) -> Surroundings:
        options = self._options
        return Surroundings(
            engine=engine,
            launcher=self._launcher,
            probe=self._probe,
            clock=self._clock,
            events=self._events,
            folder=self._state.folder,
            owner=ProcessMark.me(),
            outlives=options.keep_warm,
            threads=options.threads,
            # A server that we leave behind has nobody else to unload its model.
            idle_sleep_s=int(options.idle_ttl_s) or None if options.keep_warm else None,
            bytes_read=loaded_bytes,
            shortest_limit_s=options.shortest_load_limit_s,
        )

    def _arrange(self, plan: FleetPlan, around: Surroundings, kept: Mapping[str, Group]) -> Built:
        groups = dict(kept)
        for one in plan.groups:
            if one.name not in groups:
                groups[one.name] = Group(
                    one,
                    plan.members(one.name),
                    around,
                    self._state,
                    version=self._version,
                    machine=plan.machine,
                    turn_timeout_s=self._options.turn_timeout_s,
                )
        return Built(plan=plan, around=around, groups=groups, roles=roles_of(groups))
