"""The models, which role has which, and where they run."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable, Input, Static

from lilbee_cli.render.models import SETTINGS, marks, plan_lines, size
from lilbee_cli.render.text import line
from lilbee_cli.tui.dialogs import Choose, Confirm, Shown
from lilbee_cli.tui.fields import Line
from lilbee_cli.tui.listing import TablePane
from lilbee_cli.tui.pane import bindings
from lilbee_cli.tui.table import Rows

if TYPE_CHECKING:
    from lilbee_core.types import FleetPlan, ModelEntry

_CLEAR = "clear"


class ModelsPane(TablePane["ModelEntry"]):
    """What each role uses, the models that are here, and those that could be fetched."""

    place = "models"
    kind = "model"
    BINDINGS: ClassVar[list[BindingType]] = bindings("models")

    def compose(self) -> ComposeResult:
        yield Static(id="roles", markup=False)
        yield Line(placeholder="Enter looks on the hub; nothing: the models here, and picks", id="hub")
        yield Rows("model", "serves", "size", "where", id="catalog")
        yield Static(id="detail", markup=False)

    def entered(self) -> None:
        bee = self.bee
        roles = "   ".join(f"{role}: {line(str(bee.config.get(name)))}" for role, name in SETTINGS.items())
        self.query_one("#roles", Static).update(Text(roles, overflow="fold"))
        self.latest("read", lambda: (*bee.models.list(), *bee.models.catalog()), self.fill)

    def look_for(self, words: str) -> None:
        """Look for models on the hub."""
        self.query_one(Line).value = words
        bee = self.bee
        if words.strip():
            self.shell.tell(f"Looking for {words}…")
            self.latest("read", lambda: bee.models.catalog(words), self._found)
        else:
            self.entered()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.shell.typed(event.value):
            event.input.value = ""
        else:
            self.look_for(event.value)
            self.query_one(Rows).focus()

    def _found(self, rows: tuple[ModelEntry, ...]) -> None:
        self.shell.tell("" if rows else "The hub has no such model.")
        self.fill(rows)

    def cells(self, row: ModelEntry) -> tuple[str, ...]:
        where = "here" if row.installed or row.source in {"builtin", "server", "folder", "package"} else "to fetch"
        return row.ref, ", ".join(row.roles), size(row.size_bytes), f"{where} {marks(row)}".strip()

    def detail(self, row: ModelEntry | None) -> Text:
        told = Text(overflow="fold")
        if row is not None:
            problem = f"cannot be used: {row.problem}" if row.problem else ""
            facts = (row.summary, row.license, row.quantization, problem)
            told.append(line(row.ref), "bold")
            told.append("  " + line("  ".join(fact for fact in facts if fact)))
        return told

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        row = self.require()
        if row.source in {"featured", "hub"} and not row.installed:
            self.slash_pull([])
        else:
            self.slash_use([])

    # ------------------------------------------------------------------ commands

    def slash_use(self, words: list[str]) -> None:
        """Use a model for a role."""
        if len(words) > 1:
            self._use(words[0], words[1])
            return
        row = self.require()
        ref, roles = row.ref, [one for one in SETTINGS if one in row.roles] or list(SETTINGS)
        rows = [*(f"use it for {role}" for role in roles), *(f"use no model for {role}" for role in SETTINGS)]

        def chosen(at: int | None) -> None:
            if at is not None:
                self._use(*((roles[at], ref) if at < len(roles) else (list(SETTINGS)[at - len(roles)], "none")))

        self.shell.push_screen(Choose(line(ref), rows), chosen)

    def _use(self, role: str, ref: str) -> None:
        name, bee = SETTINGS.get(role), self.bee
        if name is None:
            raise ValueError(f"there is no role {role!r}: choose {', '.join(SETTINGS)}")
        self.act(lambda: bee.config.set(name, ref), lambda _: self._changed(f"{role}: {ref}"))

    def slash_pull(self, words: list[str]) -> None:
        """Fetch a model, as a task."""
        ref = words[0] if words else self.require().ref
        if self.shell.tasks is None:
            raise ValueError("the library is not open yet")
        self.shell.tasks.start_job("pull", ref, model=ref)
        self.shell.tell(f"{ref} is being fetched; F5 shows how far it is.")

    def slash_delete(self, words: list[str]) -> None:
        """Delete a model that was fetched, once the user is sure."""
        ref, bee = words[0] if words else self.require().ref, self.bee

        def gone(removed: tuple[ModelEntry, int]) -> None:
            self._changed(f"{ref} is deleted; {size(removed[1])} are free again.")

        def sure(yes: bool | None) -> None:
            if yes:
                self.act(lambda: bee.models.remove(ref), gone)

        self.shell.push_screen(Confirm(f"Delete {line(ref)}?"), sure)

    def slash_placement(self, words: list[str]) -> None:
        """Show which card runs which model, try and set another placement, or let lilbee plan."""
        bee, spec = self.bee, " ".join(words)
        if spec == _CLEAR:
            self.act(bee.placement.clear, lambda _: self.shell.tell("lilbee plans by itself now."))
        elif spec:
            self.act(lambda: bee.placement.set(spec), self._planned)
        else:
            self.act(bee.placement.show, self._planned)

    def _planned(self, plan: FleetPlan) -> None:
        told = Text("\n".join(plan_lines(plan, placed=plan.manual)), overflow="fold")
        for warning in plan.warnings:
            told.append(f"\nnote: {line(warning)}", "dim")
        told.append(
            '\n\n/placement {"chat": {"devices": [0]}} places by hand, /placement clear lets lilbee plan.', "dim"
        )
        self.shell.push_screen(Shown("Where models run", told))

    def _changed(self, told: str) -> None:
        self.shell.tell(told)
        self.entered()
