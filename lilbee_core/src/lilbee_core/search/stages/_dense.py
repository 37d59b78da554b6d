"""Search by meaning."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lilbee_core.protocols import ChunkReader, EmbedderLike, SearchContext
from lilbee_core.search._keys import LANGUAGE
from lilbee_core.search._vectors import embedded
from lilbee_core.types import Part, Ranking, Scored, SearchState, Variant


@dataclass(frozen=True, slots=True)
class Dense:
    """Rank chunks by the cosine of their vector with that of the query, once for every wording.

    Wordings that have no vector yet are embedded, all in one call.

    An embedder has a say only in the languages it declares to read: for a query in another one the ranking gets the
    weight `foreign_weight`, and nothing is searched where that is 0. A query of unknown language counts fully.

    Raises:
        ProviderError: If the embedder fails, or gives a vector that cannot be used.
    """

    reader: ChunkReader
    embedder: EmbedderLike
    candidates: int = 100
    max_distance: float = 0.9
    foreign_weight: float = 0.0
    name: str = "dense"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.VARIANTS, Part.RANKINGS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        if not any(letter.isalnum() for letter in state.query.text):
            return replace(state, note="the query has no words")
        trust, note = self._trust(state)
        if trust == 0:
            return replace(state, note=note)
        variants = embedded(state.variants, self.embedder)
        rankings = tuple(self._ranking(variant, state, trust) for variant in variants)
        return replace(state, variants=variants, rankings=(*state.rankings, *rankings), note=note)

    def _trust(self, state: SearchState) -> tuple[float, str]:
        language, reads = state.get(LANGUAGE), self.embedder.languages
        if not reads or language is None or language in reads:
            return 1.0, ""
        return self.foreign_weight, f"{self.embedder.model} does not read {language}"

    def _ranking(self, variant: Variant, state: SearchState, trust: float) -> Ranking:
        query = state.query
        assert variant.vector is not None
        limit = max(self.candidates, query.top_k)
        nearest = self.reader.dense(variant.vector, limit=limit, filters=query.filters, scope=query.scope)
        return Ranking(
            name=self.name,
            entries=tuple(one for one in nearest if self._is_near(one)),
            weight=variant.weight * trust,
            variant=variant.kind,
        )

    def _is_near(self, one: Scored) -> bool:
        return self.max_distance >= 1 or one.score >= 1 - self.max_distance
