"""What a machine has to offer: its cards, as the engine sees them, and the memory of the system."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lilbee_core.errors import FleetError
from lilbee_core.fleet._cards import parse_devices, probe_environment
from lilbee_core.protocols import Clock
from lilbee_core.types import MachineSnapshot

_LIMIT_S = 60.0
_VIEW_TTL_S = 2.0
_CGROUP = Path("/sys/fs/cgroup")


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of the system, as far as this process may use it."""

    total_bytes: int
    free_bytes: int


def system_memory(cgroup: Path = _CGROUP) -> Memory:
    """Return the memory that is there, and what can be had of it without swapping; in a container, of its share."""
    import psutil

    found = psutil.virtual_memory()
    total, free = int(found.total), int(found.available)
    limit, used = _number(cgroup / "memory.max"), _number(cgroup / "memory.current")
    if limit is not None and used is not None and limit < total:
        # What files leave in memory is given back as soon as somebody needs it.
        reusable = _inactive(cgroup / "memory.stat")
        total, free = limit, min(free, max(0, limit - used + reusable))
    return Memory(total, free)


def usable_cores() -> int:
    """Return the cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def snapshot(devices_text: str, environment: Mapping[str, str], *, memory: Memory, cores: int) -> MachineSnapshot:
    """Return a machine from what the engine listed. Cards that share the system's memory are no place of their own."""
    cards = parse_devices(devices_text, environment)
    own = tuple(card for card in cards if not card.unified)
    shared = next((card for card in cards if card.unified), None)
    return MachineSnapshot(
        devices=own,
        accelerator=None if own else shared,
        total_ram_bytes=memory.total_bytes,
        free_ram_bytes=memory.free_bytes,
        cores=cores,
    )


def list_devices(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return what the engine says of its cards.

    Raises:
        FleetError: If it cannot be asked.
    """
    told = {**environment, **probe_environment(environment)}
    try:
        done = subprocess.run(
            [*command, "--list-devices"], capture_output=True, text=True, timeout=_LIMIT_S, check=False, env=told
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise _silent(command, str(error)) from error
    if done.returncode:
        raise _silent(command, (done.stderr or done.stdout).strip()[-300:])
    return done.stdout


def _silent(command: Sequence[str], said: str) -> FleetError:
    return FleetError(
        f"{' '.join(command)} cannot list the cards of this machine: {said}",
        hint="Run it with --list-devices by hand; if that fails too, update the driver or the program.",
        code="fleet.no_devices",
    )


class LiveView:
    """The machine as it is now, for people to look at; asked at most every two seconds. Threads may share it.

    It counts what our own servers hold as taken, so no plan is ever made from it.
    """

    def __init__(self, look: Callable[[], MachineSnapshot], clock: Clock, *, ttl_s: float = _VIEW_TTL_S) -> None:
        self._look = look
        self._clock = clock
        self._ttl_s = ttl_s
        self._lock = threading.Lock()
        self._seen: tuple[float, MachineSnapshot] | None = None

    def get(self) -> MachineSnapshot:
        """Return the machine, at most a moment old."""
        with self._lock:
            now = self._clock.monotonic()
            if self._seen is None or now - self._seen[0] >= self._ttl_s:
                self._seen = (now, self._look())
            return self._seen[1]


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text().strip())
    except (OSError, ValueError):
        return None


def _inactive(file: Path) -> int:
    try:
        lines = file.read_text().splitlines()
    except OSError:
        return 0
    found = dict(line.split(" ", 1) for line in lines if " " in line)
    return int(found.get("inactive_file", "0"))
