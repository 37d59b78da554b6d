"""Search as you type, with the passage in its place beside the hits."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Input, Static

from lilbee_cli.render.text import clean, counted, line
from lilbee_cli.tui import shown
from lilbee_cli.tui.fields import LONGEST_LINE, Line
from lilbee_cli.tui.lines import Entries, Lines
from lilbee_cli.tui.pane import Pane, bindings
from lilbee_cli.tui.reader import open_place
from lilbee_cli.tui.rows import Laid, lay_out

if TYPE_CHECKING:
    from collections.abc import Callable

    from lilbee_core import Hit, SearchResult
    from lilbee_core.types import Passage

TOP = 12
AROUND = 12
LOOK_S = 0.3
"""How long a hit stays under the bar before more of its document is read."""
_SCOPES = ("raw", "wiki", "both")
_NOTHING_YET = (
    'Type to search. "Quoted phrases" must stand as they are; path:notes/ type:pdf after:2025-01-31 narrow it down.\n\n'
    "Up and Down choose a hit, Enter opens it in its document, Page Up and Page Down scroll it here.\n"
    "F3 asks questions, F4 shows every file, F1 lists everything else."
)


class PassageLines(Lines):
    """A passage beside the hits."""

    EDGE = "│ "


class TraceLines(Lines):
    """What every stage did, below a rule."""

    EDGE = " "


@dataclass(frozen=True, slots=True)
class Found:
    """What came of a search, ready to be drawn."""

    result: SearchResult
    entries: tuple[Laid, ...]
    passage: Laid | None


def find(search: Callable[[], SearchResult], width: int, passage_width: int) -> Found:
    """Search, and break what was found into rows. Asks nothing of the screen, so that it can be done beside it."""
    result = search()
    entries = [lay_out(shown.hit_entry(hit, found=result.found, width=width - 3), width) for hit in result.hits]
    passage = lay_out(shown.passage_alone(result.hits[0]), passage_width) if result.hits else None
    return Found(result, tuple(entries), passage)


class SearchPane(Pane):
    """The field, the hits and the passage under the bar, in its place."""

    place = "search"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("search"),
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("pagedown", "scroll_passage(1)", show=False),
        Binding("pageup", "scroll_passage(-1)", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self.result: SearchResult | None = None
        self.scope = "raw"
        self.profile: str | None = None
        self._explains = False
        self._look_closer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield Line(placeholder="search", id="query", max_length=LONGEST_LINE)
        yield Static(id="found", markup=False)
        with Horizontal(id="split"):
            yield Entries(id="hits")
            yield PassageLines(Text(_NOTHING_YET, "dim"), id="passage")
        with Vertical(id="explanation-box", classes="hidden"):
            yield TraceLines(id="explanation")

    @property
    def first(self) -> Widget:
        return self.query_one("#query", Line)

    @property
    def entries(self) -> Entries:
        """The hits."""
        return self.query_one(Entries)

    @property
    def passage(self) -> PassageLines:
        """The passage beside them."""
        return self.query_one(PassageLines)

    @property
    def words(self) -> str:
        """What is typed."""
        return self.query_one("#query", Line).value

    def entered(self) -> None:
        self._search()

    def search_for(self, words: str) -> None:
        """Type this for the user."""
        field = self.query_one("#query", Line)
        field.value = words
        field.cursor_position = len(words)

    # ------------------------------------------------------------------ typing

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._search()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        if self.shell.typed(event.value):
            self.search_for("")
        else:
            self._open()

    def _search(self) -> None:
        words = self.words
        if not self.shell.is_open or words.startswith("/"):
            return
        if not words.strip():
            self.thread("search").forget()
            self.result = None
            self.entries.fill(())
            self.passage.put(Text(_NOTHING_YET, "dim"))
            self._tell("")
            return
        search = partial(self.bee.search, words, top_k=TOP, scope=self.scope, profile=self.profile)
        widths = self.entries.text_width, self.passage.text_width
        self.latest("search", lambda: find(search, *widths), self._found)

    def _found(self, found: Found) -> None:
        result = self.result = found.result
        self.entries.fill(found.entries)
        told = counted(len(result.hits), "hit") if result.hits else "Nothing found"
        if result.hits and not result.found:
            told += ", none of which looks like an answer"
        notes = "".join(f"  {line(one)}" for one in result.warnings)
        self._tell(f"{told}, {result.seconds * 1000:.0f} ms{notes}")
        if self._explains:
            self._explain()
        self.passage.put(found.passage or Text())
        self._look_closer_soon()

    def _tell(self, told: str) -> None:
        where = "" if self.scope == "raw" else f"  in {self.scope}"
        how = f"  profile {line(self.profile)}" if self.profile else ""
        text = Text(told + where + how, "dim", no_wrap=True, overflow="ellipsis")
        self.query_one("#found", Static).update(text, layout=False)

    # ------------------------------------------------------------------ the passage

    @property
    def chosen(self) -> Hit | None:
        """The hit under the bar."""
        at = self.entries.chosen
        hits = self.result.hits if self.result is not None else ()
        return hits[at] if at is not None and at < len(hits) else None

    def on_entries_chosen(self, event: Entries.Chosen) -> None:
        """Show the passage of the hit that the bar came to."""
        event.stop()
        hit = self.chosen
        if hit is not None:
            self.passage.put(shown.passage_alone(hit))
            self._look_closer_soon()

    def _look_closer_soon(self) -> None:
        """What a hit holds is here already; what stands around it is read once the user looks at it."""
        if self._look_closer is not None:
            self._look_closer.stop()
        hit = self.chosen
        self._look_closer = self.set_timer(LOOK_S, partial(self._read_around, hit)) if hit is not None else None

    def _read_around(self, hit: Hit) -> None:
        if hit is self.chosen:
            bee = self.bee
            self.latest("passage", lambda: bee.get_text(hit.document_id, hit, around=AROUND), partial(self._show, hit))

    def on_entries_taken(self, event: Entries.Taken) -> None:
        """Open the document of the hit under the bar."""
        event.stop()
        self._open()

    def _show(self, hit: Hit, around: Passage) -> None:
        if hit is self.chosen:
            text, begin = shown.passage_in_place(hit, around)
            self.passage.put(text, line=begin)

    def _open(self) -> None:
        hit = self.chosen
        if hit is not None:
            bee = self.bee
            self.act(lambda: open_place(bee, hit), self.shell.read)

    def action_move(self, step: int) -> None:
        """Go to the hit before or behind, while the field keeps the keys."""
        self.entries.action_move(step)

    def action_scroll_passage(self, step: int) -> None:
        """Scroll what is shown of the document."""
        self.passage.action_scroll_page(step)

    # ------------------------------------------------------------------ commands

    def slash_explain(self, _: list[str]) -> None:
        """Show or hide what every stage did."""
        self._explains = not self._explains
        self.query_one("#explanation-box").set_class(not self._explains, "hidden")
        if self._explains:
            self._explain()

    def _explain(self) -> None:
        told = self.result.explain() if self.result is not None else "Nothing was searched yet."
        self.query_one(TraceLines).put(Text(clean(told)))

    def slash_scope(self, words: list[str]) -> None:
        """Search files, the wiki, or both."""
        if words and words[0] not in _SCOPES:
            raise ValueError(f"there is no scope {words[0]!r}: choose {', '.join(_SCOPES)}")
        self.scope = words[0] if words else _SCOPES[(_SCOPES.index(self.scope) + 1) % len(_SCOPES)]
        self._tell("")
        self._search()

    def slash_profile(self, words: list[str]) -> None:
        """Search by another list of stages."""
        self.profile = words[0] if words else None
        self._tell("")
        self._search()

    def slash_ask(self, _: list[str]) -> None:
        """Ask what was typed."""
        if self.words.strip():
            self.shell.ask(self.words)
