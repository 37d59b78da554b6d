"""How rankings become one: pure functions over scores and ranks.

All of them give the same result whatever the order of the rankings; chunks with equal scores go by id.
A ranking counts with its own `weight` times the weight of its name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from lilbee_core.types import ChunkId, Ranking, Scored

Fusion: TypeAlias = Callable[[Sequence[Ranking]], tuple[Scored, ...]]
"""Merges rankings into one list of scored chunks, best first."""

EVEN: Mapping[str, float] = MappingProxyType({})

_FEWEST_SLOTS = 30
_LEAST_SPREAD = 1e-6

# How `adaptive` chooses; docs/explanation/retrieval.md has the measurements.
_LEAD_OVER = 10
_USUAL_LEAD = 0.5
_LEAD_COUNTS = 0.5
_COSINE_COUNTS = 1.0
_LEAST_WEIGHT, _MOST_WEIGHT = 0.3, 0.8


def convex(rankings: Sequence[Ranking], *, weights: Mapping[str, float] = EVEN) -> tuple[Scored, ...]:
    """Merge by score: the weighted mean of standard scores, scaled to lie between 0 and 1.

    Unlike ranks, scores say how far apart hits are: one hit far ahead of its list stays far ahead, a list of near
    equals decides little. Scores of different retrievers are made comparable by the spread of their list. A chunk
    that a ranking lacks counts there as its `floor`, or as its worst entry where the ranking was cut off.

    A chunk that is first everywhere gets 1, one that is last everywhere 0.

    Args:
        rankings: What the retrievers found.
        weights: Weight by name of ranking; 1 for names that are not given.
    """
    found = {entry.chunk_id for ranking in rankings for entry in ranking.entries}
    slots = max(len(found), _FEWEST_SLOTS)
    gains = [(_weight(one, weights), _above_floor(one, slots)) for one in rankings if one.entries]
    best = math.fsum(weight * max(gain.values()) for weight, gain in gains)
    parts: dict[ChunkId, list[float]] = {chunk_id: [] for chunk_id in found}
    for weight, gain in gains:
        for chunk_id, height in gain.items():
            parts[chunk_id].append(weight * height)
    return _best_first({key: math.fsum(values) / best if best > 0 else 1.0 for key, values in parts.items()})


def adaptive(
    rankings: Sequence[Ranking], *, dense_weight: float = 0.5, usual_cosine: float | None = None
) -> tuple[Scored, ...]:
    """Merge as `convex` does, with the weight of meaning chosen for each query by what both lists look like.

    Words count more when the first of their list leads the tenth by far, since then the query has words that tell.
    Meaning counts more when the best cosine is higher than the model's usual one, where that has been measured.

    Args:
        rankings: What the retrievers found.
        dense_weight: Weight of meaning for a query that is like most.
        usual_cosine: The best cosine that the embedder gives for a query that is like most.
    """
    weight = dense_weight - _LEAD_COUNTS * (_lead(rankings) - _USUAL_LEAD)
    nearest = max((one.entries[0].score for one in rankings if one.name == "dense" and one.entries), default=None)
    if usual_cosine is not None and nearest is not None:
        weight += _COSINE_COUNTS * (nearest - usual_cosine)
    weight = min(max(weight, _LEAST_WEIGHT), _MOST_WEIGHT)
    return convex(rankings, weights={"dense": weight, "lexical": 1 - weight})


def reciprocal_rank(
    rankings: Sequence[Ranking], *, k: int = 60, weights: Mapping[str, float] = EVEN
) -> tuple[Scored, ...]:
    """Merge by rank: a chunk earns ``weight / (k + rank)`` from each ranking that holds it.

    Raises:
        ValueError: If `k` is not positive.
    """
    if k <= 0:
        raise ValueError(f"k must be positive, got {k}")
    parts: dict[ChunkId, list[float]] = {}
    for ranking in rankings:
        weight = _weight(ranking, weights)
        for rank, entry in enumerate(ranking.entries, start=1):
            parts.setdefault(entry.chunk_id, []).append(weight / (k + rank))
    return _best_first({chunk_id: math.fsum(values) for chunk_id, values in parts.items()})


def weighted(rankings: Sequence[Ranking], *, dense: float = 0.7) -> tuple[Scored, ...]:
    """Merge cosine similarity and keyword score as ``dense * cosine + (1 - dense) * keyword``.

    Cosines count as they are (below 0 as 0), keyword scores in proportion to the best one of the query.
    """
    parts: dict[ChunkId, list[float]] = {}
    for ranking in rankings:
        by_meaning = ranking.name == "dense"
        top = 1.0 if by_meaning else max((entry.score for entry in ranking.entries), default=0.0)
        share = (dense if by_meaning else 1 - dense) * ranking.weight
        for entry in ranking.entries:
            parts.setdefault(entry.chunk_id, []).append(share * max(entry.score, 0.0) / top if top > 0 else 0.0)
    return _best_first({chunk_id: math.fsum(values) for chunk_id, values in parts.items()})


def _lead(rankings: Sequence[Ranking]) -> float:
    """Return how far the first of the word list is ahead of the tenth, as a share of its score."""
    leads = [_lead_of(one) for one in rankings if one.name == "lexical" and one.entries]
    return max(leads)[1] if leads else _USUAL_LEAD


def _lead_of(ranking: Ranking) -> tuple[float, float]:
    """Return the first score of a ranking, and its lead over the tenth or what stands for it in a short list."""
    first = ranking.entries[0].score
    if len(ranking.entries) >= _LEAD_OVER:
        other = ranking.entries[_LEAD_OVER - 1].score
    else:
        other = ranking.entries[-1].score if ranking.floor is None else ranking.floor
    return first, (first - other) / first if first > 0 else _USUAL_LEAD


def _weight(ranking: Ranking, weights: Mapping[str, float]) -> float:
    return ranking.weight * weights.get(ranking.name, 1.0)


def _above_floor(ranking: Ranking, slots: int) -> dict[ChunkId, float]:
    """Return how many standard deviations each score lies above what a chunk counts that the ranking lacks.

    A ranking that was not cut off (it has a `floor`) has seen all chunks: those it lacks count in its spread, so that
    the only chunk with a rare word stands out by far. There are at least `_FEWEST_SLOTS` chunks to stand out from,
    lest this depend on how small a library is.
    """
    scores = [entry.score for entry in ranking.entries]
    floor = min(scores) if ranking.floor is None else min(*scores, ranking.floor)
    # Halves, since the distance of two numbers may be more than a number can hold.
    heights = [score / 2 - floor / 2 for score in scores]
    top = max(heights)
    if top <= 0:
        return dict.fromkeys((entry.chunk_id for entry in ranking.entries), 0.0)
    shares = [height / top for height in heights]
    count = len(shares) if ranking.floor is None else max(slots, len(shares))
    mean = sum(shares) / count
    spread = math.sqrt(max(0.0, sum(share * share for share in shares) / count - mean * mean))
    spread = spread if spread > _LEAST_SPREAD else 1.0
    return {entry.chunk_id: share / spread for entry, share in zip(ranking.entries, shares, strict=True)}


def _best_first(scores: Mapping[ChunkId, float]) -> tuple[Scored, ...]:
    ordered = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))
    return tuple(Scored(chunk_id, score) for chunk_id, score in ordered)
