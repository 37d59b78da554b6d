"""The plan of a fleet: a pure function of the machine, the models and the options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lilbee_core.fleet._footprint import Estimator, GgufEstimator
from lilbee_core.fleet._packing import Arrangement, Bin, Demand, Fitter, Room, Spot, arrange, emptiest, taken
from lilbee_core.fleet._servers import groups_of, server_of
from lilbee_core.fleet._sizing import (
    COMFORT_CONTEXT,
    MIN_CONTEXT,
    READING,
    RULES,
    PlanOptions,
    RoleModel,
    most_slots,
    wanted,
)
from lilbee_core.types import FleetPlan, MachineSnapshot, Refusal, gib

HEADROOM = 0.9
"""The share of what is free that a plan may use: estimates err, and other programs want a little too."""

_SURELY = 0.8
"""An estimate may be too high by a quarter, rarely by more."""


def plan_fleet(
    machine: MachineSnapshot,
    models: Sequence[RoleModel],
    options: PlanOptions | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    estimator: Estimator | None = None,
) -> FleetPlan:
    """Return which server runs where. The same arguments give the same plan.

    On cards a role that does not fit is placed all the same, with a warning: an estimate advises, and the load itself
    decides. In the system's memory it is refused: loading beyond what is free would freeze the machine.
    """
    options = options or PlanOptions()
    refused = [found for one in models if (found := misfit(one)) is not None]
    wrong = {one.role for one in refused}
    planner = _Planner(machine, options, estimator or GgufEstimator(), environment or {})
    return planner.plan([one for one in models if one.role not in wrong], refused)


def misfit(model: RoleModel) -> Refusal | None:
    """Return why a model cannot serve its role at all, or None if it can."""
    facts = model.facts
    if facts.projector:
        reason = f"{facts.path.name} is the projector of a vision model, which serves nothing by itself"
        hint = "Name the model it belongs to; the projector beside it is found by itself."
        return Refusal(role=model.role, model=model.ref, code="fleet.wrong_role", reason=reason, hint=hint)
    needed = "chat" if model.role == "vision" else model.role
    if needed not in facts.roles:
        serves = " and ".join(sorted(facts.roles))
        reason = f"{facts.path.name} can serve {serves} and not {model.role}"
        hint = f"Choose another model for {model.role}: `lilbee model catalog --task {model.role}`."
        return Refusal(role=model.role, model=model.ref, code="fleet.wrong_role", reason=reason, hint=hint)
    if model.role == "vision" and model.projector is None:
        reason = f"{facts.path.name} has no projector beside it, so it cannot see"
        hint = f"Fetch it (`lilbee model pull {model.ref}`), or put its mmproj file into the same folder."
        return Refusal(role=model.role, model=model.ref, code="fleet.no_projector", reason=reason, hint=hint)
    return None


def usable(machine: MachineSnapshot) -> tuple[Bin, ...]:
    """Return the memories of a machine and how much of each may be used."""
    if machine.devices:
        return tuple(
            Bin(label=one.label, capacity=int(one.free_bytes * HEADROOM), free=one.free_bytes, total=one.total_bytes)
            for one in machine.devices
        )
    capacity = int(machine.free_ram_bytes * HEADROOM)
    if machine.accelerator is not None and machine.accelerator.total_bytes:
        capacity = min(capacity, machine.accelerator.free_bytes)
    return (Bin(label="", capacity=capacity, free=machine.free_ram_bytes, total=machine.total_ram_bytes),)


@dataclass(frozen=True, slots=True)
class _Placed:
    """A server with its place, before it is written down."""

    demand: Demand
    spot: Spot
    replica: int = 0
    tight: bool = False
    warnings: tuple[str, ...] = ()


class _Planner:
    """Makes one plan."""

    def __init__(
        self, machine: MachineSnapshot, options: PlanOptions, estimator: Estimator, environment: Mapping[str, str]
    ) -> None:
        self._machine = machine
        self._options = options
        self._environment = environment
        self._pool = not machine.devices
        self._fitter = Fitter(estimator, usable(machine), unified=self._pool)
        self._spare_ram = int(machine.free_ram_bytes * HEADROOM)
        self._warnings: list[str] = []

    def plan(self, models: Sequence[RoleModel], refused: Sequence[Refusal]) -> FleetPlan:
        demands = self._ranked(models)
        found = arrange(demands, self._fitter)
        by_role = {one.role: one for one in demands}
        placed = [_Placed(by_role[role], spot) for role, spot in found.spots.items()]
        swap = found.swap
        self._tell_context(by_role, found)
        refusals = list(refused)
        if self._pool:
            refusals += [self._refusal(by_role[role], placed, swap) for role in found.unfit]
        else:
            swap = self._turns_of_tight(found)
            placed += self._tight([by_role[role] for role in found.unfit], placed, swap)
        placed = self._grown(placed, swap)
        placed += self._replicas(placed, swap)
        return self._written(placed, swap, refusals)

    def _ranked(self, models: Sequence[RoleModel]) -> list[Demand]:
        """Return what is wanted in the order in which it gets room: by rank, the largest first."""
        demands = [Demand(model=one, sizing=wanted(one, self._options, self._machine)) for one in models]
        return sorted(
            demands, key=lambda one: (RULES[one.role].rank, -self._fitter.need(one.model, one.sizing), one.role)
        )

    def _tell_context(self, by_role: Mapping[str, Demand], found: Arrangement) -> None:
        """Warn of a chat that does not get what the settings ask for."""
        chat = by_role.get("chat")
        if chat is None:
            return
        asked, wanted_tokens = self._options.num_ctx, chat.sizing.context_tokens
        got = found.spots["chat"].sizing.context_tokens if "chat" in found.spots else wanted_tokens
        if wanted_tokens < asked:
            self._warnings.append(f"num_ctx is {asked}, and {chat.model.ref} was made for {wanted_tokens} tokens")
        if asked and got < wanted_tokens:
            self._warnings.append(f"num_ctx is {asked}, and there is memory for {got} tokens")
        if chat.sizing.kv_cache_type != self._options.kv_cache_type:
            self._warnings.append(f"kv_cache_type {self._options.kv_cache_type} needs flash_attention, so f16 is used")

    # ------------------------------------------------------------------ what does not fit

    def _refusal(self, demand: Demand, placed: Sequence[_Placed], swap: tuple[str, ...]) -> Refusal:
        least = demand.sizing
        if RULES[demand.role].elastic:
            least = replace(least, context_tokens=min(MIN_CONTEXT, least.context_tokens), slots=1)
        need = self._fitter.need(demand.model, least)
        memory = self._fitter.bins[0]
        left = max(0, self._room(placed, swap)[0])
        others = ", ".join(sorted({one.demand.role for one in placed}))
        reason = (
            f"{demand.model.ref} needs {gib(need)} of memory for {demand.role}, and {gib(left)} of "
            f"{gib(memory.free)} free may be used{f' beside {others}' if others else ''}"
        )
        return Refusal(
            role=demand.role,
            model=demand.model.ref,
            code="fleet.out_of_memory",
            reason=reason,
            hint="Choose a smaller model or a smaller quantization of it, or close other programs.",
            needed_bytes=need,
            free_bytes=left,
        )

    def _turns_of_tight(self, found: Arrangement) -> tuple[str, ...]:
        """Return who takes turns so that a role without room finds as much of it as possible."""
        roles = {*found.spots, *found.unfit}
        wished = set(found.swap)
        if "vision" in found.unfit:
            wished |= {"vision", "rerank", "chat"} & roles
        if "chat" in found.unfit:
            wished |= {"vision", "chat"} & roles
        # Without vision there is nobody to take turns with.
        return tuple(role for role in ("rerank", "vision", "chat") if role in wished) if _turns(wished) else ()

    def _tight(self, unfit: Sequence[Demand], placed: Sequence[_Placed], swap: tuple[str, ...]) -> list[_Placed]:
        added: list[_Placed] = []
        for demand in unfit:
            others = [one for one in (*placed, *added) if not (demand.role in swap and one.demand.role in swap)]
            added.append(self._squeezed(demand, self._room(others, swap)))
        return added

    def _squeezed(self, demand: Demand, room: Room) -> _Placed:
        """Place a role on the emptiest card although the estimate says that it does not fit."""
        at = emptiest(room)
        sizing = demand.sizing
        if RULES[demand.role].elastic:
            sizing = replace(sizing, context_tokens=min(MIN_CONTEXT, sizing.context_tokens))
        spot = self._fitter.single(demand.model, sizing, at)
        need, card = spot.charges[0], self._fitter.bins[at]
        short = gib(need - room[at])
        warning = (
            f"memory is tight on {card.label}: {demand.model.ref} needs an estimated {gib(need)} there for "
            f"{demand.role}, {short} more than is left"
        )
        if demand.role == "chat" and need > card.free:
            spot, warning = self._partly_on_card(demand, spot, room, warning)
        elif demand.role in READING and need * _SURELY > card.free:
            spot, warning = self._on_processor(demand, spot, warning)
        return _Placed(demand, spot, tight=True, warnings=(warning,))

    def _partly_on_card(self, demand: Demand, spot: Spot, room: Room, warning: str) -> tuple[Spot, str]:
        """Leave some layers of chat to the processor where the card could not hold them even if it were empty."""
        facts = demand.model.facts
        context = min(COMFORT_CONTEXT, demand.sizing.context_tokens)
        at = spot.bins[0]
        if facts.weights_bytes > self._spare_ram:
            return spot, warning
        for layers in range(facts.layers, 0, -1):
            part = self._fitter.single(
                demand.model, replace(spot.sizing, context_tokens=context, gpu_layers=layers), at
            )
            if part.charges[0] <= room[at]:
                self._spare_ram -= facts.weights_bytes
                return part, f"{warning}; {facts.layers - layers} of its {facts.layers} layers run on the processor"
        return self._on_processor(demand, spot, warning)

    def _on_processor(self, demand: Demand, spot: Spot, warning: str) -> tuple[Spot, str]:
        """Keep a role off a card that is sure to be too small for it, if the system has the memory."""
        found = self._fitter.beside(demand.model, replace(spot.sizing, gpu_layers=0))
        if found.footprint.unified_bytes > self._spare_ram:
            return spot, warning
        self._spare_ram -= found.footprint.unified_bytes
        return found, f"{warning}; it runs on the processor"

    # ------------------------------------------------------------------ what is left

    def _room(self, placed: Sequence[_Placed], swap: tuple[str, ...]) -> Room:
        """Return what is left of each bin; of those who take turns only the largest counts."""
        room = self._fitter.empty
        for one in placed:
            if one.demand.role not in swap:
                room = taken(room, one.spot)
        held = [
            max((one.spot.on(at) for one in placed if one.demand.role in swap), default=0) for at in range(len(room))
        ]
        return tuple(have - most for have, most in zip(room, held, strict=True))

    def _grown(self, placed: list[_Placed], swap: tuple[str, ...]) -> list[_Placed]:
        """Let chat, then vision, serve more requests at once, as far as there is memory left."""
        for role in ("chat", "vision"):
            at = next((at for at, one in enumerate(placed) if one.demand.role == role and not one.tight), None)
            if at is not None and len(placed[at].spot.bins) == 1:
                others = [one for one in placed if one is not placed[at]]
                placed[at] = replace(placed[at], spot=self._with_slots(placed[at], others, swap))
        return placed

    def _with_slots(self, one: _Placed, others: Sequence[_Placed], swap: tuple[str, ...]) -> Spot:
        role = one.demand.role
        beside = [other for other in others if not (role in swap and other.demand.role in swap)]
        room = self._room(beside, swap)
        for slots in range(most_slots(role, self._options, self._machine), 1, -1):
            spot = self._fitter.single(one.demand.model, replace(one.spot.sizing, slots=slots), one.spot.bins[0])
            if spot.charges[0] <= room[spot.bins[0]]:
                return spot
        return one.spot

    def _replicas(self, placed: Sequence[_Placed], swap: tuple[str, ...]) -> list[_Placed]:
        """Add servers for reading many documents into what is left; a role that takes turns has one only."""
        added: list[_Placed] = []
        for first in placed:
            role = first.demand.role
            if RULES[role].replicable and role not in swap:
                added += self._more_of(first, [*placed, *added], swap)
        return added

    def _more_of(self, first: _Placed, placed: Sequence[_Placed], swap: tuple[str, ...]) -> list[_Placed]:
        asked = self._options.replicas(first.demand.role)
        if asked == 0 and (self._pool or first.tight or len(first.spot.bins) > 1):
            return []
        most = asked or len(self._fitter.bins)
        added: list[_Placed] = []
        while len(added) + 1 < most:
            one = self._another(first, [*placed, *added], swap, replica=len(added) + 1, forced=bool(asked))
            if one is None:
                break
            added.append(one)
        if self._pool and asked > len(added) + 1:
            self._warnings.append(
                f"{asked} servers are asked for {first.demand.role}, and there is memory for {len(added) + 1}"
            )
        return added

    def _another(
        self, first: _Placed, placed: Sequence[_Placed], swap: tuple[str, ...], *, replica: int, forced: bool
    ) -> _Placed | None:
        wished = replace(first.spot.sizing, layer_split=(), gpu_layers=first.demand.sizing.gpu_layers)
        demand = Demand(model=first.demand.model, sizing=wished)
        room = self._room(placed, swap)
        having = {at for one in placed if one.demand.role == demand.role for at in one.spot.bins}
        order = sorted(range(len(room)), key=lambda at: (at in having, -room[at], at))
        need = self._fitter.need(demand.model, demand.sizing)
        for at in order:
            if need <= room[at] and (forced or at not in having):
                return _Placed(demand, self._fitter.single(demand.model, demand.sizing, at), replica)
        if not forced or self._pool:
            return None
        return replace(self._squeezed(demand, room), replica=replica)

    # ------------------------------------------------------------------ writing it down

    def _written(self, placed: Sequence[_Placed], swap: tuple[str, ...], refusals: Sequence[Refusal]) -> FleetPlan:
        order = sorted(placed, key=lambda one: (list(RULES).index(one.demand.role), one.replica))
        many = {one.demand.role for one in placed if one.replica}
        servers = tuple(
            replace(
                server_of(
                    one.demand.model,
                    one.spot.sizing,
                    one.spot.footprint,
                    machine=self._machine,
                    cards=() if self._pool else tuple(self._machine.devices[at] for at in one.spot.bins),
                    environment=self._environment,
                    replica=one.replica,
                    shared_file=one.demand.role in many,
                ),
                group="+".join(swap) if one.demand.role in swap else one.demand.role,
                tight=one.tight,
                warnings=one.warnings,
            )
            for one in order
        )
        told = [*self._warnings, *(warning for one in order for warning in one.warnings)]
        return FleetPlan(
            machine=self._machine,
            servers=servers,
            groups=groups_of(servers, "+".join(swap)),
            refusals=tuple(sorted(refusals, key=lambda one: list(RULES).index(one.role))),
            warnings=tuple(told),
        )


def _turns(roles: set[str]) -> bool:
    """Whether roles can take turns: vision, and one that answers questions."""
    return "vision" in roles and len(roles) > 1
