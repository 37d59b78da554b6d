"""The cut."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lilbee_core.protocols import SearchContext
from lilbee_core.types import Dropped, Part, SearchState


@dataclass(frozen=True, slots=True)
class Limit:
    """Keep as many hits as the query asks for, or at most `most` where given."""

    most: int | None = None
    name: str = "limit"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        limit = state.query.top_k if self.most is None else min(self.most, state.query.top_k)
        reason = f"beyond the first {limit}"
        dropped = tuple(Dropped(chunk_id=hit.chunk.id, reason=reason, score=hit.score) for hit in state.hits[limit:])
        return replace(state, hits=state.hits[:limit], dropped=dropped)
