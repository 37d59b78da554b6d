"""Every setting, its value and where that comes from."""

from __future__ import annotations

from typing import ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import DataTable, Input, Static

from lilbee_cli.tui.dialogs import Ask
from lilbee_cli.tui.fields import Line
from lilbee_cli.tui.pane import Pane, bindings
from lilbee_cli.tui.table import Rows

_DESCRIBED = "Enter changes it, Delete goes back to the default."


class SettingsPane(Pane):
    """A field that narrows the list down, and a row for each setting."""

    place = "settings"
    BINDINGS: ClassVar[list[BindingType]] = bindings("settings")

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[tuple[str, object, str]] = []
        self._all: list[tuple[str, object, str]] = []

    def compose(self) -> ComposeResult:
        yield Line(placeholder="part of a name", id="narrow")
        yield Rows("name", "value", "from", id="values")
        yield Static(id="detail", markup=False)

    @property
    def first(self) -> Widget:
        return self.query_one(Line)

    def entered(self) -> None:
        bee = self.bee
        self.latest("read", lambda: list(bee.config.items()), self._take)

    def narrow(self, words: str) -> None:
        """Type this into the field for the user."""
        self.query_one(Line).value = words

    def _take(self, rows: list[tuple[str, object, str]]) -> None:
        self._all = rows
        self._show()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        if not event.value.startswith("/"):
            self._show()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.shell.typed(event.value):
            event.input.value = ""
        elif len(self.rows) == 1:
            self._change()
        else:
            self.query_one(Rows).focus()

    def _show(self) -> None:
        words = self.query_one(Line).value.casefold().split()
        self.rows = [row for row in self._all if all(word in row[0] for word in words)]
        self.query_one(Rows).fill([(name, _plain(value), origin) for name, value, origin in self.rows])
        self._detail()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        self._detail()

    def _detail(self) -> None:
        at = self.query_one(Rows).cursor_row
        told = Text()
        if 0 <= at < len(self.rows):
            name = self.rows[at][0]
            told = Text.assemble((name, "bold"), f"  {describe(name)}\n", (_DESCRIBED, "dim"), overflow="fold")
        self.query_one("#detail", Static).update(told)

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self._change()

    def _change(self) -> None:
        at = self.query_one(Rows).cursor_row
        if 0 <= at < len(self.rows):
            name, value, _ = self.rows[at]
            shown = "" if value == "********" else _plain(value)
            self.shell.push_screen(
                Ask(name, value=shown, hint=describe(name)),
                lambda told: self._set(name, told) if told is not None and told != shown else None,
            )

    def _set(self, name: str, value: str) -> None:
        bee = self.bee
        self.act(lambda: bee.config.set(name, value), lambda _: self._changed(f"{name} is set."))

    def slash_unset(self, words: list[str]) -> None:
        """Go back to the default."""
        at, bee = self.query_one(Rows).cursor_row, self.bee
        if not words and not 0 <= at < len(self.rows):
            raise ValueError("there is no setting under the bar")
        name = words[0] if words else self.rows[at][0]
        self.act(lambda: bee.config.unset(name), lambda _: self._changed(f"{name} is back to its default."))

    def _changed(self, told: str) -> None:
        self.shell.tell(told)
        self.entered()


def describe(name: str) -> str:
    """Return what a setting does, in the words of the reference."""
    from lilbee_core.settings import sections

    for kind in sections().values():
        field = kind.model_fields.get(name)
        if field is not None:
            return field.description or ""
    return ""


def _plain(value: object) -> str:
    return ", ".join(map(str, cast("tuple[object, ...]", value))) if isinstance(value, tuple) else str(value)
