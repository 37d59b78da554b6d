"""Word search without the word index: the words of every row are read. For when that index is damaged."""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lilbee_core.store._columns import strings
from lilbee_core.store._matrix import BATCH_ROWS
from lilbee_core.store._rows import best_first
from lilbee_core.store._schema import WORDS
from lilbee_core.types import Scored

if TYPE_CHECKING:
    from lilbee_core.store._engine import Table

_K1, _B = 1.2, 0.75
"""As the engine scores."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A row with some of the words: how often it has each of them, and how many words it has in all."""

    id: str
    counts: tuple[int, ...]
    length: int


def scan(table: Table, text: str, needles: Sequence[str], limit: int, where: str | None) -> tuple[Scored, ...]:
    """Return the best rows by BM25 over the rows that satisfy `where`; they must hold all of the needles."""
    weights = Counter(text.split())
    terms = list(weights)
    found: list[_Row] = []
    rows = total = 0
    for id_, line in _lines(table, where):
        words = line.split(" ")
        rows, total = rows + 1, total + len(words)
        if any(term in line for term in terms):
            counts = tuple(words.count(term) for term in terms)
            if any(counts) and all(needle in f" {line} " for needle in needles):
                found.append(_Row(id_, counts, len(words)))
    holding = [sum(row.counts[place] > 0 for row in found) for place in range(len(terms))]
    factors = [
        weights[term] * math.log(1 + (rows - n + 0.5) / (n + 0.5)) for term, n in zip(terms, holding, strict=True)
    ]
    average = total / rows if rows else 1.0
    scored = ((_score(row, factors, average), row.id) for row in found)
    best = heapq.nsmallest(limit, scored, key=lambda one: (-one[0], one[1]))
    return best_first([id_ for _, id_ in best], [score for score, _ in best])


def _score(row: _Row, factors: Sequence[float], average: float) -> float:
    norm = _K1 * (1 - _B + _B * row.length / average)
    pairs = zip(factors, row.counts, strict=True)
    return sum(factor * count * (_K1 + 1) / (count + norm) for factor, count in pairs if count)


def _lines(table: Table, where: str | None) -> Iterator[tuple[str, str]]:
    query = table.search().select(["id", WORDS])
    for batch in (query.where(where) if where else query).to_batches(BATCH_ROWS):
        lines = cast("list[str | None]", batch.column(WORDS).to_pylist())
        yield from zip(strings(batch, "id"), (line or "" for line in lines), strict=True)
