"""Room for other documents."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from lilbee_core.protocols import SearchContext
from lilbee_core.types import DocumentId, Dropped, Hit, Part, SearchState


@dataclass(frozen=True, slots=True)
class Cap:
    """Keep at most `most` hits of one document, where other documents have enough to show.

    If fewer hits would be left than the query asks for, the best of what is above the cap stays: a search of one book
    shows as much of it as asked. With `strict` it does not. The order stays as it is.
    """

    most: int = 3
    strict: bool = False
    name: str = "cap"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def __post_init__(self) -> None:
        if self.most < 1:
            raise ValueError(f"most must be at least 1, got {self.most}")

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        if not state.query.diversify:
            return replace(state, note="relevance alone")
        above = self._above(state.hits)
        room = 0 if self.strict else max(0, state.query.top_k - (len(state.hits) - len(above)))
        out = frozenset(hit.chunk.id for hit in above[room:])
        if not out:
            return state
        kept = tuple(hit for hit in state.hits if hit.chunk.id not in out)
        dropped = tuple(
            Dropped(
                chunk_id=hit.chunk.id, reason=f"{self.most} better passages of {hit.path} come first", score=hit.score
            )
            for hit in above[room:]
        )
        return replace(state, hits=kept, dropped=dropped)

    def _above(self, hits: tuple[Hit, ...]) -> list[Hit]:
        """Return the hits behind the first `most` of their document."""
        seen: Counter[DocumentId] = Counter()
        above: list[Hit] = []
        for hit in hits:
            seen[hit.document_id] += 1
            if seen[hit.document_id] > self.most:
                above.append(hit)
        return above
