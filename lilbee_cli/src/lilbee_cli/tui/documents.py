"""Every file of the library, its state, and why."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import DataTable, Static

from lilbee_cli.render.text import counted, line
from lilbee_cli.tui import shown
from lilbee_cli.tui.dialogs import Ask, Confirm, Shown
from lilbee_cli.tui.fields import Line
from lilbee_cli.tui.listing import NarrowedPane
from lilbee_cli.tui.pane import bindings
from lilbee_cli.tui.reader import PART_CHARS, Opened, open_document
from lilbee_cli.tui.table import Rows

if TYPE_CHECKING:
    from lilbee_core.types import DocumentRow, PathReport

LONGEST_TABLE = 200
"""Rows that are shown at once; the field narrows a longer list down."""
STATES = ("", "indexed", "failed", "skipped", "excluded", "missing")


class DocumentsPane(NarrowedPane["DocumentRow"]):
    """The ledger: a field that narrows it down, a row for each file, and the reason of the one under the bar."""

    place = "documents"
    kind = "document"
    BINDINGS: ClassVar[list[BindingType]] = bindings("documents")

    def __init__(self) -> None:
        super().__init__()
        self.state = ""

    def compose(self) -> ComposeResult:
        yield Line(placeholder="part of a path, a type or a reason", id="narrow")
        yield Static(id="counted", markup=False)
        yield Rows("state", "document", "type", "chunks", "size", "why", id="ledger")
        yield Static(id="detail", markup=False)

    def entered(self) -> None:
        bee, state = self.bee, self.state or None
        self.latest("read", lambda: self.paired(bee.documents(state=state)), self.take)

    def sought(self, row: DocumentRow) -> str:
        return f"{row.ref} {row.media_type} {row.reason or ''} {row.title or ''}".casefold()

    def cells(self, row: DocumentRow) -> tuple[str, ...]:
        size = f"{row.size / 1e6:.1f} MB" if row.size >= 100_000 else f"{row.size / 1e3:.1f} KB"
        kind = row.media_type.rpartition("/")[2]
        return str(row.state), row.ref, kind[:20], str(row.chunks), size, row.reason or ""

    def show_narrowed(self) -> None:
        found = self.narrowed()
        typed = self.query_one("#narrow", Line).value.strip()
        told = f"{counted(len(found), 'document')}" + (f" of {len(self.all)}" if typed else "")
        told += f", {self.state}" if self.state else ""
        if len(found) > LONGEST_TABLE:
            told += f"; the first {LONGEST_TABLE} are shown: type to narrow them down"
        self.query_one("#counted", Static).update(Text(told, "dim"))
        self.fill(found[:LONGEST_TABLE])

    # ------------------------------------------------------------------ the row under the bar

    def detail(self, row: DocumentRow | None) -> Text:
        told = Text(overflow="fold")
        if row is not None:
            told.append(line(row.ref), "bold")
            told.append(f"  {row.state}" + (f": {line(row.reason)} [{row.code}]" if row.reason else ""))
            when = row.indexed_at[:16].replace("T", " ") if row.indexed_at else "never indexed"
            told.append(f"\nread by {row.extractor or 'nobody'}, {when}", "dim")
            for warning in row.warnings[:3]:
                told.append(f"\nwarning: {line(warning)}", shown.BAD)
        return told

    def on_data_table_row_selected(self, event: DataTable.RowSelected) -> None:
        event.stop()
        row = self.chosen
        if row is not None and row.holds_chunks:
            self._read(row.id, 0)
        elif row is not None:
            self.slash_why([])

    def _read(self, ref: str, at: int) -> None:
        bee = self.bee

        def turn(step: int) -> None:
            if at + step * PART_CHARS >= 0:
                self._read(ref, at + step * PART_CHARS)

        self.act(lambda: open_document(bee, ref, at=at), partial(self._open, turn=turn))

    def _open(self, opened: Opened, *, turn: Callable[[int], None]) -> None:
        # Beyond the end there is nothing, so what is open stays.
        if opened.text or self.shell.screen is self.screen:
            self.shell.read(opened, turn)

    # ------------------------------------------------------------------ commands

    def slash_why(self, words: list[str]) -> None:
        """Say why a path is, or is not, in the index."""
        row, bee = self.chosen, self.bee
        if words:
            path = str(Path(" ".join(words)).expanduser())
        elif row is not None:
            path = str(self._file(row))
        else:
            self.shell.push_screen(Ask("Why is this file here, or not?", hint="Its path."),
                                   lambda told: self.slash_why([told]) if told else None)  # fmt: skip
            return
        self.act(lambda: bee.explain_path(path), self._because)

    def _because(self, report: PathReport) -> None:
        told = Text(overflow="fold")
        told.append(f"{line(report.path)}\n\n", "bold")
        told.append(f"{report.state}: {line(report.reason)}")
        told.append(f" [{report.code}]\n" if report.code else "\n")
        if report.rule:
            told.append(f"decided by: {line(report.rule)}\n")
        if report.hint:
            told.append(f"\n{line(report.hint)}\n")
        self.shell.push_screen(Shown("Why", told))

    def _file(self, row: DocumentRow) -> Path:
        """Return where a document lies."""
        found = next((one for one in self.bee.collections.list() if one.name == row.collection), None)
        return Path(found.root, row.path) if found is not None and found.root else Path(row.path)

    def slash_exclude(self, words: list[str]) -> None:
        """Take a document out of the index, once the user is sure."""
        ref, bee = " ".join(words) or self.require().ref, self.bee

        def sure(yes: bool | None) -> None:
            if yes:
                self.act(lambda: bee.remove(ref), self._removed)

        self.shell.push_screen(Confirm(f"Take {line(ref)} out of the index, and keep it out? The file stays."), sure)

    def _removed(self, refs: tuple[str, ...]) -> None:
        self.shell.tell(f"{counted(len(refs), 'document')} taken out; i brings it back.")
        self.shell.refresh_status()
        self.entered()

    def slash_include(self, words: list[str]) -> None:
        """Bring a document back."""
        if words:
            self.shell.slash_add(words)
            return
        row = self.require()
        self.act(lambda: str(self._file(row)), lambda path: self.shell.slash_add([path]))

    def slash_retry(self, _: list[str]) -> None:
        """Try files again that failed."""
        if self.shell.tasks is not None:
            self.shell.tasks.start_job("sync", "retry", retry=True)
            self.shell.tell("Files that failed are tried again.")

    def slash_state(self, words: list[str]) -> None:
        """Show documents of one state."""
        if words and words[0] not in (*STATES, "all"):
            raise ValueError(f"there is no state {words[0]!r}: choose all, {', '.join(STATES[1:])}")
        following = STATES[(STATES.index(self.state) + 1) % len(STATES)]
        self.state = following if not words else ("" if words[0] == "all" else words[0])
        self.entered()
