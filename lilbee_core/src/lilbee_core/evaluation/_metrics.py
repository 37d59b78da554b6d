"""The figures of retrieval, in the definitions of trec_eval. Pure functions over names and grades.

They are a page of arithmetic, so they are our own: the usual library comes with a compiled extension, which a
machine without a fitting wheel would have to build. The tests compare every figure with that library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

RELEVANT = 1
"""The least grade that counts as relevant."""

METRICS = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "success@5")
"""The figures of a report, each between 0 and 1."""


def score_ranking(ranking: Sequence[str], grades: Mapping[str, int]) -> dict[str, float]:
    """Return all `METRICS` of one query.

    Args:
        ranking: Names of documents, best first, each once.
        grades: The grade of every judged document; one that is not named here counts as 0.
    """
    return {
        "ndcg@10": ndcg(ranking, grades, 10),
        "recall@10": recall(ranking, grades, 10),
        "recall@100": recall(ranking, grades, 100),
        "mrr@10": reciprocal_rank(ranking, grades, 10),
        "success@5": float(any(_is_relevant(name, grades) for name in ranking[:5])),
    }


def in_run_order(scored: Iterable[tuple[str, float]]) -> list[tuple[str, float]]:
    """Return scored documents as they are judged: by falling score, equals by name, as scoring tools do."""
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]))


def ndcg(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """Return the gain of the first `depth` documents, each grade divided by log2(rank + 1), as a share of the best."""
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)
    best = _gain(ideal[:depth])
    return _gain([max(0, grades.get(name, 0)) for name in ranking[:depth]]) / best if best else 0.0


def recall(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """Return which share of the relevant documents is among the first `depth`."""
    relevant = sum(grade >= RELEVANT for grade in grades.values())
    found = sum(_is_relevant(name, grades) for name in ranking[:depth])
    return found / relevant if relevant else 0.0


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], depth: int) -> float:
    """Return 1 / rank of the first relevant document, 0 if it is not among the first `depth`."""
    for rank, name in enumerate(ranking[:depth], start=1):
        if _is_relevant(name, grades):
            return 1 / rank
    return 0.0


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` of `values` do not exceed; 0 of none."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _gain(grades: Sequence[int]) -> float:
    return sum(grade / math.log2(rank + 1) for rank, grade in enumerate(grades, start=1))


def _is_relevant(name: str, grades: Mapping[str, int]) -> bool:
    return grades.get(name, 0) >= RELEVANT
