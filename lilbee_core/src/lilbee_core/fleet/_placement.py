"""A placement that the user chose: how it is written, whether it makes sense, and the plan that it makes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any, cast

from lilbee_core.errors import PlacementError
from lilbee_core.fleet._footprint import Estimator, GgufEstimator
from lilbee_core.fleet._packing import longest_context
from lilbee_core.fleet._plan import HEADROOM, misfit
from lilbee_core.fleet._servers import groups_of, server_of
from lilbee_core.fleet._sizing import MIN_CONTEXT, RULES, PlanOptions, RoleModel, Sizing, most_slots, wanted
from lilbee_core.types import (
    FLEET_ROLES,
    Device,
    FleetPlan,
    MachineSnapshot,
    PlacedServer,
    Placement,
    Refusal,
    RolePlacement,
    gib,
)

_EXAMPLE = '{"chat": {"devices": [0, 1]}, "embed": {"devices": [2], "replicas": 2}}'
_KEYS = frozenset({"devices", "tensor_split", "replicas"})
_MOST_REPLICAS = 64


def parse_placement(value: str | Mapping[str, Any]) -> Placement | None:
    """Read a placement from JSON, or from what JSON stands for; None for an empty text.

    Raises:
        PlacementError: If it makes no sense, whatever the machine.
    """
    if isinstance(value, str):
        if not value.strip():
            return None
        try:
            value = json.loads(value)
        except ValueError as error:
            raise _senseless(f"it is no JSON ({error})") from error
    if not isinstance(value, Mapping) or not value:
        raise _senseless("it is no object of roles")
    unknown = [role for role in value if role not in FLEET_ROLES]
    if unknown:
        raise _senseless(f"there is no role {unknown[0]!r}; roles are {', '.join(FLEET_ROLES)}")
    return Placement(tuple((role, _role(role, value[role])) for role in FLEET_ROLES if role in value))


def placement_json(placement: Placement) -> str:
    """Return a placement as the one line that settings keep."""
    return json.dumps(placement.to_dict())


def _role(role: str, raw: object) -> RolePlacement:
    if not isinstance(raw, Mapping):
        raise _senseless(f"{role} is no object")
    entry = cast("Mapping[str, object]", raw)
    unknown = [key for key in entry if key not in _KEYS]
    if unknown:
        raise _senseless(f"{role} has no {unknown[0]!r}; it takes devices, tensor_split and replicas")
    devices = _devices(role, entry.get("devices"))
    split = _split(role, entry.get("tensor_split"), len(devices))
    replicas = entry.get("replicas", 1)
    if not _whole(replicas) or not 1 <= cast("int", replicas) <= _MOST_REPLICAS:
        raise _senseless(f"replicas of {role} is {replicas!r}, and must be a number from 1 to {_MOST_REPLICAS}")
    if cast("int", replicas) > 1 and not RULES[role].replicable:
        raise _senseless(f"{role} runs as one server; only embed and vision take replicas")
    return RolePlacement(devices=devices, tensor_split=split, replicas=cast("int", replicas))


def _devices(role: str, raw: object) -> tuple[int, ...]:
    given = cast("Sequence[object]", raw) if isinstance(raw, list | tuple) else ()
    if not given:
        raise _senseless(f"{role} names no devices")
    if not all(_whole(one) and cast("int", one) >= 0 for one in given):
        raise _senseless(f"devices of {role} are {raw!r}, and must be the indices of cards")
    devices = tuple(cast("int", one) for one in given)
    if len(set(devices)) != len(devices):
        raise _senseless(f"{role} names a card twice: {list(devices)}")
    return devices


def _split(role: str, raw: object, cards: int) -> tuple[float, ...]:
    if raw is None:
        return ()
    given = cast("Sequence[object]", raw) if isinstance(raw, list | tuple) else ()
    numbers = [one for one in given if isinstance(one, int | float) and not isinstance(one, bool) and 0 < one < 1e9]
    if len(numbers) != len(given) or not given:
        raise _senseless(f"tensor_split of {role} is {raw!r}, and must be numbers above 0")
    if len(numbers) != cards:
        raise _senseless(f"tensor_split of {role} has {len(numbers)} numbers for {cards} cards")
    return tuple(float(one) for one in numbers)


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _senseless(why: str) -> PlacementError:
    return PlacementError(f"the placement makes no sense: {why}", hint=f"Write it like this: {_EXAMPLE}")


# ---------------------------------------------------------------------------------------------------- planning


def plan_placement(
    machine: MachineSnapshot,
    models: Sequence[RoleModel],
    placement: Placement,
    options: PlanOptions | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    estimator: Estimator | None = None,
) -> FleetPlan:
    """Return the plan that a placement says; nothing of it is left to the planner but the length of chat's context.

    Raises:
        PlacementError: If a card is not there, or what is placed on it is more than it has free.
    """
    options = options or PlanOptions()
    placer = _Placer(machine, options, estimator or GgufEstimator(), environment or {})
    refusals = [found for one in models if (found := misfit(one)) is not None]
    wrong = {one.role for one in refusals}
    for role, there in placement:
        placer.check_cards(role, there)  # also of a role whose model cannot be placed now
    placed: list[PlacedServer] = []
    # Chat comes last: its context takes what the others leave.
    for model in sorted(models, key=lambda one: FLEET_ROLES.index(one.role)):
        if model.role in wrong:
            continue
        where = placement.get(model.role)
        if where is None:
            refusals.append(_left_out(model))
        else:
            placed += placer.place(model, where)
    return FleetPlan(
        machine=machine, servers=tuple(placed), groups=groups_of(placed), refusals=tuple(refusals), manual=True
    )


def _left_out(model: RoleModel) -> Refusal:
    return Refusal(
        role=model.role,
        model=model.ref,
        code="fleet.not_placed",
        reason=f"the placement names no card for {model.role}",
        hint=f"Add {model.role} to it (`lilbee placement set`), or let lilbee plan: `lilbee placement clear`.",
    )


class _Placer:
    """Puts servers where the user wants them, and keeps count of what each card holds."""

    def __init__(
        self, machine: MachineSnapshot, options: PlanOptions, estimator: Estimator, environment: Mapping[str, str]
    ) -> None:
        self._machine = machine
        self._options = options
        self._estimator = estimator
        self._environment = environment
        self._held: dict[str, list[tuple[str, int]]] = {}

    def check_cards(self, role: str, where: RolePlacement) -> None:
        """Make sure that the cards are there.

        Raises:
            PlacementError: If one is not.
        """
        for index in where.devices:
            self._card(role, index)

    def place(self, model: RoleModel, where: RolePlacement) -> list[PlacedServer]:
        cards = [self._card(model.role, index) for index in where.devices]
        if len(cards) > 1 and where.replicas > 1 and not where.tensor_split:
            # Several servers on several cards: one card each, in turn.
            return [
                self._server(model, [cards[at % len(cards)]], (), at, where.replicas) for at in range(where.replicas)
            ]
        return [self._server(model, cards, where.tensor_split, at, where.replicas) for at in range(where.replicas)]

    def _card(self, role: str, index: int) -> Device:
        card = self._machine.device(index)
        if card is None:
            there = ", ".join(str(one) for one in self._machine.devices) or "none"
            raise PlacementError(
                f"the placement puts {role} on card {index}, which this machine does not have; its cards: {there}",
                hint="Change it (`lilbee placement set`), or let lilbee plan: `lilbee placement clear`.",
            )
        return card

    def _server(
        self, model: RoleModel, cards: Sequence[Device], split: tuple[float, ...], replica: int, replicas: int
    ) -> PlacedServer:
        proportions = split or (1.0,) * len(cards)
        layers = model.facts.layers + 1
        counts = layers_by(proportions, layers) if len(cards) > 1 else ()
        sizing = replace(wanted(model, self._options, self._machine), gpu_layers=layers, layer_split=counts)
        if RULES[model.role].elastic:
            sizing = self._fitted(model, sizing, cards)
        footprint = self._estimator.footprint(model, sizing)
        shares = footprint.shares if counts else (footprint.discrete_bytes,)
        for card, share in zip(cards, shares, strict=True):
            self._hold(model, card, share)
        return server_of(
            model,
            sizing,
            footprint,
            machine=self._machine,
            cards=cards,
            split=proportions if len(cards) > 1 else (),
            environment=self._environment,
            replica=replica,
            shared_file=replicas > 1,
        )

    def _fitted(self, model: RoleModel, sizing: Sizing, cards: Sequence[Device]) -> Sizing:
        """Return chat with the longest context that its cards hold, and then as many requests at once."""
        room = [int(card.free_bytes * HEADROOM) - self._taken(card) for card in cards]

        def fits(one: Sizing) -> bool:
            footprint = self._estimator.footprint(model, one)
            shares = footprint.shares if one.layer_split else (footprint.discrete_bytes,)
            return all(share <= have for share, have in zip(shares, room, strict=True))

        context = longest_context(sizing.context_tokens, lambda tokens: fits(replace(sizing, context_tokens=tokens)))
        sizing = replace(sizing, context_tokens=context or min(sizing.context_tokens, MIN_CONTEXT))
        most = 1 if len(cards) > 1 else most_slots(model.role, self._options, self._machine)
        return next((whole for slots in range(most, 1, -1) if fits(whole := replace(sizing, slots=slots))), sizing)

    def _taken(self, card: Device) -> int:
        return sum(amount for _, amount in self._held.get(card.label, ()))

    def _hold(self, model: RoleModel, card: Device, share: int) -> None:
        others = self._held.setdefault(card.label, [])
        left = card.free_bytes - self._taken(card)
        if share > left:
            beside = ", ".join(f"{role} {gib(amount)}" for role, amount in others)
            raise PlacementError(
                f"{card} cannot hold {model.role} ({model.ref}): it needs {gib(share)} there"
                + (f", beside {beside}" if beside else ""),
                hint="Place it elsewhere (`lilbee placement set`), choose a smaller model, or free the card.",
                code="fleet.does_not_fit",
            )
        others.append((model.role, share))


def layers_by(proportions: Sequence[float], layers: int) -> tuple[int, ...]:
    """Return how many layers each card gets by proportions, as the engine counts them."""
    upto = list(accumulate(proportions))
    # Sums before quotients, as the engine does it: whole numbers then give back exactly themselves.
    bounds = [one / upto[-1] for one in upto]
    owners = [
        next((card for card, bound in enumerate(bounds) if layer / layers < bound), len(bounds) - 1)
        for layer in range(layers)
    ]
    return tuple(owners.count(card) for card in range(len(proportions)))
