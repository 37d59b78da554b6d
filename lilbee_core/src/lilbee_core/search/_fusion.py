"""How rankings become one: pure functions over scores and ranks.

All of them give the same result whatever the order of the rankings; chunks with equal scores go by id.
A ranking counts with its own `weight` times the weight of its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from lilbee_core.types import ChunkId, Ranking, Scored

Fusion: TypeAlias = Callable[[Sequence[Ranking]], tuple[Scored, ...]]
"""Merges rankings into one list of scored chunks, best first."""

EVEN: Mapping[str, float] = MappingProxyType({})


def convex(rankings: Sequence[Ranking], *, weights: Mapping[str, float] = EVEN) -> tuple[Scored, ...]:
    """Merge by score: the weighted mean of each chunk's place between the worst and the best score of a ranking.

    Unlike ranks, scores say how far apart hits are: one hit far ahead stays far ahead, a list of equals decides
    little. A chunk that a ranking lacks counts there as its worst. The result lies between 0 and 1.

    Args:
        rankings: What the retrievers found.
        weights: Weight by name of ranking; 1 for names that are not given.
    """
    counted = [(_weight(one, weights), _between(one)) for one in rankings if one.entries]
    total = sum(weight for weight, _ in counted)
    scores: dict[ChunkId, float] = {}
    for weight, places in sorted(counted, key=lambda pair: pair[0]):
        for chunk_id, place in places.items():
            scores[chunk_id] = scores.get(chunk_id, 0.0) + (weight / total * place if total else place)
    return _best_first(scores)


def reciprocal_rank(
    rankings: Sequence[Ranking], *, k: int = 60, weights: Mapping[str, float] = EVEN
) -> tuple[Scored, ...]:
    """Merge by rank: a chunk earns ``weight / (k + rank)`` from each ranking that holds it.

    Raises:
        ValueError: If `k` is not positive.
    """
    if k <= 0:
        raise ValueError(f"k must be positive, got {k}")
    scores: dict[ChunkId, float] = {}
    for ranking in sorted(rankings, key=lambda one: (one.name, one.variant)):
        weight = _weight(ranking, weights)
        for rank, entry in enumerate(ranking.entries, start=1):
            scores[entry.chunk_id] = scores.get(entry.chunk_id, 0.0) + weight / (k + rank)
    return _best_first(scores)


def weighted(rankings: Sequence[Ranking], *, dense: float = 0.7) -> tuple[Scored, ...]:
    """Merge cosine similarity and keyword score as ``dense * cosine + (1 - dense) * keyword``.

    Cosines count as they are (below 0 as 0), keyword scores in proportion to the best one of the query.
    """
    scores: dict[ChunkId, float] = {}
    for ranking in sorted(rankings, key=lambda one: (one.name, one.variant)):
        by_meaning = ranking.name == "dense"
        top = 1.0 if by_meaning else max((entry.score for entry in ranking.entries), default=0.0)
        share = (dense if by_meaning else 1 - dense) * ranking.weight
        for entry in ranking.entries:
            value = share * max(entry.score, 0.0) / top if top > 0 else 0.0
            scores[entry.chunk_id] = scores.get(entry.chunk_id, 0.0) + value
    return _best_first(scores)


def _weight(ranking: Ranking, weights: Mapping[str, float]) -> float:
    return ranking.weight * weights.get(ranking.name, 1.0)


def _between(ranking: Ranking) -> dict[ChunkId, float]:
    """Return where each score lies between the worst (0) and the best (1) of the ranking."""
    values = [entry.score for entry in ranking.entries]
    low, high = min(values), max(values)
    if high <= low:
        return {entry.chunk_id: 1.0 for entry in ranking.entries}
    return {entry.chunk_id: (entry.score - low) / (high - low) for entry in ranking.entries}


def _best_first(scores: Mapping[ChunkId, float]) -> tuple[Scored, ...]:
    ordered = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Scored(chunk_id, score) for chunk_id, score in ordered)
