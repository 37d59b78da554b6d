"""Whether the words alone have found it already, so that nobody needs to ask a chat model."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lilbee_core.protocols import SearchContext
from lilbee_core.search._asking import is_askable
from lilbee_core.search._keys import ANALYZED, CONFIDENCE
from lilbee_core.types import Part, Ranking, SearchState

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery

# Fitted on judged questions; docs/explanation/retrieval.md has the measurements.
CENTER = 12.0
SLOPE = 0.2
_LARGEST_EXPONENT = 700.0


@dataclass(frozen=True, slots=True)
class Confidence:
    """What the probe makes of the first two word hits, each from 0 to 1."""

    first: float
    second: float
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Probe:
    """Say whether the first word hit is strong and far ahead of the second. It searches nothing itself.

    BM25 has no upper end and grows with the words of the query, so a score per word is brought between 0 and 1 by a
    sigmoid. The search is sure where the first reaches `threshold` and leads the second by `gap`.
    """

    threshold: float = 0.8
    gap: float = 0.15
    center: float = CENTER
    slope: float = SLOPE
    name: str = "probe"
    reads: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)
    writes: frozenset[Part] = field(default=frozenset(), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        ranking = next((one for one in state.rankings if one.name == "lexical" and one.variant == "original"), None)
        if ranking is None or not ranking.entries:
            sure = Confidence(0.0, 0.0, is_sure=False)
            return replace(state.put(CONFIDENCE, sure), note="no word hits")
        analyzed = state.get(ANALYZED)
        first, second = (normalized(score, analyzed, self.center, self.slope) for score in _best_two(ranking))
        # Compared as they are shown: two sums of the same decimals may differ in the last bit.
        is_sure = first >= self.threshold and round(first - second, 9) >= self.gap
        note = f"{'sure' if is_sure else 'not sure'}: {first:.2f}, next {second:.2f}"
        return replace(state.put(CONFIDENCE, Confidence(first, second, is_sure)), note=note)


def normalized(score: float, analyzed: AnalyzedQuery | None, center: float = CENTER, slope: float = SLOPE) -> float:
    """Return a BM25 score, per word of the query, as a number between 0 and 1."""
    words = max(len(analyzed.highlights) if analyzed else 0, 1)
    exponent = -slope * (score / words - center)
    return 1 / (1 + math.exp(min(exponent, _LARGEST_EXPONENT))) if math.isfinite(score) else 0.0


def is_unsure(state: SearchState) -> bool:
    """Say whether more wordings may help: the probe was not sure, and there is a query to reword."""
    confidence = state.get(CONFIDENCE)
    return is_askable(state) and not (confidence is not None and confidence.is_sure)


def _best_two(ranking: Ranking) -> tuple[float, float]:
    """Return the first two scores; behind a single hit, what every other chunk scores."""
    first = ranking.entries[0].score
    if len(ranking.entries) > 1:
        return first, ranking.entries[1].score
    return first, ranking.floor or 0.0
