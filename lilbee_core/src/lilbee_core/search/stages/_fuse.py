"""From several rankings to one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lilbee_core.protocols import SearchContext
from lilbee_core.search._fusion import Fusion
from lilbee_core.types import Part, Ranking, SearchState

FUSED = "fused"


@dataclass(frozen=True, slots=True)
class Fuse:
    """Merge all rankings into one more, named ``fused``, by which `Fetch` goes."""

    fusion: Fusion
    name: str = "fuse"
    reads: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        fused = Ranking(name=FUSED, entries=self.fusion(state.rankings))
        parts = ", ".join(f"{one.name} {len(one.entries)} x {one.weight:g}" for one in state.rankings)
        return replace(state, rankings=(*state.rankings, fused), note=parts)
