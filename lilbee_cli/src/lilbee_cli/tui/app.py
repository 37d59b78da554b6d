"""The program: opens the library behind the screen, holds the panes, and runs commands from the one registry."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, cast

from rich.text import Text
from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.screen import ModalScreen
from textual.widgets import Footer, Static

from lilbee_cli import slashes
from lilbee_cli.render.text import line, with_output
from lilbee_cli.tui import commands, shown
from lilbee_cli.tui.dialogs import Ask
from lilbee_cli.tui.fields import Line
from lilbee_cli.tui.pane import Pane, bindings
from lilbee_cli.tui.plain import AsciiFilter
from lilbee_cli.tui.threads import Deliver, Latest, hand_over
from lilbee_cli.tui.work import Task, Tasks

if TYPE_CHECKING:
    from lilbee_cli.tui import Open
    from lilbee_cli.tui.reader import Opened
    from lilbee_core import Lilbee
    from lilbee_core.events import Event
    from lilbee_core.types import LibraryStatus

LEAST_COLUMNS, LEAST_ROWS = 80, 24
_PANES = {
    "search": ("lilbee_cli.tui.search", "SearchPane"),
    "chat": ("lilbee_cli.tui.chat", "ChatPane"),
    "documents": ("lilbee_cli.tui.documents", "DocumentsPane"),
    "tasks": ("lilbee_cli.tui.tasks", "TasksPane"),
    "collections": ("lilbee_cli.tui.collections", "CollectionsPane"),
    "wiki": ("lilbee_cli.tui.wiki", "WikiPane"),
    "models": ("lilbee_cli.tui.models", "ModelsPane"),
    "settings": ("lilbee_cli.tui.settings", "SettingsPane"),
}
_TICK_S, _LOOK_S = 0.5, 2.0
_SETTLED_S = 15.0
_LONGEST_PATH = 40
_WIDE = 100


class LilbeeApp(commands.Commands, App[int]):
    """The screens over one library. What is slow happens in threads, so that keys are always taken."""

    TITLE = "lilbee"
    CSS_PATH = "style.tcss"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [*bindings("app"), Binding("slash", "prompt", "command", show=False)]

    def __init__(
        self,
        open_library: Open,
        *,
        words: str = "",
        ascii_only: bool = False,
        settled: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self._settled = settled
        self._open_library = open_library
        self._words = words
        self._bee: Lilbee | None = None
        self._opening = Latest(self, "open")
        self._watching = Latest(self, "watch")
        self.tasks: Tasks | None = None
        self.status: LibraryStatus | None = None
        self.place = "search"
        self._was_there = False
        self.is_lost = False
        self.said = ""
        self._columns = LEAST_COLUMNS
        self._shown: dict[str, tuple[Text, object]] = {}
        if ascii_only:
            self._filters.append(AsciiFilter())
            self.add_class("ascii")

    def compose(self) -> ComposeResult:
        yield Static(id="head", markup=False)
        yield Static(id="places", markup=False)
        yield Container(id="panes")
        yield Static(id="told", markup=False)
        yield Footer(show_command_palette=False, compact=True)
        yield Static(id="too-small", markup=False)

    async def on_mount(self) -> None:
        self._show_head()
        await self.show_pane("search")
        self.set_interval(_TICK_S, self._tick)
        self.set_interval(_LOOK_S, self._look)
        # Only now, so that the first picture does not wait for it.
        self.call_after_refresh(self.open_library, None)
        self.set_timer(_SETTLED_S, self._settle)

    def on_deliver(self, message: Deliver) -> None:
        """Take what a thread has worked out."""
        message.apply()

    # ------------------------------------------------------------------ the library

    @property
    def is_open(self) -> bool:
        """Whether the library can be used."""
        return self._bee is not None

    @property
    def library(self) -> Lilbee:
        """The library.

        Raises:
            NotFound: While there is none.
        """
        from lilbee_core.errors import NotFound

        if self._bee is None:
            raise NotFound("the library is not open yet", hint="Wait a moment, or make one with /setup.")
        return self._bee

    def open_library(self, folder: Path | None, *, new: bool = False) -> None:
        """Open another library in a thread, and make it one first where it is `new`."""

        def work() -> tuple[Lilbee, LibraryStatus | None]:
            bee = self._open_library(folder, self._event)
            if new:
                bee.init()
            there = bee.data_dir.is_dir() or bee.root is not None
            return bee, bee.status() if there else None

        def then(opened: tuple[Lilbee, LibraryStatus | None]) -> None:
            bee, status = opened
            if status is None:
                bee.close()
                self.slash_setup([])
            else:
                self._opened(bee, status, new=new)

        self.tell("Opening the library…")
        self._opening.run(work, then, self.fail)

    def _opened(self, bee: Lilbee, status: LibraryStatus, *, new: bool) -> None:
        before, self._bee = self._bee, bee
        if self.tasks is not None:
            self.tasks.close()
        if before is not None:
            before.close()
        self.status, self.is_lost, self._was_there = status, False, True
        self.tasks = Tasks(bee, lambda task: hand_over(self, lambda: self._over(task)))
        self.tell("")
        self._show_head()
        for pane in self.query(Pane):
            pane.entered()
        if new:
            self.slash_sync([])
            self.choose_chat_model()
        if self._words:
            words, self._words = self._words, ""
            self.slash_search([words])
        # Models are loaded by the first search; it may as well be now, while nobody waits.
        self._opening.run(lambda: commands.warm(bee), lambda _: self._settle(), self.fail)

    def _settle(self) -> None:
        """Tell once that the start is over: with the models there, or however long these take."""
        settled, self._settled = self._settled, None
        if settled is not None:
            settled()

    def refresh_status(self) -> None:
        """Read the state of the library again."""
        if self._bee is not None:
            bee = self._bee
            self._watching.run(bee.status, self._take_status, self.fail)

    def _take_status(self, status: LibraryStatus) -> None:
        self.status = status
        self._show_head()

    def _look(self) -> None:
        """See in a thread whether the library is still where it was: its disk may be slow, or gone."""
        if self._bee is not None and self._watching.is_idle:
            self._watching.run(self._bee.data_dir.is_dir, self._seen, lambda _: self._seen(there=False))

    def _seen(self, there: bool) -> None:
        if there == (not self.is_lost):
            return
        self.is_lost = not there
        if self.is_lost:
            where = line(str(self.library.data_dir))
            self.tell(f"The library is gone: there is no {where} any more.", "Put it back, or choose another: /setup.")
        else:
            self.tell("The library is back.")
        self._show_head()

    def _event(self, event: Event) -> None:
        """Take an event, in whichever thread it happens."""
        if self.tasks is not None:
            self.tasks.take(event)
        fields = event.to_dict()
        if event.name == "Progress" and str(fields["phase"]).startswith("loading"):
            told = f"{fields['phase']} {shown.share(int(str(fields['done'])), cast('int | None', fields['total']))}"
            hand_over(self, lambda: self.tell(told))

    def _over(self, task: Task) -> None:
        told = f"{task.kind} {task.state}" + (f": {task.said}" if task.said else "")
        self.tell(told, task.hint, bad=task.state in {"failed", "lost"})
        self.refresh_status()
        for pane in self.query(Pane):
            pane.entered()
        self._show_head()

    def _tick(self) -> None:
        if self.tasks is not None:
            self._show_head()

    async def on_unmount(self) -> None:
        for one in (self._opening, self._watching):
            one.close()
        if self.tasks is not None:
            self.tasks.close()
        if self._bee is not None:
            self._bee.close()

    # ------------------------------------------------------------------ what is told

    def tell(self, message: str, hint: str = "", *, bad: bool = False) -> None:
        """Say something at the foot of the screen. It stays until something else is said."""
        self.said = message
        text = Text(with_output(message), shown.BAD if bad else "", overflow="fold")
        if hint:
            text.append(f"  {with_output(hint)}", "")
        self._put("#told", text)

    def fail(self, error: Exception) -> None:
        """Say what went wrong, and what to do next."""
        from lilbee_core.errors import EmbedderMismatch, LilbeeError

        if isinstance(error, EmbedderMismatch):
            self.offer_adoption(error)
        if isinstance(error, LilbeeError):
            self.tell(error.message, error.hint, bad=True)
        elif isinstance(error, OSError | ValueError):
            self.tell(str(error), bad=True)
        else:
            self.tell(f"something went wrong inside lilbee: {type(error).__name__}: {error}", "Report it.", bad=True)

    def _put(self, where: str, text: Text) -> None:
        """Show a text, unless the screen is being taken down."""
        if self._shown.get(where) == (text, text.style):
            return
        for one in self.query(where).results(Static):
            # Only what is told may need another number of rows, for which everything is arranged anew.
            one.update(text, layout=where == "#told")
            self._shown[where] = (text, text.style)

    def _show_head(self) -> None:
        head = Text("lilbee", "bold", no_wrap=True, overflow="ellipsis")
        if self.is_lost:
            head.append("  GONE", shown.BAD)
        if self.status is not None:
            documents = dict(self.status.states).get("indexed", 0)
            head.append(f"  {_ended(line(self.status.root or self.status.data_dir))}", "")
            head.append(f"  {documents:,} documents, {self.status.chunks:,} chunks", "dim")
        running = self.tasks.running() if self.tasks is not None and not self.is_lost else ()
        for task in running[:2]:
            head.append(f"  {task.kind} {task.phase} {shown.share(task.done, task.total)}", "bold")
        self._put("#head", head)

    def _show_places(self) -> None:
        # Of narrow windows the row takes every column.
        key = "F" if self._columns >= _WIDE else ""
        row = Text(no_wrap=True, overflow="ellipsis")
        for at, name in enumerate(_PANES, start=2):
            label = f"{key}{at} {name.capitalize()}"
            chosen = name == self.place
            row.append(f"[{label}]" if chosen else label, "bold reverse" if chosen else "")
            row.append(" " if at <= len(_PANES) else "")
        self._put("#places", row)

    # ------------------------------------------------------------------ panes and commands

    @property
    def pane(self) -> Pane:
        """The pane in front."""
        return self.query_one(f"#{self.place}", Pane)

    async def show_pane(self, place: str) -> Pane:
        """Bring a pane to the front; it is made when it is first needed."""
        found = self.query(f"#panes > #{place}")
        if not found:
            module, name = _PANES[place]
            made: Pane = getattr(import_module(module), name)()
            await self.query_one("#panes", Container).mount(made)
        self.place = place
        for one in self.query("#panes > Pane").results(Pane):
            one.display = one.id == place
        self._show_places()
        pane = self.pane
        if pane.first is not None:
            pane.first.focus()
        if self.is_open:
            pane.entered()
        return pane

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keep the keys of the panes from what stands above them."""
        if action in {"slash", "prompt"} and isinstance(self.screen, ModalScreen):
            return parameters == ("quit",)
        return super().check_action(action, parameters)

    async def action_slash(self, name: str) -> None:
        """Run the command that a key stands for."""
        await self.run_slash(name, [])

    def action_prompt(self) -> None:
        """Ask for a command, where there is no field to type it into."""

        def run(told: str | None) -> None:
            if told:
                self.typed(told)

        self.push_screen(Ask("Command", value="/", hint="F1 lists them."), run)

    def typed(self, text: str) -> bool:
        """Run what was typed if it is a command; say whether it was."""
        if not text.startswith("/") or text.startswith("//"):
            return False
        name, _, rest = text[1:].partition(" ")
        self.call_later(self.run_slash, name, slashes.words(rest))
        return True

    async def run_slash(self, name: str, words: Sequence[str]) -> None:
        """Run a command: of the pane in front, of the whole program, or of the pane that has it."""
        homes = slashes.homes(name)
        if not homes:
            self.tell(slashes.nearest(name, "app", *slashes.PANES), bad=True)
            return
        try:
            if self.place in homes:
                target: object = self.pane
            elif "app" in homes:
                target = self
            else:
                target = await self.show_pane(homes[0])
            run: Callable[[list[str]], object] = getattr(target, f"slash_{name}")
            run(list(words))
        except Exception as error:  # noqa: BLE001 - told to the user
            self.fail(error)

    def go(self, place: str, then: Callable[[Pane], None] = lambda _: None) -> None:
        """Bring a pane to the front, and do something there."""

        async def show() -> None:
            then(await self.show_pane(place))

        self.call_later(show)

    def read(self, opened: Opened, turn: Callable[[int], None] | None = None) -> None:
        """Open a text to read."""
        from lilbee_cli.tui.reader import Reader

        if isinstance(self.screen, Reader):
            self.screen.open(opened, turn)
        else:
            self.push_screen(Reader(opened, turn))

    # ------------------------------------------------------------------ the window

    def on_resize(self, event: events.Resize) -> None:
        """Say plainly when there is not enough room; what was typed stays."""
        columns, rows = event.size
        small = columns < LEAST_COLUMNS or rows < LEAST_ROWS
        self.set_class(small, "too-small")
        self._columns = columns
        self._show_places()
        if small:
            self.query_one("#too-small", Static).update(
                Text(f"This window has {columns}x{rows} characters; lilbee needs {LEAST_COLUMNS}x{LEAST_ROWS}. "
                     "Make it larger: nothing is lost.", "bold")
            )  # fmt: skip

    def on_line_too_much(self, event: Line.TooMuch) -> None:
        """Say that a paste was cut."""
        self.tell(f"Of the {event.chars:,} characters that were pasted the field takes the first ones.",
                  "Add the text to the library to search in it, or paste it into a message.")  # fmt: skip


def _ended(path: str) -> str:
    """Return the end of a long path: that is what tells it from others."""
    return path if len(path) <= _LONGEST_PATH else f"…{path[1 - _LONGEST_PATH :]}"
