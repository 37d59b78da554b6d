"""How far a mean over queries may be trusted: bootstrap intervals and a paired test. Deterministic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CONFIDENCE = 0.95
SAMPLES = 2000
PERMUTATIONS = 5000
_SEED = 20_240_601
_MOST_AT_ONCE = 2_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the mean would lie in 95 % of the cases, had other queries of the same kind been judged."""

    low: float
    high: float

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def to_list(self) -> list[float]:
        return [self.low, self.high]


def interval_of_mean(values: Sequence[float]) -> Interval:
    """Return the percentile bootstrap interval of the mean: queries are drawn anew, with replacement."""
    import numpy as np

    scores = np.asarray(values, dtype=np.float64)
    if not scores.size:
        return Interval(0.0, 0.0)
    if scores.min() == scores.max():
        return Interval(float(scores[0]), float(scores[0]))
    chance = np.random.default_rng(_SEED)
    means = np.concatenate(
        [scores[chance.integers(0, scores.size, size)].mean(axis=1) for size in _batches(SAMPLES, scores.size)]
    )
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    return Interval(float(low), float(high))


def chance_of(differences: Sequence[float]) -> float:
    """Return how often differences at least this big come about where their signs are a matter of chance.

    This is the two-sided paired randomization test. Queries that make no difference say nothing.
    """
    import numpy as np

    values = np.asarray([one for one in differences if one], dtype=np.float64)
    if not values.size:
        return 1.0
    chance = np.random.default_rng(_SEED)
    bar = abs(float(values.sum())) * (1 - 1e-9)
    reached = sum(_reaching(values, chance, size, bar) for size in _batches(PERMUTATIONS, values.size))
    return (reached + 1) / (PERMUTATIONS + 1)


def _reaching(values: NDArray[np.float64], chance: np.random.Generator, size: tuple[int, int], bar: float) -> int:
    signs = chance.integers(0, 2, size) * 2 - 1
    return int((abs(signs @ values) >= bar).sum())


def _batches(rows: int, columns: int) -> Iterator[tuple[int, int]]:
    """Yield shapes of `rows` rows together, each small enough for memory."""
    step = max(1, _MOST_AT_ONCE // columns)
    for at in range(0, rows, step):
        yield min(step, rows - at), columns
