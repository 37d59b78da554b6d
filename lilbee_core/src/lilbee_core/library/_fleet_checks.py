"""What `lilbee doctor` says of the model servers: the engine, the cards, the model files, and what runs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lilbee_core.doctor import Check
from lilbee_core.errors import FleetError
from lilbee_core.library._fleet import model_files
from lilbee_core.types import MachineSnapshot, ServerStatus

if TYPE_CHECKING:
    from lilbee_core.fleet import Fleet
    from lilbee_core.library._parts import Parts

_GIB = 1 << 30


def fleet_checks(parts: Parts) -> Iterator[Check]:
    """Look at everything that model files need. Starts nothing, ends nothing.

    Raises:
        LilbeeError: If a model file is not there, or its server could not be started.
    """
    fleet = parts.fleet
    yield from _servers(fleet.running())
    needed = bool(model_files(parts.settings))
    try:
        engine = fleet.engine()
    except FleetError as error:
        if needed:
            raise
        yield Check(name="engine", ok=True, detail=f"none, and no model file is configured ({error.message})")
        return
    detail = f"{engine.version} from {engine.origin} ({engine.file}), {len(engine.flags)} flags"
    yield Check(name="engine", ok=True, detail="; ".join((detail, *engine.notes)))
    yield from _cards(fleet.machine())
    if needed:
        yield from _models(fleet)


def _cards(machine: MachineSnapshot) -> Iterator[Check]:
    memory = f"{machine.free_ram_bytes / _GIB:.1f} of {machine.total_ram_bytes / _GIB:.1f} GiB of memory are free"
    for card in machine.devices:
        yield Check(name="card", ok=True, detail=str(card))
    if machine.accelerator is not None:
        yield Check(name="card", ok=True, detail=f"{machine.accelerator.name}, which shares the memory: {memory}")
    elif not machine.devices:
        yield Check(name="card", ok=True, detail=f"none: models run on {machine.cores} cores; {memory}")


def _models(fleet: Fleet) -> Iterator[Check]:
    plan = fleet.check()
    for server in plan.servers:
        place = f" on {', '.join(server.devices)}" if server.devices else ""
        size = server.footprint.discrete_bytes if server.devices else server.footprint.unified_bytes
        detail = f"{server.model}{place}: {server.context_tokens} tokens x {server.slots}, about {size / _GIB:.1f} GiB"
        warned = "; ".join(server.warnings)
        yield Check(
            name=f"model server {server.id}",
            ok=not server.tight,
            detail=f"{detail}; {warned}" if warned else detail,
            hint="Choose a smaller model if it does not load.",
        )
    for refusal in plan.refusals:
        yield Check(name=f"model server {refusal.role}", ok=False, detail=refusal.reason, hint=refusal.hint)


def _servers(running: tuple[ServerStatus, ...]) -> Iterator[Check]:
    for one in running:
        yield Check(
            name=f"running {one.id}",
            ok=not one.error,
            detail=f"{one.model} at {one.url or 'no address yet'}, process {one.pid} of {one.owner_pid}"
            + (f": {one.error}" if one.error else ""),
            hint="Run `lilbee engine stop` to end it now.",
        )
