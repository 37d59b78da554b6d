"""Search by words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lilbee_core.protocols import ChunkReader, QueryAnalyzer, SearchContext
from lilbee_core.search._keys import ANALYZED
from lilbee_core.types import Part, Ranking, SearchState


@dataclass(frozen=True, slots=True)
class Lexical:
    """Rank chunks by their words (BM25), once for every wording of the query.

    A query without words (only punctuation) gives an empty ranking.
    """

    reader: ChunkReader
    analyzer: QueryAnalyzer
    candidates: int = 100
    name: str = "lexical"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        query = state.query
        limit = max(self.candidates, query.top_k)
        found: list[Ranking] = []
        for variant in state.variants:
            known = state.get(ANALYZED) if variant.kind == "original" else None
            words = known or self.analyzer.query(variant.text)
            entries = (
                ()
                if words.is_empty
                else self.reader.lexical(words, limit=limit, filters=query.filters, scope=query.scope)
            )
            floor = 0.0 if len(entries) < limit else None
            found.append(
                Ranking(name=self.name, entries=entries, weight=variant.weight, variant=variant.kind, floor=floor)
            )
        return replace(state, rankings=(*state.rankings, *found))
