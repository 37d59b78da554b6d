"""The folders of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable, Static

from lilbee_cli.render.text import counted, line
from lilbee_cli.tui.dialogs import Ask, Confirm
from lilbee_cli.tui.listing import TablePane
from lilbee_cli.tui.pane import bindings
from lilbee_cli.tui.table import Rows

if TYPE_CHECKING:
    from lilbee_core.types import CollectionInfo


class CollectionsPane(TablePane["CollectionInfo"]):
    """A row for each collection; Enter shows its documents."""

    place = "collections"
    kind = "collection"
    BINDINGS: ClassVar[list[BindingType]] = bindings("collections")

    def compose(self) -> ComposeResult:
        yield Rows("name", "documents", "folder", "there", "only", "but not", id="folders")
        yield Static(id="detail", markup=False)

    def entered(self) -> None:
        self.latest("read", self.bee.collections.list, self.fill)

    def cells(self, row: CollectionInfo) -> tuple[str, ...]:
        there = "" if not row.root else ("yes" if row.available else "GONE")
        globs = (" ".join(row.include), " ".join(row.exclude))
        return row.name, str(row.documents), row.root or "from memory", there, *globs

    def detail(self, row: CollectionInfo | None) -> Text:
        return Text("" if row is not None else "There is no collection yet: n makes a folder one.", "dim")

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        """Show its documents."""
        event.stop()
        self.shell.slash_documents([f"{self.require().name}/"])

    # ------------------------------------------------------------------ commands

    def slash_collect(self, words: list[str]) -> None:
        """Make a folder a collection, and read it."""
        if not words:
            self.shell.push_screen(Ask("Make which folder a collection?"),
                                   lambda told: self.slash_collect([told]) if told else None)  # fmt: skip
            return
        bee, name = self.bee, words[1] if words[1:] else None
        self.act(lambda: bee.collections.add(words[0], name=name), self._added)

    def _added(self, one: CollectionInfo) -> None:
        if self.shell.tasks is not None:
            self.shell.tasks.start_job("sync", one.name, collections=[one.name])
        self.shell.tell(f"{one.name} is a collection and is being read.")
        self.entered()

    def slash_rename(self, words: list[str]) -> None:
        """Give the collection under the bar another name."""
        old, bee = self.require().name, self.bee
        if not words:
            self.shell.push_screen(
                Ask(f"What to call {line(old)}?", value=old),
                lambda told: self.slash_rename([told]) if told and told != old else None,
            )
            return
        new = " ".join(words)
        self.act(lambda: bee.collections.rename(old, new), lambda _: self._changed(f"{old} is called {new} now."))

    def slash_forget(self, words: list[str]) -> None:
        """Forget a collection, once the user is sure."""
        name, bee = words[0] if words else self.require().name, self.bee

        def sure(yes: bool | None) -> None:
            if yes:
                self.act(
                    lambda: bee.collections.remove(name),
                    lambda count: self._changed(f"{counted(count, 'document')} left the index."),
                )

        self.shell.push_screen(
            Confirm(f"Forget the collection {line(name)} and take its documents out of the index? Its files stay."),
            sure,
        )

    def _changed(self, told: str) -> None:
        self.shell.tell(told)
        self.shell.refresh_status()
        self.entered()
