"""A search stage that lets recent documents gain on old ones."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime

from lilbee_core.protocols import SearchContext
from lilbee_core.types import Hit, Part, SearchState


@dataclass(frozen=True, slots=True)
class Freshness:
    """Multiply every score by ``1 - weight * (1 - 0.5 ** (age / half_life_days))``, and sort again.

    A document without a date keeps its score, and so does one from the future.
    """

    half_life_days: float = 365.0
    weight: float = 0.3
    name: str = "acme-freshness"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        today = context.clock.now().astimezone(UTC).date()
        weighed = [self._weigh(hit, today) for hit in state.hits]
        # Equal scores keep their order, since sorting is stable.
        weighed.sort(key=lambda hit: -hit.score)
        return replace(state, hits=tuple(weighed))

    def _weigh(self, hit: Hit, today: date) -> Hit:
        written = day_of(hit.chunk.date)
        if written is None or hit.score <= 0:
            return hit
        age = max(0, (today - written).days)
        factor = 1 - self.weight * (1 - 0.5 ** (age / self.half_life_days))
        return replace(hit, score=hit.score * factor).with_score(self.name, factor)


def day_of(text: str | None) -> date | None:
    """Return the day of an ISO date or time, None where there is none."""
    try:
        return datetime.fromisoformat(text).date() if text else None
    except ValueError:
        return None
