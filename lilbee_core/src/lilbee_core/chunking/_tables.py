"""The names of the columns, for pieces of tables that are cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from lilbee_core.types import Table


class Tables:
    """The tables of a document, so that the one at a place is found quickly."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = sorted(tables, key=lambda one: one.span.start)
        self._starts = [one.span.start for one in self._tables]

    def headings(self, path: tuple[str, ...], text: str, start: int) -> tuple[str, ...]:
        """Return the headings of a piece, with the names of the columns where it begins below them."""
        at = bisect_right(self._starts, start) - 1
        if at < 0 or start >= self._tables[at].span.end:
            return path
        table = self._tables[at]
        first_line = text.find("\n", table.span.start)
        if first_line < 0 or start <= first_line or table.head in path:
            return path
        return (*path, table.head)
