"""Search by words."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from lilbee_core.protocols import ChunkReader, QueryAnalyzer, SearchContext
from lilbee_core.search._keys import ANALYZED
from lilbee_core.search._vectors import HYDE
from lilbee_core.types import Part, Query, Ranking, Scored, SearchState, Variant

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery


Phrases = Literal["must", "prefer"]
"""Whether a hit must hold what was put in quotes, or counts twice if it does."""


@dataclass(frozen=True, slots=True)
class Lexical:
    """Rank chunks by their words (BM25), once for every wording of the query.

    Wordings that it has searched already are not searched again, and neither is a hypothetical answer: that one is
    there for its meaning. A query without words (only punctuation) gives an empty ranking. With phrases that are only
    preferred, a chunk that holds them counts twice, and nothing is lost where none does.
    """

    reader: ChunkReader
    analyzer: QueryAnalyzer
    candidates: int = 100
    phrases: Phrases = "must"
    name: str = "lexical"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        limit = max(self.candidates, state.query.top_k)
        found: list[Ranking] = []
        known = state.get(ANALYZED)
        done = sum(ranking.name == self.name for ranking in state.rankings)
        for variant in [one for one in state.variants if one.kind != HYDE][done:]:
            words = known if known is not None and variant.kind == "original" else self._words(variant, known)
            entries, holds = self._entries(words, state.query, limit)
            floor = 0.0 if len(entries) < limit else None
            found.append(
                Ranking(name=self.name, entries=entries, weight=variant.weight, variant=variant.kind, floor=floor)
            )
            if not holds:
                state = state.warn("no passage holds the words in quotes exactly as they are")
        return replace(state, rankings=(*state.rankings, *found))

    def _words(self, variant: Variant, known: AnalyzedQuery | None) -> AnalyzedQuery:
        return self.analyzer.query(variant.text, languages=known.languages if known else ())

    def _entries(self, words: AnalyzedQuery, query: Query, limit: int) -> tuple[tuple[Scored, ...], bool]:
        """Return the entries, and whether any of them holds the phrases."""
        if words.is_empty:
            return (), True
        exact = self.reader.lexical(words, limit=limit, filters=query.filters, scope=query.scope)
        if not words.phrases or self.phrases == "must":
            return exact, bool(exact) or not words.phrases
        loose = self.reader.lexical(replace(words, phrases=()), limit=limit, filters=query.filters, scope=query.scope)
        return _joined(loose, exact)[:limit], bool(exact)


def _joined(loose: tuple[Scored, ...], exact: tuple[Scored, ...]) -> tuple[Scored, ...]:
    scores = {one.chunk_id: one.score for one in loose}
    for one in exact:
        scores[one.chunk_id] = scores.get(one.chunk_id, one.score) + one.score
    ordered = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Scored(chunk_id, score) for chunk_id, score in ordered)
