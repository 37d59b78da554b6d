"""Tables on a page: rows of short cells that stand below each other. Pure functions on runs with their places."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from lilbee_core.extract._boxes import found_runs
from lilbee_core.extract._columns import Row, gaps_of, rows_of
from lilbee_core.extract._layout import Run
from lilbee_core.extract._tables import head_of, is_head
from lilbee_core.types import Span, Table

_LEAST_ROWS = 4
_MOST_CHARS = 30
"""Cells that are longer, most of them, are columns of prose."""
_FAR = 3.0


def page_tables(text: str, runs: Sequence[Run]) -> Iterator[Table]:
    """Yield the tables of a page whose first row names the columns, where that row and others are found in the text."""
    found: dict[int, tuple[int, int]] | None = None
    for rows in _grids(rows_of(runs)):
        head = [" ".join(run.text for run in cell) for cell in _cells(rows[0])]
        if not is_head(head):
            continue
        if found is None:
            found = {id(run): (start, end) for start, end, run in found_runs(text, runs)}
        first = [found[id(run)] for run in rows[0].runs if id(run) in found]
        rest = [found[id(run)] for row in rows[1:] for run in row.runs if id(run) in found]
        if first and rest and max(end for _, end in first) <= min(start for start, _ in rest):
            yield Table(Span(min(start for start, _ in first), max(end for _, end in rest)), head_of(head))


def _grids(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Yield rows that follow each other, each of several short cells, about as many as the first one has."""
    at = 0
    while at < len(rows):
        count = len(_cells(rows[at]))
        last = at + 1
        while count > 1 and last < len(rows) and _continues(rows[last - 1], rows[last], count):
            last += 1
        if last - at >= _LEAST_ROWS and _is_short(rows[at:last]):
            yield rows[at:last]
        at = last


def _continues(above: Row, row: Row, count: int) -> bool:
    near = above.bottom - row.top <= _FAR * row.height
    return near and max(2, count - 1) <= len(_cells(row)) <= count + 1


def _is_short(rows: Sequence[Row]) -> bool:
    chars = [sum(len(run.text) for run in cell) for row in rows for cell in _cells(row)]
    return median(chars) <= _MOST_CHARS


def _cells(row: Row) -> list[list[Run]]:
    edges = [right for _, right in gaps_of(row)]
    cells: list[list[Run]] = [[] for _ in range(len(edges) + 1)]
    for run in row.runs:
        cells[sum(run.left >= edge for edge in edges)].append(run)
    return [cell for cell in cells if cell]
