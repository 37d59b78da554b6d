"""Plans for fleets in tests, made by hand."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from lilbee_core.fleet import Engine
from lilbee_core.fleet._engine import flags_in
from lilbee_core.fleet._loading import Surroundings
from lilbee_core.fleet._probe import Health
from lilbee_core.fleet._state import ProcessMark
from lilbee_core.protocols import Endpoint
from lilbee_core.testing import FakeLauncher, FakeProcess, ManualClock, RecordingSink
from lilbee_core.types import FleetPlan, MachineSnapshot, ModelFootprint, PlacedServer, Placement, ServerGroup
from tests.support.llama_server import HELP

GIB = 1 << 30
MACHINE = MachineSnapshot(total_ram_bytes=16 * GIB, free_ram_bytes=12 * GIB, cores=2)


def placed(role: str, model_file: Path, **values: Any) -> PlacedServer:
    """Return a placed server with plain values."""
    size = model_file.stat().st_size if model_file.exists() else 0
    footprint = ModelFootprint(weights_bytes=size, kv_bytes=0, compute_bytes=0, discrete_bytes=size, unified_bytes=size)
    given: dict[str, Any] = {"model": model_file.name, "group": role, "footprint": footprint, **values}
    return PlacedServer(role=role, model_file=model_file, **given)


class FixedPlanner:
    """A planner that has one plan, which a test may change."""

    def __init__(self, *servers: PlacedServer, swap: Collection[str] = (), machine: MachineSnapshot = MACHINE) -> None:
        self.servers = servers
        self.swap = swap
        self.machine = machine
        self.looks = 0
        self.plans = 0

    def look(self, engine: Engine) -> MachineSnapshot:
        self.looks += 1
        return self.machine

    def plan(self, machine: MachineSnapshot) -> FleetPlan:
        self.plans += 1
        names = dict.fromkeys(one.group for one in self.servers)
        groups = tuple(
            ServerGroup(
                name=name, servers=tuple(one.id for one in self.servers if one.group == name), swap=name in self.swap
            )
            for name in names
        )
        return FleetPlan(machine=machine, servers=self.servers, groups=groups)

    def preview(self, machine: MachineSnapshot, placement: Placement | None) -> FleetPlan:
        return self.plan(machine)


class ScriptedProbe:
    """Answers for servers that are not there; a test says how each port is."""

    def __init__(self) -> None:
        self.down: set[str] = set()
        self.loading: dict[str, int] = {}
        self.alias: str | None = None
        self.asked = 0
        self.gate = threading.Event()
        self.gate.set()

    def health(self, endpoint: Endpoint) -> Health:
        self.asked += 1
        self.gate.wait(10.0)
        left = self.loading.get(endpoint.model, 0)
        if left:
            self.loading[endpoint.model] = left - 1
            return Health.LOADING
        return Health.DOWN if endpoint.model in self.down else Health.READY

    def properties(self, endpoint: Endpoint) -> Mapping[str, Any]:
        return {"model_alias": self.alias or endpoint.model}

    def tokens(self, endpoint: Endpoint, text: str) -> int:
        return len(text.split()) + 2


def listening(process: FakeProcess) -> None:
    """Let a process say where it listens, as soon as it is started."""
    process.lines.append(f"srv llama_server: listening on http://127.0.0.1:{20_000 + process.pid}")


ENGINE = Engine(
    command=("/opt/llama-server",),
    file=Path("/opt/llama-server"),
    origin="setting",
    version="1",
    flags=flags_in(HELP),
)
OWNER = ProcessMark(4711, 100.0)


def surroundings(folder: Path, launcher: FakeLauncher, clock: ManualClock, **values: Any) -> Surroundings:
    """Return what servers need, without processes and without waiting."""
    given: dict[str, Any] = {
        "engine": ENGINE,
        "launcher": launcher,
        "probe": ScriptedProbe(),
        "clock": clock,
        "events": RecordingSink(),
        "folder": folder,
        "owner": OWNER,
        "mark_of": lambda pid: ProcessMark(pid, 1.0),
        **values,
    }
    return Surroundings(**given)
