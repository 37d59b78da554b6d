"""A start of a server: from its command line to the moment when it answers, with another try where that may help."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.errors import FleetError
from lilbee_core.fleet import _failing, _logs
from lilbee_core.fleet._argv import EMBED, RERANK, Wiring, server_command
from lilbee_core.fleet._probe import Health, Probe
from lilbee_core.fleet._state import ProcessMark, plain_name
from lilbee_core.protocols import Endpoint, Launch
from lilbee_core.types import PlacedServer

if TYPE_CHECKING:
    from lilbee_core.events import EventSink
    from lilbee_core.fleet._engine import Engine
    from lilbee_core.protocols import Clock, Launcher, ProcessHandle

_LISTENING = re.compile(r"listening on https?://\S*?:(\d+)")
_STEP_S = 0.02
_LONGEST_STEP_S = 0.25
LOG_LINES = 200

MOST_TRIES = 3
FIRST_BACKOFF_S = 1.0
LONGEST_BACKOFF_S = 60.0

SLOW_DISK_BYTES_PER_S = 50_000_000
SHORTEST_LIMIT_S = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What all servers of a fleet share. `threads` and `idle_sleep_s` go to each, `outlives` leaves them running."""

    engine: Engine
    launcher: Launcher
    probe: Probe
    clock: Clock
    events: EventSink
    folder: Path
    owner: ProcessMark
    outlives: bool = False
    threads: int | None = None
    idle_sleep_s: int | None = None
    mark_of: Callable[[int], ProcessMark] = ProcessMark.of
    bytes_read: Callable[[int], int] = field(default=lambda _: 0)
    shortest_limit_s: float = SHORTEST_LIMIT_S

    def command(self, placed: PlacedServer, key_file: Path) -> tuple[str, ...]:
        """Return the command of a server.

        Raises:
            FleetError: If the engine lacks a flag that it needs.
        """
        wiring = Wiring(key_file=key_file, threads=self.threads, idle_sleep_s=self.idle_sleep_s)
        return server_command(self.engine, placed, wiring)


def backoff_s(failures: int) -> float:
    """Return how long to leave a server alone that failed this often in a row. The first failure costs nothing."""
    return 0.0 if failures <= 1 else float(min(FIRST_BACKOFF_S * 2 ** (failures - 2), LONGEST_BACKOFF_S))


def load_limit_s(weights_bytes: int, shortest_s: float = SHORTEST_LIMIT_S) -> float:
    """Return how long a cold load may take: ten minutes, or longer for what a slow disk reads longer than that."""
    return max(shortest_s, weights_bytes / SLOW_DISK_BYTES_PER_S)


def weights_bytes(placed: PlacedServer) -> int:
    """Return the bytes that a server has to read before it is ready."""
    files = [placed.model_file] if placed.projector_file is None else [placed.model_file, placed.projector_file]
    sizes = [file.stat().st_size if file.exists() else 0 for file in files]
    return max(sizes[0], placed.footprint.weights_bytes) + sum(sizes[1:])


class Attempt:
    """A start of a server. One thread runs it; others may call `give_up`.

    A process that dies before it is ready, for no reason that would be the same again, is started anew after the
    back-off that holds for any server that dies.
    """

    def __init__(self, placed: PlacedServer, around: Surroundings, *, key_file: Path, log_file: Path) -> None:
        self.placed = placed
        self.key = secrets.token_urlsafe(32)
        self.key_file, self.log_file = key_file, log_file
        self.process: ProcessHandle | None = None
        self.mark: ProcessMark | None = None
        self.signature: tuple[str, ...] = ()
        self.wanted = True
        self._around = around

    def give_up(self) -> None:
        """End it at its next step."""
        self.wanted = False

    def run(self, changed: Callable[[], None], is_recorded: Callable[[], bool] = lambda: True) -> Endpoint:
        """Start the process and wait until it answers.

        Args:
            changed: Called when there is more to write down.
            is_recorded: Tells whether what was written down is still there; if not, somebody ended it on purpose.

        Raises:
            FleetError: If it does not get there. The process may still run then.
        """
        for tries in range(1, MOST_TRIES + 1):
            process = self._launch(changed)
            changed()
            endpoint = self._until_ready(process)
            if endpoint is not None:
                return endpoint
            self.wanted = self.wanted and is_recorded()
            code, said = process.poll() or 0, process.log_tail(LOG_LINES)
            if self.wanted and (tries == MOST_TRIES or not _failing.may_pass(code, said)):
                raise _failing.exited(self.placed.id, code, said, tries=tries)
            self._rest(backoff_s(tries))
        raise AssertionError("the last try returns or raises")

    def _rest(self, for_s: float) -> None:
        clock = self._around.clock
        until = clock.monotonic() + for_s
        while self.wanted and (left := until - clock.monotonic()) > 0:
            clock.sleep(min(left, _LONGEST_STEP_S))
        self._require_wanted()

    def _require_wanted(self) -> None:
        if not self.wanted:
            raise FleetError(
                f"the server {self.placed.id} was stopped while it loaded",
                hint="Ask again to start it.",
            )

    def _launch(self, changed: Callable[[], None]) -> ProcessHandle:
        around = self._around
        command = around.command(self.placed, self.key_file)
        self.signature = signature_of(command)
        self.process = self.mark = None
        self._write_key()
        _logs.keep(self.log_file, plain_name(self.placed.id))
        changed()  # before there is a process: one that we die too early to write down is found by its key file
        launch = Launch(
            command=command, environment=self.placed.environment, log_file=self.log_file, outlives=around.outlives
        )
        try:
            self.process = around.launcher.start(launch)
        except OSError as error:
            raise _failing.not_started(self.placed.id, command[0], error) from error
        self.mark = around.mark_of(self.process.pid)
        return self.process

    def _write_key(self) -> None:
        self.key_file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.key_file.unlink(missing_ok=True)
        self.key_file.touch(mode=0o600)
        self.key_file.write_text(f"{self.key}\n", "ascii")

    def _until_ready(self, process: ProcessHandle) -> Endpoint | None:
        """Return where it listens once it answers, None if it has ended."""
        around, name = self._around, self.placed.id
        limit_s = load_limit_s(weights_bytes(self.placed), around.shortest_limit_s)
        deadline, step = around.clock.monotonic() + limit_s, _STEP_S
        while True:
            code = process.poll()
            self._require_wanted()
            if code is not None:
                return None
            endpoint = self._listening(process)
            if endpoint is not None and around.probe.health(endpoint) is Health.READY:
                return endpoint
            if around.clock.monotonic() >= deadline:
                raise _failing.too_slow(name, limit_s, process.log_tail(LOG_LINES))
            around.clock.sleep(step)
            step = min(step * 1.3, _LONGEST_STEP_S)

    def _listening(self, process: ProcessHandle) -> Endpoint | None:
        port = port_in(process.log_tail(LOG_LINES))
        return None if port is None else endpoint_at(self.placed, port, self.key)


def port_in(log: str) -> int | None:
    """Return the port that a server says in its log it listens on."""
    found = _LISTENING.search(log)
    return None if found is None else int(found[1])


def endpoint_at(placed: PlacedServer, port: int, key: str) -> Endpoint:
    """Return where a server listens."""
    return Endpoint(
        base_url=endpoint_url(port),
        api_key=key or None,
        model=placed.model,
        context_tokens=tokens_at_once(placed),
    )


def endpoint_url(port: int) -> str:
    """Return the address of a server."""
    return f"http://127.0.0.1:{port}/v1"


def tokens_at_once(placed: PlacedServer) -> int:
    """Return how many tokens one request may have: what is pooled has to be read in one piece."""
    if placed.role in (EMBED, RERANK):
        return min(placed.context_tokens, placed.batch_tokens, placed.ubatch_tokens)
    return placed.context_tokens


def signature_of(command: Sequence[str]) -> tuple[str, ...]:
    """Return a command without what differs from start to start."""
    words = list(command)
    if "--api-key-file" in words:
        place = words.index("--api-key-file")
        del words[place : place + 2]
    return tuple(words)


def loaded_bytes(pid: int) -> int:
    """Return how much a process has read so far: by its own count, or the mapped pages that it holds."""
    import psutil

    try:
        process = psutil.Process(pid)
        held = int(process.memory_info().rss)
        counters = getattr(process, "io_counters", None)
        return held if counters is None else max(held, int(getattr(counters(), "read_chars", 0)))
    except (psutil.Error, OSError):
        return 0
