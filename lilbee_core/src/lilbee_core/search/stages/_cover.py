"""Which hits an answer is made from: together they speak of all that was asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lilbee_core.protocols import QueryAnalyzer, SearchContext
from lilbee_core.search._keys import ANALYZED
from lilbee_core.types import Dropped, Part, SearchState

_UNSPACED = "\u0e00"


@dataclass(frozen=True, slots=True)
class Cover:
    """Choose at most `most` hits by greedy set cover over the words of the query, best first as they came.

    The hit with most words that no chosen one holds is taken, until all words are held or the best of the rest would
    add less than `least_gain` of them. A question about two things so gets passages about both, even where the best
    hits speak of one. Places that are left then go to the best of the rest; with `fill` off they stay empty.

    It stands behind `Mark`, since it goes by the words that are marked.
    """

    analyzer: QueryAnalyzer
    most: int = 5
    least_gain: float = 0.05
    fill: bool = True
    name: str = "cover"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        words, held = self._held(state)
        chosen = choose(held, words, self.most, self.least_gain)
        told = frozenset[str]().union(*(held[at] for at in chosen))
        note = f"{len(told)} of {len(words)} words by {len(chosen)} hits"
        if self.fill:
            chosen = [*chosen, *(at for at in range(len(held)) if at not in chosen)][: self.most]
        dropped = tuple(
            Dropped(chunk_id=hit.chunk.id, reason="adds no words to the chosen hits", score=hit.score)
            for at, hit in enumerate(state.hits)
            if at not in chosen
        )
        return replace(state, hits=tuple(state.hits[at] for at in sorted(chosen)), dropped=dropped, note=note)

    def _held(self, state: SearchState) -> tuple[frozenset[str], list[frozenset[str]]]:
        """Return the words of the query, and those that each hit holds."""
        analyzed = state.get(ANALYZED)
        if analyzed is None:
            return frozenset(), [frozenset() for _ in state.hits]
        runs = [word for word in analyzed.highlights if len(word) > 1 and max(word) >= _UNSPACED]
        pairs = frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))
        spaced = [word.casefold() for word in analyzed.highlights if word not in runs]
        by_term: dict[str, set[str]] = {}
        for word in spaced:
            for term in self.analyzer.query(word, languages=analyzed.languages).terms:
                by_term.setdefault(term, set()).add(word)
        known: dict[str, frozenset[str]] = {}
        held: list[frozenset[str]] = []
        for hit in state.hits:
            marked = {hit.text[start:end].casefold() for start, end in hit.highlights}
            for surface in marked - known.keys():
                known[surface] = self._words_of(surface, by_term, analyzed.languages)
            words = frozenset[str]().union(*(known[surface] for surface in marked))
            held.append(words | {pair for pair in pairs if pair in hit.text})
        return pairs.union(spaced), held

    def _words_of(self, surface: str, by_term: Mapping[str, set[str]], languages: Sequence[str]) -> frozenset[str]:
        terms = self.analyzer.query(surface, languages=languages).terms
        return frozenset(word for term in terms for word in by_term.get(term, ()))


def choose(held: Sequence[frozenset[str]], words: frozenset[str], most: int, least_gain: float) -> list[int]:
    """Return the places of the hits that greedy set cover takes, in the order of taking; of equals the better one."""
    chosen: list[int] = []
    told: frozenset[str] = frozenset()
    while len(chosen) < most and told != words:
        gains = {at: len((one & words) - told) for at, one in enumerate(held) if at not in chosen}
        best = max(gains, key=lambda at: (gains[at], -at), default=None)
        if best is None or gains[best] == 0 or gains[best] < least_gain * len(words):
            break
        chosen.append(best)
        told |= held[best] & words
    return chosen
