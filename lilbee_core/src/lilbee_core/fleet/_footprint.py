"""How much memory a server will take, from what its model file says."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Protocol

from lilbee_core.fleet._sizing import RoleModel, Sizing
from lilbee_core.types import GgufFacts, ModelFootprint

MIB = 1 << 20
CARD_OVERHEAD = 250 * MIB
"""What a process takes of a card before it loads anything."""
PROCESS_OVERHEAD = 100 * MIB
_LEAST_EYES = 128 * MIB
_CELL_STEP = 256
# Bytes of one number in the cache.
_KV_BYTES = {
    "f32": 4.0,
    "f16": 2.0,
    "bf16": 2.0,
    "q8_0": 34 / 32,
    "q5_1": 24 / 32,
    "q5_0": 22 / 32,
    "q4_1": 20 / 32,
    "q4_0": 18 / 32,
}


class Estimator(Protocol):
    """Tells how much memory a server will take."""

    def footprint(self, model: RoleModel, sizing: Sizing) -> ModelFootprint: ...


class GgufEstimator:
    """Estimates from the model file alone. Remembers its answers; threads may share it."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], ModelFootprint] = {}

    def footprint(self, model: RoleModel, sizing: Sizing) -> ModelFootprint:
        eyes = model.projector.path if model.projector else None
        key = (model.role, model.facts.path, model.facts.size_bytes, eyes, sizing)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = estimate(model, sizing)
        return found


def estimate(model: RoleModel, sizing: Sizing) -> ModelFootprint:
    """Return what a server with these sizes will take."""
    facts = model.facts
    kv = [kv_bytes(facts, sizing, layer) for layer in range(facts.layers)]
    compute = compute_bytes(model, sizing)
    projector = projector_bytes(model.projector)
    shares = split_shares(model, sizing, sizing.layer_split) if sizing.layer_split else ()
    on_card = sizing.gpu_layers - 1 if sizing.gpu_layers > facts.layers else sizing.gpu_layers
    first = facts.layers - on_card
    weights = sum(facts.layer_bytes[first:]) + (facts.output_bytes if sizing.gpu_layers > facts.layers else 0)
    discrete = weights + sum(kv[first:]) + compute + projector + CARD_OVERHEAD
    return ModelFootprint(
        weights_bytes=facts.weights_bytes,
        kv_bytes=sum(kv),
        compute_bytes=compute,
        projector_bytes=projector,
        kv_bytes_per_token=sum(kv) // max(1, sizing.context_tokens * sizing.slots),
        discrete_bytes=sum(shares) if shares else discrete,
        unified_bytes=facts.weights_bytes + sum(kv) + compute + projector + PROCESS_OVERHEAD,
        shares=shares,
    )


def kv_bytes(facts: GgufFacts, sizing: Sizing, layer: int) -> int:
    """Return what a layer keeps of all tokens that may be under way."""
    if not facts.kv_elements:
        return 0
    cells = sizing.context_tokens
    if facts.windowed and facts.windowed[layer]:
        window = facts.window + sizing.ubatch_tokens
        cells = min(cells, -(-window // _CELL_STEP) * _CELL_STEP)
    keys, values = facts.kv_elements[layer]
    return int(cells * sizing.slots * (keys + values) * _KV_BYTES[sizing.kv_cache_type])


def compute_bytes(model: RoleModel, sizing: Sizing) -> int:
    """Return the buffers for the largest step: attention and the layer behind it, and the scores of all words."""
    facts = model.facts
    batch = min(sizing.ubatch_tokens, sizing.context_tokens * sizing.slots)
    seen = sizing.context_tokens if facts.kv_elements else batch
    attention = batch * seen * (6 if sizing.flash_attention else 4 * max(1, facts.heads) + 4)
    wide = facts.feed_forward_length or 4 * facts.embedding_length
    hidden = batch * (4 * facts.embedding_length + 2 * wide) * 4
    # Scores are kept for the last token of each request only.
    scores = sizing.slots * facts.vocabulary * 4 if model.role in {"chat", "vision"} else 0
    return attention + hidden + scores


def projector_bytes(projector: GgufFacts | None) -> int:
    """Return what the eyes of a model take: their weights, and the buffers for one picture."""
    if projector is None:
        return 0
    return projector.weights_bytes + max(_LEAST_EYES, projector.weights_bytes // 4)


# ---------------------------------------------------------------------------------------------------- splits


def layer_costs(model: RoleModel, sizing: Sizing) -> list[int]:
    """Return what each layer takes of the card it lies on, the last step being one more layer."""
    facts = model.facts
    costs = [facts.layer_bytes[layer] + kv_bytes(facts, sizing, layer) for layer in range(facts.layers)]
    return [*costs, facts.output_bytes]


def card_costs(model: RoleModel, sizing: Sizing, cards: int) -> list[int]:
    """Return what each card of a split takes before any layer: every one has buffers, the first one the eyes too."""
    each = compute_bytes(model, sizing) + CARD_OVERHEAD
    return [each + projector_bytes(model.projector), *([each] * (cards - 1))]


def split_shares(model: RoleModel, sizing: Sizing, split: Sequence[int]) -> tuple[int, ...]:
    """Return what each card of a split holds."""
    costs = layer_costs(model, sizing)
    fixed = card_costs(model, sizing, len(split))
    shares: list[int] = []
    at = 0
    for count, base in zip(split, fixed, strict=True):
        shares.append(base + sum(costs[at : at + count]))
        at += count
    return tuple(shares)


@dataclass(frozen=True, slots=True)
class SplitCosts:
    """What a server with certain sizes takes over several cards: up to each layer, and of every card beforehand."""

    upto: tuple[int, ...]
    each: int
    first: int

    @classmethod
    def of(cls, model: RoleModel, sizing: Sizing) -> SplitCosts:
        """Return the costs of a server."""
        first, each = card_costs(model, sizing, 2)
        return cls((0, *accumulate(layer_costs(model, sizing))), each, first)

    def layers(self, room: Sequence[int]) -> tuple[int, ...] | None:
        """Return how many layers each card takes so that all are filled alike, or None if the model does not fit.

        Layers keep their order, and every card gets one at least: a share of nothing would leave the engine's own
        arithmetic with a card too few.
        """
        best = self._fill(room, 256)
        low, high = 0, 256
        while best is not None and low < high:
            middle = (low + high) // 2
            found = self._fill(room, middle)
            if found is None:
                low = middle + 1
            else:
                best, high = found, middle
        return best

    def _fill(self, room: Sequence[int], parts: int) -> tuple[int, ...] | None:
        """Fill cards one after the other up to so many 256ths, leaving at least one layer for each that follows."""
        upto = self.upto
        last = len(upto) - 1
        counts: list[int] = []
        at = 0
        for card, have in enumerate(room):
            left = have * parts // 256 - (self.each if card else self.first)
            end = min(bisect_right(upto, upto[at] + left) - 1, last - (len(room) - card - 1))
            if left < 0 or end <= at:
                return None
            counts.append(end - at)
            at = end
        return tuple(counts) if at == last else None
