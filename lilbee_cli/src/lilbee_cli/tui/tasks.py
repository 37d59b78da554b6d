"""What is being done, and what was."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widgets import Static

from lilbee_cli.render.text import line, with_output
from lilbee_cli.tui import shown
from lilbee_cli.tui.listing import TablePane
from lilbee_cli.tui.pane import bindings
from lilbee_cli.tui.table import Rows
from lilbee_cli.tui.work import Task

_REFRESH_S = 0.5


class TasksPane(TablePane[Task]):
    """A row for each task, newest first, and what became of the one under the bar."""

    place = "tasks"
    kind = "task"
    BINDINGS: ClassVar[list[BindingType]] = bindings("tasks")

    def compose(self) -> ComposeResult:
        yield Rows("id", "task", "state", "how far", "what", id="jobs")
        yield Static(id="detail", markup=False)

    def on_mount(self) -> None:
        self.set_interval(_REFRESH_S, self._again)

    def _again(self) -> None:
        if self.display and self.shell.tasks is not None and self.thread("read").is_idle:
            self.entered()

    def entered(self) -> None:
        tasks = self.shell.tasks
        if tasks is not None:
            self.latest("read", tasks.list, self._show)

    def _show(self, rows: tuple[Task, ...]) -> None:
        if rows != self.rows or not rows:
            self.fill(rows)

    def cells(self, row: Task) -> tuple[str, ...]:
        far = row.said if row.is_over else f"{row.phase} {shown.share(row.done, row.total)} {row.unit}"
        return row.id[:6], row.kind, row.state, far, row.what

    def detail(self, row: Task | None) -> Text:
        if row is None:
            return Text("Nothing was done yet: /sync, /add, or F10.", "dim")
        told = Text(f"{row.kind} {line(row.what)}  {row.state}  {line(row.created_at)}\n", overflow="fold")
        told.append(with_output(row.said), shown.BAD if row.state in {"failed", "lost"} else "")
        return told.append(f"\n{line(row.hint)}" if row.hint else "")

    def slash_end(self, _: list[str]) -> None:
        """End the task under the bar."""
        row = self.chosen
        if row is not None:
            self.shell.slash_cancel([row.id])
