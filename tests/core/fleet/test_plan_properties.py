"""What holds for every plan, whatever the machine and the models (R103, R104, R109, R120-R122)."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lilbee_core.fleet import PlanOptions, RoleModel, plan_fleet
from lilbee_core.types import FleetPlan, MachineSnapshot, PlacedServer
from tests.support.machines import GIB, machine, model, pool

ROLES = ("embed", "rerank", "vision", "chat")
HEADROOM = 0.9


@st.composite
def machines(draw: st.DrawFn) -> MachineSnapshot:
    if draw(st.booleans()):
        sizes = draw(st.lists(st.floats(0.5, 90), min_size=1, max_size=6))
        return machine(*sizes, ram=draw(st.floats(1, 256)), cores=draw(st.integers(1, 64)))
    free = draw(st.floats(0.2, 130))
    return pool(free, free + draw(st.floats(0, 32)), cores=draw(st.integers(1, 64)), metal=draw(st.booleans()))


@st.composite
def model_sets(draw: st.DrawFn) -> tuple[RoleModel, ...]:
    made = {
        "embed": model("embed", draw(st.floats(0.05, 9)), layers=draw(st.integers(1, 40)), context=2048),
        "rerank": model("rerank", draw(st.floats(0.05, 9)), layers=draw(st.integers(1, 40))),
        "vision": model("vision", draw(st.floats(0.5, 30)), eyes=draw(st.floats(0.1, 2))),
        "chat": model(
            "chat",
            draw(st.floats(0.3, 150)),
            layers=draw(st.integers(2, 100)),
            kv_kib=draw(st.floats(8, 900)),
            context=draw(st.sampled_from([512, 2048, 8192, 131_072])),
        ),
    }
    chosen = draw(st.lists(st.sampled_from(ROLES), min_size=1, max_size=4, unique=True))
    return tuple(made[role] for role in chosen)


@st.composite
def option_sets(draw: st.DrawFn) -> PlanOptions:
    return PlanOptions(
        num_ctx=draw(st.sampled_from([0, 0, 512, 4096, 32_768])),
        chat_slots=draw(st.sampled_from([0, 0, 1, 8])),
        embedding_tokens=draw(st.sampled_from([512, 2048])),
        embed_replicas=draw(st.integers(0, 3)),
        vision_replicas=draw(st.integers(0, 3)),
        kv_cache_type=draw(st.sampled_from(["f16", "q8_0"])),
        flash_attention=draw(st.booleans()),
    )


def check(plan: FleetPlan, models: tuple[RoleModel, ...], options: PlanOptions) -> None:
    """Check all that must hold for a plan."""
    _check_memory(plan)
    _check_roles(plan, models)
    _check_groups(plan)
    for one in plan.servers:
        _check_server(one, plan, options)


def _check_memory(plan: FleetPlan) -> None:
    for card in plan.machine.devices:
        tight = any(one.tight and card.label in one.devices for one in plan.servers)
        assert tight or plan.charged(card.label) <= card.free_bytes * HEADROOM
    aside = [one.footprint.unified_bytes for one in plan.servers if plan.machine.devices and not one.devices]
    assert sum(aside) <= plan.machine.free_ram_bytes * HEADROOM
    if not plan.machine.devices:
        held = 0
        for group in plan.groups:
            sizes = [one.footprint.unified_bytes for one in plan.members(group.name)]
            held += max(sizes) if group.swap else sum(sizes)
        assert held <= plan.machine.free_ram_bytes * HEADROOM
        assert not any(one.tight for one in plan.servers)


def _check_roles(plan: FleetPlan, models: tuple[RoleModel, ...]) -> None:
    for one in models:
        served = plan.of_role(one.role)
        assert bool(served) != (plan.refusal(one.role) is not None)
        assert [server.replica for server in served] == list(range(len(served)))
    if plan.machine.devices:
        assert not plan.refusals
    assert {one.role for one in plan.servers} <= {one.role for one in models}


def _check_groups(plan: FleetPlan) -> None:
    assert sorted(name for group in plan.groups for name in group.servers) == sorted(one.id for one in plan.servers)
    for group in plan.groups:
        roles = [one.role for one in plan.members(group.name)]
        if group.swap:
            assert len(roles) == len(set(roles)) > 1
            assert "embed" not in roles
            assert "vision" in roles
        else:
            assert len(set(roles)) == 1
    assert sum(group.swap for group in plan.groups) <= 1


def _check_server(one: PlacedServer, plan: FleetPlan, options: PlanOptions) -> None:
    assert one.tight == bool(one.warnings)
    assert set(one.warnings) <= set(plan.warnings)
    assert one.context_tokens >= 512
    assert one.slots >= 1
    assert len(set(one.devices)) == len(one.devices)
    assert bool(one.devices) == bool(plan.machine.devices) or (one.tight and one.gpu_layers == 0)
    assert bool(one.environment) == bool(one.devices)
    if len(one.devices) > 1:
        assert len(one.tensor_split) == len(one.devices) == len(one.footprint.shares)
        assert all(share >= 1 for share in one.tensor_split)
    else:
        assert one.tensor_split == ()
    if one.role == "chat":
        assert one.context_tokens <= (options.num_ctx or options.chat_target)
        assert len(one.devices) <= 1 or one.slots == 1
        assert not options.chat_slots or one.slots <= options.chat_slots
    if plan.machine.kind == "cpu":
        assert one.gpu_layers == 0


@settings(max_examples=300, deadline=None)
@given(machines(), model_sets(), option_sets())
def test_every_plan_keeps_its_promises(
    snapshot: MachineSnapshot, models: tuple[RoleModel, ...], options: PlanOptions
) -> None:
    plan = plan_fleet(snapshot, models, options)
    check(plan, models, options)
    # The same machine makes the same plan, in whatever order the models are named.
    assert plan_fleet(snapshot, models[::-1], options) == plan


@pytest.mark.slow
@pytest.mark.parametrize("count", [2_000, pytest.param(10_000, marks=pytest.mark.bench)])
def test_thousands_of_machines(count: int) -> None:
    chance = random.Random(20_261)
    for _ in range(count):
        snapshot = _random_machine(chance)
        models = tuple(_random_model(chance, role) for role in ROLES if chance.random() < 0.8)
        options = PlanOptions(num_ctx=chance.choice([0, 0, 4096]), embed_replicas=chance.choice([0, 0, 2]))
        check(plan_fleet(snapshot, models, options), models, options)


def _random_machine(chance: random.Random) -> MachineSnapshot:
    if chance.random() < 0.7:
        sizes = [4, 6, 8, 12, 16, 24, 32, 48, 80, 96]
        kind = chance.choice(sizes)
        count = chance.choice([1, 1, 2, 2, 3, 4, 8])
        same = chance.random() < 0.5
        cards = [(kind if same else chance.choice(sizes)) * chance.uniform(0.5, 1) for _ in range(count)]
        return machine(*cards, ram=chance.uniform(4, 256), cores=chance.randint(1, 64))
    return pool(chance.uniform(0.5, 64), 96, cores=chance.randint(1, 32), metal=chance.random() < 0.5)


def _random_model(chance: random.Random, role: str) -> RoleModel:
    weights = {"embed": (0.05, 8), "rerank": (0.05, 8), "vision": (0.5, 20), "chat": (0.3, 120)}[role]
    size = weights[0] * (weights[1] / weights[0]) ** chance.random()
    return model(role, size, layers=chance.randint(4, 80), kv_kib=chance.uniform(8, 512))


# ---------------------------------------------------------------------------------------------------- more memory


def badness(plan: FleetPlan, models: tuple[RoleModel, ...]) -> int:
    """Return how bad a plan is: who went without room, the fewest first, and chat before the others."""
    roles = [role for role in ROLES if any(one.role == role for one in models)]
    # Search roles are ranked by size; which of them goes without is decided by that order.
    search = sorted((one for one in models if one.role in {"embed", "rerank"}), key=lambda one: -_need(one))
    order = [one.role for one in search] + [role for role in roles if role in {"vision", "chat"}]
    without = {one.role for one in plan.servers if one.tight and not one.replica} | {one.role for one in plan.refusals}
    sets = [set(chosen) for count in range(len(order) + 1) for chosen in combinations(reversed(order), count)]
    return sets.index(without)


def _need(one: RoleModel) -> int:
    return plan_fleet(machine(1000), [one], PlanOptions(chat_slots=1)).servers[0].footprint.discrete_bytes


@settings(max_examples=300, deadline=None)
@given(machines(), model_sets(), st.floats(0, 40))
def test_more_memory_never_leaves_a_role_without_room_that_had_it(
    snapshot: MachineSnapshot, models: tuple[RoleModel, ...], more: float
) -> None:
    larger = _grown(snapshot, more)
    assert badness(plan_fleet(larger, models), models) <= badness(plan_fleet(snapshot, models), models)


@settings(max_examples=300, deadline=None)
@given(st.floats(0.5, 90), model_sets(), st.floats(0, 40), st.booleans())
def test_more_memory_never_shortens_the_context_of_a_chat_that_shares_with_the_same_roles(
    free: float, models: tuple[RoleModel, ...], more: float, shared: bool
) -> None:
    snapshot = pool(free) if shared else machine(free)
    small, large = plan_fleet(snapshot, models), plan_fleet(_grown(snapshot, more), models)
    same = [group.name for group in small.groups] == [group.name for group in large.groups]
    if same and not any(one.tight for one in (*small.servers, *large.servers)) and small.refusals == large.refusals:
        for before, after in zip(small.of_role("chat"), large.of_role("chat"), strict=True):
            assert after.context_tokens >= before.context_tokens
            assert after.slots >= before.slots or after.context_tokens > before.context_tokens


@settings(max_examples=200, deadline=None)
@given(st.floats(0.5, 60), model_sets())
def test_nobody_takes_turns_where_there_is_room_for_all(free: float, models: tuple[RoleModel, ...]) -> None:
    """One card that holds all of them with what chat wants."""
    options = PlanOptions(chat_slots=1)
    apart = [plan_fleet(machine(1000), [one], options).servers[0] for one in models]
    least = sum(one.footprint.discrete_bytes for one in apart)
    plan = plan_fleet(machine(free + least / HEADROOM / GIB), models, options)
    assert not any(group.swap for group in plan.groups)
    assert not any(one.tight for one in plan.servers)


def _grown(snapshot: MachineSnapshot, more: float) -> MachineSnapshot:
    added = int(more * GIB)
    grown = tuple(
        replace(one, free_bytes=one.free_bytes + added, total_bytes=one.total_bytes + added) for one in snapshot.devices
    )
    shared = snapshot.accelerator
    if shared is not None:
        shared = replace(shared, free_bytes=shared.free_bytes + added, total_bytes=shared.total_bytes + added)
    return replace(
        snapshot,
        devices=grown,
        accelerator=shared,
        free_ram_bytes=snapshot.free_ram_bytes + added,
        total_ram_bytes=snapshot.total_ram_bytes + added,
    )
