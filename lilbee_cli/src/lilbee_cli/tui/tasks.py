"""What is being done, and what was."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.widget import Widget
from textual.widgets import DataTable, Static

from lilbee_cli.render.text import line, with_output
from lilbee_cli.tui import shown
from lilbee_cli.tui.pane import Pane, bindings
from lilbee_cli.tui.table import Rows
from lilbee_cli.tui.work import Task

_REFRESH_S = 0.5


class TasksPane(Pane):
    """A row for each task, newest first, and what became of the one under the bar."""

    place = "tasks"
    BINDINGS: ClassVar[list[BindingType]] = bindings("tasks")

    def __init__(self) -> None:
        super().__init__()
        self.rows: tuple[Task, ...] = ()

    def compose(self) -> ComposeResult:
        yield Rows("id", "task", "state", "how far", "what", id="jobs")
        yield Static(id="detail", markup=False)

    @property
    def first(self) -> Widget:
        return self.query_one(Rows)

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
        if rows == self.rows and rows:
            return
        self.rows = rows
        self.query_one(Rows).fill([_cells(one) for one in rows])
        self._detail()

    def on_data_table_row_highlighted(self, event: DataTable.RowHighlighted) -> None:
        event.stop()
        self._detail()

    def _detail(self) -> None:
        at = self.query_one(Rows).cursor_row
        told = Text("Nothing was done yet: /sync, /add, or F10.", "dim")
        if 0 <= at < len(self.rows):
            one = self.rows[at]
            told = Text(f"{one.kind} {line(one.what)}  {one.state}  {line(one.created_at)}\n", overflow="fold")
            told.append(with_output(one.said), shown.BAD if one.state in {"failed", "lost"} else "")
            told.append(f"\n{line(one.hint)}" if one.hint else "")
        self.query_one("#detail", Static).update(told)

    def slash_end(self, _: list[str]) -> None:
        """End the task under the bar."""
        at = self.query_one(Rows).cursor_row
        if 0 <= at < len(self.rows):
            self.shell.slash_cancel([self.rows[at].id])


def _cells(one: Task) -> tuple[str, ...]:
    far = one.said if one.is_over else f"{one.phase} {shown.share(one.done, one.total)} {one.unit}"
    return one.id[:6], one.kind, one.state, far, one.what
