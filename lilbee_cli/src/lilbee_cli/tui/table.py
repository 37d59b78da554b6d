"""Tables whose columns are as wide as what stands in them, and no wider than leaves room for the others."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from rich.text import Text
from textual.widgets import DataTable

from lilbee_cli.render.text import line

WIDEST = 44


class Rows(DataTable[Text]):
    """Rows of plain texts with one of them under the bar, which stays where it is when the rows are shown anew."""

    def __init__(self, *labels: str, id: str) -> None:  # noqa: A002 - as Textual names it
        super().__init__(id=id, cursor_type="row", zebra_stripes=True)
        self._labels = labels

    def fill(self, rows: Sequence[Sequence[str]]) -> None:
        """Show other rows. Control characters are made visible; the last column takes what it needs."""
        at = self.cursor_row
        cells = [[line(cell) for cell in row] for row in rows]
        self.clear(columns=True)
        for column, label in enumerate(self._labels):
            widest = max([cell_len(label), *(cell_len(row[column]) for row in cells)])
            self.add_column(label, width=widest if column == len(self._labels) - 1 else min(WIDEST, widest))
        for row in cells:
            self.add_row(*(Text(cell, overflow="ellipsis", no_wrap=True) for cell in row))
        self.move_cursor(row=max(0, min(at, len(cells) - 1)))
