"""Small parts of the contract suites."""

from __future__ import annotations

import math
import pickle
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from lilbee_core.types import Hit, Ranking

if TYPE_CHECKING:
    from lilbee_core.types import Vectors

T = TypeVar("T")

UNICODE = (
    "Die Bienenkönigin heißt Straße 7.",
    "ミツバチは太陽で家に帰る。",
    "النحل يجد طريقه إلى البيت",
    "मधुमक्खी घर लौटती है",
    "🐝🐝 bees 👩‍🌾",
    "e\u0301 combining, \ufb01 ligature, \u200bzero width",
)


def check_descending(scores: Sequence[float], what: str) -> None:
    """Demand finite scores, best first."""
    for score in scores:
        check_number(score, what)
    assert list(scores) == sorted(scores, reverse=True), f"{what}: the scores {list(scores)} rise"


def check_number(value: object, what: str) -> None:
    """Demand a finite number of Python, which numpy's are not: they cannot be written as JSON."""
    assert isinstance(value, float | int), f"{what}: {value!r} is {type(value).__name__}, not float"
    assert math.isfinite(value), f"{what}: the score {value!r} is not finite"


def check_hits(hits: Sequence[Hit], what: str) -> None:
    """Demand hits in order, no chunk twice."""
    check_descending([hit.score for hit in hits], what)
    check_unique([hit.chunk.id for hit in hits], what)


def check_ranking(ranking: Ranking) -> None:
    """Demand a ranking in order, no chunk twice."""
    check_descending([entry.score for entry in ranking.entries], f"ranking {ranking.name}")
    check_unique([entry.chunk_id for entry in ranking.entries], f"ranking {ranking.name}")


def check_unique(ids: Iterable[str], what: str) -> None:
    """Demand that nothing stands twice."""
    listed = list(ids)
    twice = sorted({one for one in listed if listed.count(one) > 1})
    assert not twice, f"{what}: {', '.join(twice)} stands twice"


def check_name(value: object, what: str) -> None:
    """Demand a name that can stand in a report."""
    good = isinstance(value, str) and bool(value) and value == value.strip()
    assert good, f"{what} is {value!r}, not a name"


def check_picklable(value: T, what: str) -> T:
    """Demand that a value can travel to another process; return what arrives."""
    try:
        arrived: T = pickle.loads(pickle.dumps(value))
    except Exception as error:
        raise AssertionError(f"{what} cannot travel to another process: {error}") from error
    assert arrived == value, f"{what} arrives changed in another process"
    return arrived


def check_vectors(vectors: Vectors, rows: int, dimension: int | None, what: str) -> None:
    """Demand a two-dimensional array of finite 32-bit numbers."""
    import numpy as np

    assert isinstance(vectors, np.ndarray), f"{what} gave {type(vectors).__name__}, not an array"
    assert vectors.dtype == np.float32, f"{what} gave {vectors.dtype}, not float32"
    assert vectors.ndim == 2, f"{what} gave {vectors.ndim} dimensions instead of 2"
    assert vectors.shape[0] == rows, f"{what} gave {vectors.shape[0]} rows for {rows} texts"
    assert dimension is None or vectors.shape[1] == dimension, f"{what} gave rows of {vectors.shape[1]} numbers"
    assert np.isfinite(vectors).all(), f"{what} gave numbers that are not finite"


def check_close(first: Vectors, second: Vectors, what: str, *, tolerance: float = 1e-4) -> None:
    """Demand that two arrays are equal up to rounding."""
    import numpy as np

    assert first.shape == second.shape, f"{what}: shapes {first.shape} and {second.shape}"
    gap = float(np.abs(first - second).max()) if first.size else 0.0
    assert gap <= tolerance, f"{what}: they differ by {gap:.3g}"
