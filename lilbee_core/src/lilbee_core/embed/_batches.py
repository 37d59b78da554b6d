"""Cutting work for a provider into requests, and checking what comes back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lilbee_core.errors import ProviderError

if TYPE_CHECKING:
    from lilbee_core.types import Vectors


def batches(texts: Sequence[str], *, max_texts: int, max_chars: int) -> Iterator[range]:
    """Split into runs of at most `max_texts` texts and, unless a single one is longer, `max_chars` characters."""
    start = chars = 0
    for index, text in enumerate(texts):
        if index > start and (index - start >= max_texts or chars + len(text) > max_chars):
            yield range(start, index)
            start, chars = index, 0
        chars += len(text)
    if start < len(texts):
        yield range(start, len(texts))


def halves(text: str) -> tuple[str, str]:
    """Cut a text at the white space nearest to its middle, or in the middle where there is none around."""
    middle = len(text) // 2
    for distance in range(len(text) // 4):
        for at in (middle + distance, middle - distance):
            if text[at].isspace():
                return text[:at], text[at + 1 :]
    return text[:middle], text[middle:]


def unit_rows(found: object, *, count: int, dimension: int | None, model: str) -> Vectors:
    """Return what a provider gave as ``[count, dimension]`` float32 rows of unit length.

    Raises:
        ProviderError: If that is not possible: a wrong number or size of vectors, a vector without a direction.
    """
    import numpy as np

    try:
        rows = np.ascontiguousarray(found, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise ProviderError(f"{model} returned something else than vectors: {error}", hint=_HINT) from error
    if rows.ndim != 2 or len(rows) != count:
        raise ProviderError(f"{model} returned vectors of shape {rows.shape} for {count} texts", hint=_HINT)
    if rows.shape[1] == 0 or (dimension is not None and rows.shape[1] != dimension):
        expected = "any" if dimension is None else str(dimension)
        raise ProviderError(
            f"{model} returned vectors of {rows.shape[1]} numbers instead of {expected}",
            hint="Check which model the server runs; another model needs another index: lilbee rebuild",
        )
    largest = np.abs(rows).max(axis=1, keepdims=True)
    bad = np.flatnonzero(~(np.isfinite(largest) & (largest > 0)))
    if len(bad):
        kind = "zero" if largest[bad[0], 0] == 0 else "not finite"
        raise ProviderError(f"{model} returned a vector that is {kind} for text {bad[0] + 1} of {count}", hint=_HINT)
    rows = rows / largest  # first, so that the squares neither overflow nor vanish
    unit: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


_HINT = "Check that the server runs an embedding model, and see its log"
