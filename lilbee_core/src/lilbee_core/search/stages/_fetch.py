"""From ids to hits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lilbee_core.protocols import ChunkReader, SearchContext
from lilbee_core.types import Chunk, ChunkId, Dropped, Hit, Part, Ranking, SearchState


@dataclass(frozen=True, slots=True)
class Fetch:
    """Read the chunks of the last ranking's best candidates and make them hits, with the score of every ranking.

    `multiplier` times as many as asked for are read, so that later stages have something to choose from.
    """

    reader: ChunkReader
    multiplier: int = 3
    name: str = "fetch"
    reads: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        entries = state.rankings[-1].entries if state.rankings else ()
        limit = state.query.top_k * self.multiplier
        wanted, rest = entries[:limit], entries[limit:]
        chunks = {chunk.id: chunk for chunk in self.reader.get([one.chunk_id for one in wanted])} if wanted else {}
        scores = _scores(state.rankings, chunks)
        hits = tuple(
            Hit(chunk=chunks[one.chunk_id], score=one.score, scores=scores[one.chunk_id])
            for one in wanted
            if one.chunk_id in chunks
        )
        gone = tuple(Dropped(chunk_id=one.chunk_id, reason="no longer in the index", score=one.score)
                     for one in wanted if one.chunk_id not in chunks)  # fmt: skip
        reason = f"beyond the best {limit} candidates"
        late = tuple(Dropped(chunk_id=one.chunk_id, reason=reason, score=one.score) for one in rest)
        if not entries:
            state = self._explain_nothing(state)
        return replace(state, hits=hits, dropped=(*gone, *late))

    def _explain_nothing(self, state: SearchState) -> SearchState:
        """Warn where the filters alone leave nothing to search in."""
        query = state.query
        if query.filters.is_empty or self.reader.count(filters=query.filters, scope=query.scope):
            return state
        return state.warn("no document passes the filters of this search")


def _scores(
    rankings: tuple[Ranking, ...], wanted: dict[ChunkId, Chunk]
) -> dict[ChunkId, tuple[tuple[str, float], ...]]:
    scores: dict[ChunkId, dict[str, float]] = {chunk_id: {} for chunk_id in wanted}
    for ranking in rankings:
        name = ranking.name if ranking.variant == "original" else f"{ranking.name}:{ranking.variant}"
        for entry in ranking.entries:
            named = scores.get(entry.chunk_id)
            if named is not None:
                named[name] = max(entry.score, named.get(name, entry.score))
    return {chunk_id: tuple(named.items()) for chunk_id, named in scores.items()}
