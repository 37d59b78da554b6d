"""Plans for fleets in tests, made by hand."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from lilbee_core.fleet import Engine
from lilbee_core.types import FleetPlan, MachineSnapshot, ModelFootprint, PlacedServer, Placement, ServerGroup

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
