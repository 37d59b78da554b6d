"""Every setting, its value and where that comes from."""

from __future__ import annotations

from typing import ClassVar, cast

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import DataTable, Static

from lilbee_cli.tui.dialogs import Ask
from lilbee_cli.tui.fields import Line
from lilbee_cli.tui.listing import NarrowedPane
from lilbee_cli.tui.pane import bindings
from lilbee_cli.tui.table import Rows

_DESCRIBED = "Enter changes it, Delete goes back to the default."


class SettingsPane(NarrowedPane[tuple[str, object, str]]):
    """A field that narrows the list down, and a row for each setting."""

    place = "settings"
    kind = "setting"
    BINDINGS: ClassVar[list[BindingType]] = bindings("settings")

    def compose(self) -> ComposeResult:
        yield Line(placeholder="part of a name", id="narrow")
        yield Rows("name", "value", "from", id="values")
        yield Static(id="detail", markup=False)

    @property
    def first(self) -> Widget:
        return self.query_one(Line)

    def entered(self) -> None:
        bee = self.bee
        self.latest("read", lambda: self.paired(bee.config.items()), self.take)

    def submitted(self) -> None:
        if len(self.rows) == 1:
            self._change()
        else:
            super().submitted()

    def sought(self, row: tuple[str, object, str]) -> str:
        return row[0]

    def cells(self, row: tuple[str, object, str]) -> tuple[str, ...]:
        name, value, origin = row
        return name, _plain(value), origin

    def detail(self, row: tuple[str, object, str] | None) -> Text:
        if row is None:
            return Text()
        name = row[0]
        return Text.assemble((name, "bold"), f"  {describe(name)}\n", (_DESCRIBED, "dim"), overflow="fold")

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        self._change()

    def _change(self) -> None:
        row = self.chosen
        if row is not None:
            name, value, _ = row
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
        bee = self.bee
        name = words[0] if words else self.require()[0]
        self.act(lambda: bee.config.unset(name), lambda _: self._changed(f"{name} is back to its default."))

    def _changed(self, told: str) -> None:
        self.shell.tell(told)
        self.entered()


def describe(name: str) -> str:
    """Return what a setting does, in the words of the reference."""
    # Only now: the first picture need not wait for the settings.
    from lilbee_core.settings import description_of

    return description_of(name)


def _plain(value: object) -> str:
    return ", ".join(map(str, cast("tuple[object, ...]", value))) if isinstance(value, tuple) else str(value)
