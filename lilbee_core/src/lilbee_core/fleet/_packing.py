"""Which model goes onto which card: every arrangement is looked at, in an order that does not depend on luck.

The roles that search needs come first, chat last. An arrangement where all roles are loaded at the same time is better
than one where some take turns, and that one is better than one that leaves a role without room. Since whatever fits
into some memory also fits into more, more memory never makes a plan worse in this order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from lilbee_core.fleet._footprint import Estimator, SplitCosts
from lilbee_core.fleet._sizing import COMFORT_CONTEXT, CONTEXT_STEP, MIN_CONTEXT, RoleModel, Sizing
from lilbee_core.types import ModelFootprint

_LEAVES_WITH_SPLITS = 8
_SWAPS = ((), ("rerank", "vision"), ("vision", "chat"), ("rerank", "vision", "chat"))
"""Who may take turns: vision reads documents, rerank and chat answer questions. The fewer and the smaller, the
better."""

Room = tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """A memory that models go into: a card, or what the system has. `capacity` is what may be used of it."""

    label: str
    capacity: int
    free: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """A role that wants room, with its sizes; those of chat are its best ones."""

    model: RoleModel
    sizing: Sizing

    @property
    def role(self) -> str:
        return self.model.role


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """Where a server goes, and what it takes there."""

    bins: tuple[int, ...]
    charges: tuple[int, ...]
    sizing: Sizing
    footprint: ModelFootprint

    def on(self, at: int) -> int:
        """Return what it takes of one bin."""
        return self.charges[self.bins.index(at)] if at in self.bins else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrangement:
    """Where everything goes. `swap` are the roles that take turns, `unfit` those that found no room."""

    spots: Mapping[str, Spot]
    swap: tuple[str, ...] = ()
    unfit: tuple[str, ...] = ()


class Fitter:
    """Knows what servers take, and finds room for one of them."""

    def __init__(self, estimator: Estimator, bins: Sequence[Bin], *, unified: bool) -> None:
        self._estimator = estimator
        self.bins = tuple(bins)
        self._unified = unified
        self._needs: dict[tuple[str, int], int] = {}
        self._costs: dict[tuple[str, int], SplitCosts] = {}

    @property
    def empty(self) -> Room:
        """The room before anything is placed."""
        return tuple(one.capacity for one in self.bins)

    def need(self, model: RoleModel, sizing: Sizing) -> int:
        """Return what a server takes that is not split."""
        return self._charge(self._estimator.footprint(model, sizing))

    def single(self, model: RoleModel, sizing: Sizing, at: int) -> Spot:
        """Return the place of a server on one bin, whether it fits or not."""
        footprint = self._estimator.footprint(model, sizing)
        return Spot(bins=(at,), charges=(self._charge(footprint),), sizing=sizing, footprint=footprint)

    def _charge(self, footprint: ModelFootprint) -> int:
        return footprint.unified_bytes if self._unified else footprint.discrete_bytes

    def beside(self, model: RoleModel, sizing: Sizing) -> Spot:
        """Return the place of a server that takes nothing of any card."""
        return Spot(bins=(), charges=(), sizing=sizing, footprint=self._estimator.footprint(model, sizing))

    def split(self, model: RoleModel, sizing: Sizing, at: Sequence[int], room: Room) -> Spot | None:
        """Return the place of a server over several cards, or None if one of them would be too full."""
        # The context is all that differs between two sizes of one model that are not split yet.
        key = (model.role, sizing.context_tokens)
        costs = self._costs.get(key)
        if costs is None:
            costs = self._costs[key] = SplitCosts.of(model, sizing)
        share = costs.layers([room[one] for one in at])
        if share is None:
            return None
        whole = replace(sizing, layer_split=share)
        footprint = self._estimator.footprint(model, whole)
        if any(charge > room[one] for charge, one in zip(footprint.shares, at, strict=True)):
            return None
        return Spot(bins=tuple(at), charges=footprint.shares, sizing=whole, footprint=footprint)

    def candidates(self, demand: Demand, room: Room) -> Iterator[Spot]:
        """Yield where a server may go: each different card that holds it, the fullest first; else the fewest cards."""
        need = self.need(demand.model, demand.sizing)
        seen: set[tuple[int, int]] = set()
        for at in sorted(range(len(room)), key=lambda one: (room[one], one)):
            kind = (room[at], self.bins[at].capacity)
            if need <= room[at] and kind not in seen:
                seen.add(kind)
                yield self.single(demand.model, demand.sizing, at)
        if not seen:
            yield from self._fewest(demand, room)

    def _fewest(self, demand: Demand, room: Room) -> Iterator[Spot]:
        for cards in _widening(room):
            found = self.split(demand.model, demand.sizing, cards, room)
            if found is not None:
                yield found
                return

    def best_single(self, demand: Demand, room: Room) -> Spot | None:
        """Return chat on the emptiest card, with the longest context up to the one it wants; None below the least."""
        at = emptiest(room)
        context = longest_context(
            demand.sizing.context_tokens, lambda tokens: self._need_of(demand, tokens) <= room[at]
        )
        if context is None:
            return None
        return self.single(demand.model, replace(demand.sizing, context_tokens=context), at)

    def _need_of(self, demand: Demand, tokens: int) -> int:
        key = (demand.role, tokens)
        found = self._needs.get(key)
        if found is None:
            found = self._needs[key] = self.need(demand.model, replace(demand.sizing, context_tokens=tokens))
        return found

    def never_single(self, demand: Demand) -> bool:
        """Whether chat is too large for every card, even with the least context and nothing beside it."""
        return self._need_of(demand, min(MIN_CONTEXT, demand.sizing.context_tokens)) > max(self.empty)

    def best_chat(self, demand: Demand, room: Room) -> Spot | None:
        """Return chat where it gets the context it wants on the fewest cards, else where it gets the longest."""
        single = self.best_single(demand, room)
        target = demand.sizing.context_tokens
        best = single
        if single is not None and single.sizing.context_tokens >= target:
            return single
        for cards in _widening(room):
            found = self._split_chat(demand, cards, room)
            if found is None:
                continue
            if best is None or found.sizing.context_tokens > best.sizing.context_tokens:
                best = found
            if found.sizing.context_tokens >= target:
                break
        return best

    def _split_chat(self, demand: Demand, cards: Sequence[int], room: Room) -> Spot | None:
        """Return chat over these cards. It serves one request at a time, with all of the context."""
        whole = replace(demand.sizing, slots=1)

        def placed(tokens: int) -> Spot | None:
            return self.split(demand.model, replace(whole, context_tokens=tokens), cards, room)

        context = longest_context(whole.context_tokens, lambda tokens: placed(tokens) is not None)
        return None if context is None else placed(context)


def emptiest(room: Room) -> int:
    """Return the bin with the most room; the first of equals."""
    return max(range(len(room)), key=lambda at: (room[at], -at))


def taken(room: Room, spot: Spot) -> Room:
    """Return the room that a server leaves."""
    return tuple(have - spot.on(at) for at, have in enumerate(room))


def _widening(room: Room) -> Iterator[tuple[int, ...]]:
    """Yield ever more cards, the emptiest first, each time in the order in which the engine counts them."""
    order = sorted(range(len(room)), key=lambda at: (-room[at], at))
    for count in range(2, len(order) + 1):
        yield tuple(sorted(order[:count]))


def longest_context(target: int, fits: Callable[[int], bool]) -> int | None:
    """Return the longest context up to the target that fits, or None if the least does not."""
    if fits(target):
        return target
    low, high = 0, max(0, (target - 1 - MIN_CONTEXT) // CONTEXT_STEP)
    if target <= MIN_CONTEXT or not fits(MIN_CONTEXT):
        return None
    while low < high:
        middle = (low + high + 1) // 2
        if fits(MIN_CONTEXT + middle * CONTEXT_STEP):
            low = middle
        else:
            high = middle - 1
    return MIN_CONTEXT + low * CONTEXT_STEP


# ---------------------------------------------------------------------------------------------------- all of them


def arrange(demands: Sequence[Demand], fitter: Fitter) -> Arrangement:
    """Return the best arrangement.

    Args:
        demands: In the order in which they get room.
        fitter: Knows the room.
    """
    for unfit in _sacrifices([one.role for one in demands]):
        found = _with_turns([one for one in demands if one.role not in unfit], fitter)
        if found is not None:
            return replace(found, unfit=unfit)
    return Arrangement(spots={}, unfit=tuple(one.role for one in demands))


def _sacrifices(roles: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield who goes without room: none, then the last ones alone, then more of them."""
    for count in range(len(roles)):
        for chosen in combinations(reversed(roles), count):
            yield tuple(role for role in roles if role in chosen)


def _with_turns(demands: Sequence[Demand], fitter: Fitter) -> Arrangement | None:
    """Return an arrangement with room for all, with as few taking turns as possible; None if there is none."""
    roles = {one.role for one in demands}
    chatting = "chat" in roles
    best: Arrangement | None = None
    for swap in _SWAPS:
        if not roles.issuperset(swap):
            continue
        found = _arranged(demands, swap, fitter)
        if found is None:
            continue
        if not chatting or _context(found) >= min(COMFORT_CONTEXT, _target(demands)):
            return found
        if best is None or _context(found) > _context(best):
            best = found
    return best


def _arranged(demands: Sequence[Demand], swap: tuple[str, ...], fitter: Fitter) -> Arrangement | None:
    chat = next((one for one in demands if one.role == "chat"), None)
    resident = [one for one in demands if one.role != "chat" and one.role not in swap]
    turns = sorted(
        (one for one in demands if one.role != "chat" and one.role in swap),
        key=lambda one: -fitter.need(one.model, one.sizing),
    )
    leaves: dict[Room, tuple[Spot | None, dict[str, Spot]]] = {}
    split_only = chat is not None and fitter.never_single(chat)
    for spots, room in _residents(resident, fitter.empty, fitter):
        if split_only and len(leaves) >= _LEAVES_WITH_SPLITS:
            break
        shared = _shared(turns, room, fitter)
        if shared is None:
            continue
        together, group = shared
        pinned = {**spots, **together}
        if chat is None:
            return Arrangement(spots=pinned, swap=swap)
        # One that takes turns has the room of the others who do.
        left = room if "chat" in swap else tuple(have - held for have, held in zip(room, group, strict=True))
        if left in leaves:
            continue
        single = fitter.best_single(chat, left)
        if single is not None and single.sizing.context_tokens >= chat.sizing.context_tokens:
            return Arrangement(spots={**pinned, "chat": single}, swap=swap)
        leaves[left] = (single, pinned)
    return None if chat is None else _roomiest(chat, leaves, swap, fitter)


def _roomiest(
    chat: Demand, leaves: Mapping[Room, tuple[Spot | None, dict[str, Spot]]], swap: tuple[str, ...], fitter: Fitter
) -> Arrangement | None:
    """Return the arrangement that leaves chat the longest context, over several cards where one is too small."""
    order = sorted(
        leaves.items(), key=lambda leaf: (-(leaf[1][0].sizing.context_tokens if leaf[1][0] else 0), -max(leaf[0]))
    )
    best: Arrangement | None = None
    for left, (_, spots) in order[:_LEAVES_WITH_SPLITS]:
        found = fitter.best_chat(chat, left)
        if found is not None and (best is None or found.sizing.context_tokens > _context(best)):
            best = Arrangement(spots={**spots, "chat": found}, swap=swap)
            if found.sizing.context_tokens >= chat.sizing.context_tokens:
                break
    return best


def _residents(demands: Sequence[Demand], room: Room, fitter: Fitter) -> Iterator[tuple[dict[str, Spot], Room]]:
    """Yield every way to place roles that stay loaded."""
    if not demands:
        yield {}, room
        return
    first, rest = demands[0], demands[1:]
    for spot in fitter.candidates(first, room):
        for spots, left in _residents(rest, taken(room, spot), fitter):
            yield {first.role: spot, **spots}, left


def _shared(demands: Sequence[Demand], room: Room, fitter: Fitter) -> tuple[dict[str, Spot], Room] | None:
    """Place roles that take turns, on the same cards where possible: only the largest of them counts there."""
    group = [0] * len(room)
    spots: dict[str, Spot] = {}
    for demand in demands:
        found = min(
            fitter.candidates(demand, room),
            key=lambda spot: (sum(max(0, spot.on(at) - group[at]) for at in spot.bins), room[spot.bins[0]], spot.bins),
            default=None,
        )
        if found is None:
            return None
        spots[demand.role] = found
        group = [max(held, found.on(at)) for at, held in enumerate(group)]
    return spots, tuple(group)


def _context(found: Arrangement) -> int:
    return found.spots["chat"].sizing.context_tokens


def _target(demands: Sequence[Demand]) -> int:
    return next(one.sizing.context_tokens for one in demands if one.role == "chat")
