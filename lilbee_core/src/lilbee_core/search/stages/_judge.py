"""Whether what was found answers the query at all."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import median

from lilbee_core.protocols import SearchContext
from lilbee_core.search._keys import ANALYZED, FOUND, TIME
from lilbee_core.types import Hit, Part, SearchState

_WORDS_COUNT = 0.5
_LEAD_COUNTS = 2.0
_LEAST_TOGETHER = 0.8
_FEWEST_FOR_LEAD = 30
_UNSPACED = "\u0e00"


@dataclass(frozen=True, slots=True)
class Judge:
    """Say whether any hit is near enough to the query, in words and in meaning. It stands behind `Mark`.

    A hit with all words of the query always is. Otherwise, where the embedder's cosines have been measured, the
    cosine and half the share of words must reach `floor` together. Cosines of other models say nothing by themselves:
    there the hit must hold `least_words` of the words, or fewer if its cosine leads the rest of the list by far.
    Documents that are listed by date, for a query of time words alone, are what was asked for.
    """

    floor: float | None = None
    least_words: float = 0.5
    name: str = "judge"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset(), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        sense = state.get(TIME)
        if sense is not None and sense.alone:
            return replace(state.put(FOUND, bool(state.hits)), note="listed by date")
        usual = _usual_cosine(state)
        best = max(((self._nearness(hit, state, usual), hit) for hit in state.hits), key=_first, default=None)
        found = best is not None and best[0] >= 1
        note = f"{'found' if found else 'nothing near enough'}, best {best[0]:.2f} of 1" if best else "no hits"
        return replace(state.put(FOUND, found), note=note)

    def _nearness(self, hit: Hit, state: SearchState, usual: float | None) -> float:
        """Return how near the hit comes to what is asked of it; 1 is enough."""
        words = share_of_words(hit, state)
        if words >= 1:
            return 1.0
        cosine = dict(hit.scores).get("dense")
        by_words = words / self.least_words
        if cosine is None:
            return by_words
        if self.floor is not None:
            return (cosine + _WORDS_COUNT * words) / self.floor
        if usual is None:
            return by_words
        return max(by_words, (words + _LEAD_COUNTS * (cosine - usual)) / _LEAST_TOGETHER)


def share_of_words(hit: Hit, state: SearchState) -> float:
    """Return how many of the query's words the hit holds, by what `Mark` found in it.

    In scripts without blanks the pairs of characters of a run take the place of words.
    """
    analyzed = state.get(ANALYZED)
    if analyzed is None or not analyzed.highlights:
        return 0.0
    runs = [word for word in analyzed.highlights if len(word) > 1 and max(word) >= _UNSPACED]
    others = len(analyzed.highlights) - len(runs)
    text = hit.chunk.text
    held = {text[start:end].casefold() for start, end in hit.highlights}
    spaced = sum(max(word, default="") < _UNSPACED for word in held)
    return (min(others, spaced) + sum(_share_of_pairs(run, text) for run in runs)) / len(analyzed.highlights)


def _share_of_pairs(run: str, text: str) -> float:
    pairs = {run[at : at + 2] for at in range(len(run) - 1)}
    return sum(pair in text for pair in pairs) / len(pairs)


def _usual_cosine(state: SearchState) -> float | None:
    """Return the middle cosine of what was searched, where there is enough of it to tell."""
    cosines = [entry.score for ranking in state.rankings if ranking.name == "dense" for entry in ranking.entries]
    return median(cosines) if len(cosines) >= _FEWEST_FOR_LEAD else None


def _first(pair: tuple[float, Hit]) -> float:
    return pair[0]
