"""Servers as a plan lists them: what their command lines are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lilbee_core.fleet._cards import visible_environment
from lilbee_core.fleet._sizing import READING, RULES, RoleModel, Sizing
from lilbee_core.types import Device, FleetPlan, MachineSnapshot, ModelFootprint, PlacedServer, PlanChange, ServerGroup

_NO_POOLING = frozenset({None, "none"})


def server_of(
    model: RoleModel,
    sizing: Sizing,
    footprint: ModelFootprint,
    *,
    machine: MachineSnapshot,
    cards: Sequence[Device] = (),
    split: Sequence[float] = (),
    environment: Mapping[str, str],
    replica: int = 0,
    shared_file: bool = False,
) -> PlacedServer:
    """Return a server of a plan.

    Args:
        model: What it serves.
        sizing: How much of it.
        footprint: What that takes.
        machine: Where it runs.
        cards: The cards it may see; none for the memory of the system.
        split: Proportions in which the cards share the model, if not by layers.
        environment: Variables that hide cards already.
        replica: Its number among the servers of the role.
        shared_file: Several servers read the same file.
    """
    role = model.role
    return PlacedServer(
        role=role,
        replica=replica,
        model=model.ref,
        model_file=model.facts.path,
        projector_file=model.projector.path if model.projector is not None and role == "vision" else None,
        devices=tuple(one.label for one in cards),
        tensor_split=tuple(split) or tuple(float(count) for count in sizing.layer_split),
        environment=visible_environment(cards, environment),
        context_tokens=sizing.context_tokens,
        slots=sizing.slots,
        batch_tokens=sizing.batch_tokens,
        ubatch_tokens=sizing.ubatch_tokens,
        gpu_layers=sizing.gpu_layers,
        threads=machine.cores if role == "vision" else None,
        # Reading the file in one go is faster than page by page, where a copy of it may be kept. What decides is the
        # total memory: what is free changes from plan to plan, and a restart for that would cost more than it gains.
        mmap=not (role == "chat" and not shared_file and 2 * model.facts.weights_bytes <= machine.total_ram_bytes),
        flash_attention=sizing.flash_attention,
        kv_cache_type=sizing.kv_cache_type,
        pooling=_pooling(model) if role in READING else None,
        group=role,
        tier="replica" if replica else RULES[role].tier,
        footprint=footprint,
    )


def _pooling(model: RoleModel) -> str | None:
    """Return how a vector is made of a text: as the file says, else as models of its kind do."""
    said = model.facts.pooling
    if said not in _NO_POOLING:
        return said
    return "last" if model.facts.kv_elements else "mean"


def groups_of(servers: Sequence[PlacedServer], swap: str = "") -> tuple[ServerGroup, ...]:
    """Return the groups of servers, in the order of the servers; `swap` names the one whose members take turns."""
    names = dict.fromkeys(one.group for one in servers)
    return tuple(
        ServerGroup(
            name=name, servers=tuple(one.id for one in servers if one.group == name), swap=bool(swap) and name == swap
        )
        for name in names
    )


def plan_change(old: FleetPlan, new: FleetPlan) -> PlanChange:
    """Return which groups must be restarted to get from one plan to another. The others keep running."""
    before, after = _launches(old), _launches(new)
    return PlanChange(
        kept=tuple(name for name in after if before.get(name) == after[name]),
        started=tuple(name for name in after if name not in before),
        restarted=tuple(name for name in after if name in before and before[name] != after[name]),
        stopped=tuple(name for name in before if name not in after),
    )


def _launches(plan: FleetPlan) -> dict[str, tuple[object, ...]]:
    return {
        group.name: (group.swap, *(server.launch_key for server in plan.members(group.name))) for group in plan.groups
    }
