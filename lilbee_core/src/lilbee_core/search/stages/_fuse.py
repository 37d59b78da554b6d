"""From several rankings to one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from lilbee_core.protocols import SearchContext
from lilbee_core.search._fusion import Fusion, adaptive
from lilbee_core.types import Part, Ranking, SearchState

FUSED = "fused"


@dataclass(frozen=True, slots=True)
class Fuse:
    """Merge all rankings into one more, named ``fused``, by which `Fetch` goes."""

    fusion: Fusion = adaptive
    name: str = "fuse"
    reads: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        usable = [_finite(ranking) for ranking in state.rankings]
        fused = Ranking(name=FUSED, entries=self.fusion(usable))
        parts = ", ".join(f"{one.name} {len(one.entries)} x {one.weight:g}" for one in usable)
        return replace(state, rankings=(*state.rankings, fused), note=parts)


def _finite(ranking: Ranking) -> Ranking:
    """Return the ranking without entries whose score is no number: one of them would spoil all scores."""
    kept = tuple(entry for entry in ranking.entries if math.isfinite(entry.score))
    return ranking if len(kept) == len(ranking.entries) else replace(ranking, entries=kept)
