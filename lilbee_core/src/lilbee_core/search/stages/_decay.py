"""Newer hits first: by degrees, or outright."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date

from lilbee_core.protocols import SearchContext
from lilbee_core.types import Hit, Part, SearchState

HALF_LIFE_DAYS = 30.0


@dataclass(frozen=True, slots=True)
class Decay:
    """Let scores fall with the age of a document: by half every `half_life_days`.

    `share` is the part of a score that age can take: with 1 all of it, with .3 an old hit keeps 70 %. A document of
    tomorrow is as good as one of today; one without a date counts as one half-life old. A half-life of 0 switches
    this off.
    """

    half_life_days: float = HALF_LIFE_DAYS
    share: float = 1.0
    name: str = "decay"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def __post_init__(self) -> None:
        if not (self.half_life_days >= 0 and 0 <= self.share <= 1):
            raise ValueError(f"half_life_days {self.half_life_days} must be 0 or more, share {self.share} from 0 to 1")

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        if not self.half_life_days:
            return replace(state, note="switched off")
        today = context.clock.now().date()
        aged = sorted((self._aged(hit, today) for hit in state.hits), key=lambda hit: -hit.score)
        return replace(state, hits=tuple(aged), note=f"half-life {self.half_life_days:g} days")

    def _aged(self, hit: Hit, today: date) -> Hit:
        left = self._left(hit.chunk.date, today)
        lost = self.share * (1 - left)
        # A score below 0 falls too when more is taken away from it.
        return replace(hit.with_score(self.name, left), score=hit.score - abs(hit.score) * lost)

    def _left(self, text: str | None, today: date) -> float:
        day = day_of(text)
        if day is None:
            return 0.5
        return float(0.5 ** (max((today - day).days, 0) / self.half_life_days))


@dataclass(frozen=True, slots=True)
class Recency:
    """Sort hits by date, newest first, undated ones last; equal dates keep their order."""

    name: str = "recency"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        ordered = sorted(state.hits, key=lambda hit: hit.chunk.date or "", reverse=True)
        count = len(ordered)
        hits = (replace(hit, score=1 - at / count) for at, hit in enumerate(ordered))
        return replace(state, hits=tuple(hits), note="newest first")


def day_of(text: str | None) -> date | None:
    """Return the day of an ISO date or time, None where there is none."""
    try:
        return date.fromisoformat((text or "")[:10])
    except ValueError:
        return None
