"""Whether what was found answers the query at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lilbee_core.protocols import SearchContext
from lilbee_core.search._keys import FOUND
from lilbee_core.types import Hit, Part, SearchState


@dataclass(frozen=True, slots=True)
class Judge:
    """Say whether any hit is near enough to the query, in words or in meaning.

    A hit is near enough when it holds `least_words` of the query's words, or when its cosine reaches `least_cosine`.
    A cosine means something only for the model it was measured with, so without `least_cosine` words alone decide.
    """

    least_words: float = 0.3
    least_cosine: float | None = None
    name: str = "judge"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset(), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        found = any(self._is_near(hit, state) for hit in state.hits)
        return replace(state.put(FOUND, found), note="found" if found else "nothing near enough")

    def _is_near(self, hit: Hit, state: SearchState) -> bool:
        cosine = dict(hit.scores).get("dense")
        if self.least_cosine is not None and cosine is not None and cosine >= self.least_cosine:
            return True
        return _share_of_words(hit, state) >= self.least_words


def _share_of_words(hit: Hit, state: SearchState) -> float:
    """Return how many of the query's words the hit holds, by what `Mark` found in it."""
    asked = {word for word in state.query.text.casefold().split() if any(letter.isalnum() for letter in word)}
    held = {hit.chunk.text[start:end].casefold() for start, end in hit.highlights}
    return min(1.0, len(held) / len(asked)) if asked else 0.0
