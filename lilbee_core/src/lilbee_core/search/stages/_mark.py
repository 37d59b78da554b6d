"""What a reader sees in a hit: the words that matched, and whether the file has changed since."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from lilbee_core.protocols import QueryAnalyzer, SearchContext
from lilbee_core.search._keys import ANALYZED
from lilbee_core.types import Chunk, Hit, Part, SearchState


def never_stale(chunk: Chunk) -> bool:
    """Say that no file has changed since it was indexed."""
    return False


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark the words of the query in each hit, and the hits whose file has changed since it was indexed."""

    analyzer: QueryAnalyzer
    is_stale: Callable[[Chunk], bool] = never_stale
    name: str = "mark"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        return replace(state, hits=tuple(self._marked(hit, state) for hit in state.hits))

    def _marked(self, hit: Hit, state: SearchState) -> Hit:
        words = state.get(ANALYZED)
        if words is None:
            return replace(hit, stale=self.is_stale(hit.chunk))
        spans = self.analyzer.spans(hit.chunk.text, words, language=hit.chunk.language)
        return replace(hit, highlights=tuple(spans), stale=self.is_stale(hit.chunk))
