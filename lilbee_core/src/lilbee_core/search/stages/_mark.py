"""What a reader sees in a hit: the words that matched, and whether the file has changed since."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from lilbee_core.protocols import QueryAnalyzer, SearchContext
from lilbee_core.search._keys import ANALYZED
from lilbee_core.types import Chunk, DocumentId, Hit, Part, SearchState

StaleAmong: TypeAlias = Callable[[Sequence[Chunk]], Collection[DocumentId]]
"""Returns the documents of those of the chunks whose file has changed since it was indexed. Asked once per search."""


def none_stale(chunks: Sequence[Chunk]) -> Collection[DocumentId]:
    """Say that no file has changed since it was indexed."""
    return ()


@dataclass(frozen=True, slots=True)
class Mark:
    """Mark the words of the query in each hit, and the hits whose file has changed since it was indexed."""

    analyzer: QueryAnalyzer
    stale_among: StaleAmong = none_stale
    name: str = "mark"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        stale = self.stale_among([hit.chunk for hit in state.hits])
        return replace(state, hits=tuple(self._marked(hit, state, stale) for hit in state.hits))

    def _marked(self, hit: Hit, state: SearchState, stale: Collection[DocumentId]) -> Hit:
        words = state.get(ANALYZED)
        changed = hit.chunk.document_id in stale
        if words is None:
            return replace(hit, stale=changed)
        spans = self.analyzer.spans(hit.chunk.text, words, language=hit.chunk.language)
        return replace(hit, highlights=tuple(spans), stale=changed)
