"""A cut-off by distance that gives way where it leaves too little."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lilbee_core.protocols import SearchContext
from lilbee_core.types import Dropped, Part, Ranking, SearchState

_MOST_STEPS = 20
_FARTHEST = 2.0


@dataclass(frozen=True, slots=True)
class AdaptiveDistance:
    """Leave out what is farther than `max_distance` in meaning, but widen it by `step` until there are enough hits.

    Enough are as many chunks as the query asks for, those found by words included. It widens at most 20 times, and
    a `max_distance` of 1 or more switches the cut-off itself off. `Dense` before it must not cut.
    """

    max_distance: float = 0.9
    step: float = 0.2
    name: str = "distance"
    reads: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise ValueError(f"step must be positive, got {self.step}")

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        if self.max_distance >= 1:
            return replace(state, note="no cut-off")
        limit, steps = self._limit(state.rankings, state.query.top_k)
        near = tuple(_near(ranking, limit) for ranking in state.rankings)
        kept = {entry.chunk_id for ranking in near for entry in ranking.entries}
        reason = f"farther than {limit:.2g}"
        far = {
            entry.chunk_id: Dropped(chunk_id=entry.chunk_id, reason=reason, score=entry.score)
            for ranking in state.rankings
            for entry in ranking.entries
            if entry.chunk_id not in kept
        }
        note = f"{limit:.2g} after {steps} step{'s' * (steps != 1)}" if steps else f"{limit:.2g}"
        return replace(state, rankings=near, dropped=tuple(far.values()), note=note)

    def _limit(self, rankings: Sequence[Ranking], wanted: int) -> tuple[float, int]:
        """Return the distance that leaves enough, and how often it was widened."""
        limit = self.max_distance
        for steps in range(_MOST_STEPS):
            found = {entry.chunk_id for ranking in rankings for entry in _near(ranking, limit).entries}
            if len(found) >= wanted or limit >= _FARTHEST:
                return limit, steps
            limit = min(self.max_distance + self.step * (steps + 1), _FARTHEST)
        return limit, _MOST_STEPS


def _near(ranking: Ranking, limit: float) -> Ranking:
    if ranking.name != "dense":
        return ranking
    return replace(
        ranking, entries=tuple(entry for entry in ranking.entries if limit >= _FARTHEST or 1 - entry.score <= limit)
    )
