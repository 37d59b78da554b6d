"""Hits that say something else than the better ones: maximal marginal relevance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lilbee_core.protocols import ChunkReader, SearchContext
from lilbee_core.search._scores import falling
from lilbee_core.types import Hit, Part, SearchState

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lilbee_core.types import Vectors


@dataclass(frozen=True, slots=True)
class Mmr:
    """Choose one hit after the other by ``relevance_weight * relevance - (1 - relevance_weight) * likeness``.

    Relevance is a hit's score as a share of the best one, likeness its highest cosine with a hit chosen before it.
    With the weight 1 nothing moves; with 0, relevance only says who is first and decides between equals. A chunk
    without a usable vector is like no other. Hits behind the best `most` stay behind them, in their order.

    A hit that was moved back keeps its place in sorted order by a score just below that of the hit before it.
    """

    reader: ChunkReader
    relevance_weight: float = 0.95
    most: int = 300
    name: str = "mmr"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)

    def __post_init__(self) -> None:
        if not 0 <= self.relevance_weight <= 1:
            raise ValueError(f"relevance_weight must lie between 0 and 1, got {self.relevance_weight}")

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        if self.relevance_weight == 1 or not state.query.diversify:
            return replace(state, note="relevance alone")
        hits, rest = state.hits[: self.most], state.hits[self.most :]
        if len(hits) < 2:
            return state
        vectors = _unit_vectors(self.reader, hits)
        if vectors is None:
            return replace(state, note="no vectors to compare")
        order, likeness = choose(_relevance(hits), vectors, self.relevance_weight)
        moved = sum(at != place for place, at in enumerate(order))
        chosen = [hits[at].with_score("likeness", like) for at, like in zip(order, likeness, strict=True)]
        return replace(state, hits=falling([*chosen, *rest]), note=f"{moved} of {len(hits)} stand elsewhere")


def choose(relevance: Sequence[float], vectors: Vectors, weight: float) -> tuple[list[int], list[float]]:
    """Return the places of the hits in the order in which they are chosen, and how like a better one each is.

    `vectors` are rows of length 1 or 0. Between equals the one that stood first is chosen.
    """
    import numpy as np

    cosines = vectors @ vectors.T
    asked = np.asarray(relevance, dtype=np.float64)
    like: NDArray[np.float64] = np.zeros(len(asked))
    # The first is chosen by relevance alone, whatever the weight.
    gains = asked.copy()
    asked *= weight
    order: list[int] = []
    likeness: list[float] = []
    for _ in range(len(asked)):
        best = int(gains.argmax())
        order.append(best)
        likeness.append(float(like[best]))
        asked[best] = -np.inf
        np.maximum(like, cosines[best], out=like)
        gains = asked - (1 - weight) * like
    return order, likeness


def _relevance(hits: Sequence[Hit]) -> list[float]:
    """Return scores as shares of the best; where some lie below 0, by where they lie between worst and best."""
    best, worst = hits[0].score, min(hit.score for hit in hits)
    if worst >= 0:
        return [hit.score / best if best > 0 else 1.0 for hit in hits]
    # Halves, since the distance of two numbers may be more than a number can hold.
    span = best / 2 - worst / 2
    return [(hit.score / 2 - worst / 2) / span if span > 0 else 1.0 for hit in hits]


def _unit_vectors(reader: ChunkReader, hits: Sequence[Hit]) -> Vectors | None:
    """Return a row for each hit, zeros where there is no vector that can be compared; None where there is none."""
    found = reader.vectors([hit.chunk.id for hit in hits])
    if not found:
        return None
    import numpy as np

    size = len(next(iter(found.values())))
    rows = np.zeros((len(hits), size), dtype=np.float32)
    for row, hit in zip(rows, hits, strict=True):
        vector = found.get(hit.chunk.id)
        if vector is not None and len(vector) == size:
            row[:] = vector
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    usable = np.isfinite(norms) & (norms > 0)
    units: Vectors = np.divide(rows, norms[:, None], where=usable[:, None], out=np.zeros_like(rows))
    return units
