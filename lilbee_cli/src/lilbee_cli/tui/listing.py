"""Panes of rows: what is under the bar, what there is to say of it, and a field that narrows them down."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from rich.text import Text
from textual.widget import Widget
from textual.widgets import DataTable, Input, Static

from lilbee_cli.tui.fields import Line
from lilbee_cli.tui.pane import Pane
from lilbee_cli.tui.table import Rows

T = TypeVar("T")


class TablePane(Pane, Generic[T]):
    """Rows of one kind, and below them, in ``#detail``, what there is to say of the one under the bar."""

    kind: ClassVar[str] = ""
    """What a row is, as the user calls it."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[T] = ()

    @property
    def first(self) -> Widget:
        return self.query_one(Rows)

    @property
    def chosen(self) -> T | None:
        """What is under the bar."""
        at = self.query_one(Rows).cursor_row
        return self.rows[at] if 0 <= at < len(self.rows) else None

    def require(self) -> T:
        """Return what is under the bar.

        Raises:
            ValueError: If there is nothing.
        """
        row = self.chosen
        if row is None:
            raise ValueError(f"there is no {self.kind} under the bar")
        return row

    def cells(self, row: T) -> tuple[str, ...]:
        """Return what stands in the columns of a row."""
        raise NotImplementedError

    def detail(self, row: T | None) -> Text:
        """Return what there is to say of a row, or where there is none."""
        raise NotImplementedError

    def fill(self, rows: Sequence[T]) -> None:
        """Show other rows."""
        self.rows = rows
        self.query_one(Rows).fill([self.cells(row) for row in rows])
        self._tell()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        self._tell()

    def _tell(self) -> None:
        self.query_one("#detail", Static).update(self.detail(self.chosen))


class NarrowedPane(TablePane[T]):
    """Rows with a field, ``#narrow``: only those that hold all of its words are shown."""

    def __init__(self) -> None:
        super().__init__()
        self.all: Sequence[tuple[str, T]] = ()
        self._is_behind = False

    def sought(self, row: T) -> str:
        """Return what words are looked for in, in lower case."""
        raise NotImplementedError

    def narrow(self, words: str) -> None:
        """Type this into the field for the user."""
        self.query_one("#narrow", Line).value = words

    def paired(self, rows: Iterable[T]) -> list[tuple[str, T]]:
        """Return rows for `take`, each behind what words are looked for in. Asks nothing of the screen."""
        return [(self.sought(row), row) for row in rows]

    def take(self, rows: Sequence[tuple[str, T]]) -> None:
        """Show those of the rows that the field lets through."""
        self.all = rows
        self.show_narrowed()

    def narrowed(self) -> list[T]:
        """Return the rows that hold all words of the field."""
        words = self.query_one("#narrow", Line).value.casefold().split()
        return [row for sought, row in self.all if all(word in sought for word in words)]

    def show_narrowed(self) -> None:
        """Show the rows that hold all words of the field."""
        self.fill(self.narrowed())

    def submitted(self) -> None:
        """Do what Enter does in the field when it holds no command."""
        self.query_one(Rows).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        # The letter comes first; of several keys at once only the last makes the table anew.
        if not event.value.startswith("/") and not self._is_behind:
            self._is_behind = True
            self.call_after_refresh(self._catch_up)

    def _catch_up(self) -> None:
        if self._is_behind:
            self._is_behind = False
            self.show_narrowed()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.shell.typed(event.value):
            event.input.value = ""
        else:
            self._catch_up()
            self.submitted()
