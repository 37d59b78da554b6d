"""A document to read, at the place that is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.widgets import Static, TextArea
from textual.widgets.text_area import Selection

from lilbee_cli.render.text import clean, line, place
from lilbee_cli.tui.dialogs import Dialog

if TYPE_CHECKING:
    from lilbee_core import Citation, Hit, Lilbee
    from lilbee_core.types import Passage, Span

AROUND_LINES = 400
PART_CHARS = 100_000


@dataclass(frozen=True, slots=True)
class Opened:
    """A text, and which part of it was asked for."""

    title: str
    text: str
    first_line: int | None
    start: int
    end: int


def open_place(bee: Lilbee, found: Hit | Citation) -> Opened:
    """Read what stands around a hit or a citation."""
    from lilbee_core.errors import InvalidArgument

    try:
        exact = bee.get_text(found.document_id, found)
        wide = bee.get_text(found.document_id, found, around=AROUND_LINES)
    except InvalidArgument:
        # It names no part that the document has now; the document itself is still worth reading.
        return open_document(bee, found.document_id)
    return _opened(place(found), wide, exact.span)


def open_document(bee: Lilbee, ref: str, *, at: int = 0) -> Opened:
    """Read a document from a character on."""
    whole = bee.get_text(ref)
    part = whole.text[at : at + PART_CHARS]
    more = f"  characters {at + 1}-{at + len(part)} of {len(whole.text)}" if len(part) < len(whole.text) else ""
    first = whole.location.line_start
    if first is not None:
        first += whole.text.count("\n", 0, at)
    return Opened(line(f"{whole.collection}/{whole.path}") + more, part, first, 0, 0)


def _opened(title: str, wide: Passage, span: Span) -> Opened:
    start = max(0, span.start - wide.span.start)
    end = min(len(wide.text), span.end - wide.span.start)
    # Lines may be of any length, so the part that is shown is cut by characters as well.
    cut = max(0, start - PART_CHARS // 2)
    text = wide.text[cut : max(end, cut + PART_CHARS)]
    first = wide.location.line_start
    if first is not None:
        first += wide.text.count("\n", 0, cut)
    return Opened(line(title), text, first, start - cut, end - cut)


class Reader(Dialog[None]):
    """Shows a text; the passage that was asked for is marked."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "dismiss(None)", "back"),
        Binding("n", "part(1)", "next part"),
        Binding("p", "part(-1)", "part before"),
    ]

    def __init__(self, opened: Opened, turn: Callable[[int], None] | None = None) -> None:
        super().__init__()
        self._opened = opened
        self._turn = turn

    def compose(self) -> ComposeResult:
        with Vertical(classes="sheet"):
            yield Static(id="reader-title")
            yield TextArea(id="reader", read_only=True, soft_wrap=True, show_cursor=True)

    def on_mount(self) -> None:
        self.open(self._opened, self._turn)

    def open(self, opened: Opened, turn: Callable[[int], None] | None) -> None:
        """Show another text in place of this one."""
        self._opened, self._turn = opened, turn
        parts = "   n, p: next part, part before" if self._turn is not None else ""
        self.query_one("#reader-title", Static).update(Text(f"{opened.title}{parts}   Escape: back", "bold"))
        area = self.query_one("#reader", TextArea)
        before, passage = clean(opened.text[: opened.start]), clean(opened.text[opened.start : opened.end])
        area.load_text(before + passage + clean(opened.text[opened.end :]))
        area.show_line_numbers = opened.first_line is not None
        area.line_number_start = opened.first_line or 1
        area.selection = Selection(_at(before), _at(before + passage.rstrip("\n")))
        area.scroll_cursor_visible(center=True)
        area.focus()

    def action_part(self, step: int) -> None:
        """Turn to another part of a long document."""
        if self._turn is not None:
            self._turn(step)


def _at(text: str) -> tuple[int, int]:
    """Return row and column of the end of a text."""
    return text.count("\n"), len(text) - (text.rfind("\n") + 1)
