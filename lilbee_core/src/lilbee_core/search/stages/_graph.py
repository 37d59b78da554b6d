"""What a graph of concepts adds to a search: related wordings, and a lift for hits about the same things."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from lilbee_core.protocols import ConceptReader, SearchContext
from lilbee_core.types import Concept, Hit, Part, SearchState, Variant

GRAPH = "graph"
"""The kind of variants that come from the graph; what checks reworded questions for drift leaves them alone."""


@dataclass(frozen=True, slots=True)
class ExpandByGraph:
    """Add wordings with the concepts that go most with those of the query, one step away in the graph.

    A concept that goes with several of the query's counts with the sum of its weights. All of these wordings together
    weigh `weight`, against 1 for what was asked.
    """

    graph: ConceptReader
    most: int = 3
    weight: float = 0.5
    name: str = "expand_by_graph"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        asked = self.graph.entities(state.query.text)
        related = self._related(asked)[: self.most]
        if not related or not state.variants:
            return replace(state, note="no concept of the query has neighbors" if asked else "no concepts in the query")
        share = self.weight / len(related)
        text = state.variants[0].text
        more = [Variant(text=f"{text} {concept}", kind=GRAPH, weight=share) for concept in related]
        return replace(state, variants=(*state.variants, *more), note=", ".join(related))

    def _related(self, asked: Iterable[str]) -> list[str]:
        """Return the concepts one step away from those asked for, the ones that go most with them first."""
        known = {concept.casefold() for concept in asked}
        weights: dict[str, float] = defaultdict(float)
        for concept in asked:
            for relation in self.graph.neighbors(concept, limit=self.most * len(known)):
                if relation.target.casefold() not in known:
                    weights[relation.target] += relation.weight
        return sorted(weights, key=lambda concept: (-weights[concept], concept))


@dataclass(frozen=True, slots=True)
class BoostConcepts:
    """Lift hits about the concepts of the query: a score grows by `weight` times the share of them that a hit is about.

    No score falls.
    """

    graph: ConceptReader
    weight: float = 0.3
    name: str = "boost_concepts"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        asked = {concept.casefold() for concept in self.graph.entities(state.query.text)}
        if not asked or not state.hits:
            return replace(state, note="" if asked else "no concepts in the query")
        known = self.graph.concepts_of([hit.chunk.id for hit in state.hits])
        lifted = sorted(
            (self._lifted(hit, asked, known.get(hit.chunk.id, ())) for hit in state.hits), key=lambda hit: -hit.score
        )
        return replace(state, hits=tuple(lifted), note=", ".join(sorted(asked)))

    def _lifted(self, hit: Hit, asked: set[str], concepts: Iterable[Concept]) -> Hit:
        held = {name for concept in concepts for name in _names(concept)}
        share = len(asked & held) / len(asked)
        if share == 0:
            return hit
        lifted = replace(hit, score=hit.score + abs(hit.score) * share * self.weight)
        return lifted.with_score("concepts", share)


def _names(concept: Concept) -> Iterable[str]:
    return (name.casefold() for name in (concept.id, concept.label, *concept.aliases))
