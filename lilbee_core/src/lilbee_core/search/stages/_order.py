"""Words that stand together in the query stand together in the better hit."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import pairwise

from lilbee_core.protocols import SearchContext
from lilbee_core.search._folded import folded
from lilbee_core.search._keys import ANALYZED
from lilbee_core.types import Hit, Part, SearchState

_WORD = re.compile(r"\w[\w'’-]*")


@dataclass(frozen=True, slots=True)
class Order:
    """Lift hits in which neighbors of the query are neighbors too, in the same order.

    Neither retriever sees order: "amber lamp flashes twice" is as good to them shuffled. What a hit gains is `bonus`
    times the square of the share of the query's pairs of neighbors that it holds as typed: all of them say much, one
    of many says little. A pair of two function words does not count. Scores between 0 and 1 stay there, and a hit that
    is best in everything keeps its score.
    """

    bonus: float = 0.8
    name: str = "order"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        pairs = _pairs(state)
        if not pairs or not state.hits:
            return replace(state, note="no neighbors to look for")
        shares = [_share(hit, pairs) for hit in state.hits]
        most = 1 + self.bonus * max(shares) ** 2
        lifted = [
            hit.with_score(self.name, share, score=(hit.score + self.bonus * share**2) / most)
            for hit, share in zip(state.hits, shares, strict=True)
        ]
        return replace(state, hits=tuple(sorted(lifted, key=lambda hit: -hit.score)), note=f"{len(pairs)} pairs")


def _share(hit: Hit, pairs: frozenset[str]) -> float:
    text = folded(hit.chunk.text).text
    return sum(pair in text for pair in pairs) / len(pairs)


def _pairs(state: SearchState) -> frozenset[str]:
    analyzed = state.get(ANALYZED)
    if analyzed is None:
        return frozenset()
    telling = {word.casefold() for word in analyzed.highlights}
    words = _WORD.findall(state.query.text.casefold())
    return frozenset(f"{one} {two}" for one, two in pairwise(words) if one in telling or two in telling)
