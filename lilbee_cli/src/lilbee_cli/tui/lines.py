"""Texts drawn line by line. Other widgets have the whole screen arranged anew when they show another text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.filter import LineFilter
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from lilbee_cli.tui.rows import Laid, lay_out

THUMB = "█"
_BRIGHT, _PLAIN = Style(dim=False), Style.null()
_NOTHING = lay_out(Text(), 1)


class Lines(Widget, can_focus=True):
    """A text of any length in a place that keeps its size: only the rows in sight are drawn, each of them once.

    Its last column shows where one is in a text that is longer than the place. It has neither border nor padding of
    its own style: what stands before each row is `EDGE`.
    """

    COMPONENT_CLASSES: ClassVar[set[str]] = {"lines--edge", "lines--thumb"}
    STYLES: ClassVar[Sequence[str]] = ("lines--edge", "lines--thumb")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "scroll_by(1)", show=False),
        Binding("up", "scroll_by(-1)", show=False),
        Binding("pagedown", "scroll_page(1)", show=False),
        Binding("pageup", "scroll_page(-1)", show=False),
        Binding("home", "scroll_by(-1000000)", show=False),
        Binding("end", "scroll_by(1000000)", show=False),
    ]
    EDGE: ClassVar[str] = ""

    def __init__(self, text: Text | None = None, *, id: str) -> None:  # noqa: A002 - as Textual names it
        super().__init__(id=id)
        self.laid: Sequence[Laid] = (_NOTHING,)
        self.top = 0
        """The first row in sight."""
        self._rows: list[tuple[Segment, ...]] = []
        self._drawn: dict[int, Strip] = {}
        self._drawn_for: object = None
        self._styles: Sequence[Style] = (Style.null(),) * (len(self.STYLES) + 1)
        self._line_filters: Sequence[LineFilter] = ()
        self._is_pointed_at = False
        if text is not None:
            self.laid = (lay_out(text, 1),)

    # ------------------------------------------------------------------ what is shown

    @property
    def text_width(self) -> int:
        """How many columns a row of text has."""
        return max(1, self.size.width - len(self.EDGE) - 1)

    @property
    def last_top(self) -> int:
        """The first row in sight when the last one is."""
        return max(0, len(self._rows) - self.size.height)

    def put(self, text: Laid | Text, *, line: int = 0) -> None:
        """Show a text from one of its lines on."""
        one = self._fitting(text)
        self._take((one,), one.begins[min(line, len(one.begins) - 1)])

    def _fitting(self, text: Laid | Text) -> Laid:
        """Return a text broken for the width that there is."""
        if isinstance(text, Text):
            return lay_out(text, self.text_width)
        return text if text.width == self.text_width else lay_out(text.text, self.text_width)

    def _take(self, laid: Sequence[Laid], top: int) -> None:
        shown = min(self.size.height, max(len(self._rows), sum(len(one.rows) for one in laid)))
        overflowed = len(self._rows) > self.size.height
        self.laid = laid
        self._rows = [row for one in laid for row in one.rows]
        self.top = max(0, min(top, self.last_top))
        self._drawn.clear()
        # Below both texts nothing changes.
        rows = self.size.height if overflowed or self.last_top else shown
        if rows:
            self.refresh(Region(0, 0, self.size.width, rows))

    def scroll_to_row(self, row: int) -> None:
        """Bring a row to the top, as far as the text reaches."""
        top = max(0, min(row, self.last_top))
        if top != self.top:
            self.top = top
            self._drawn.clear()
            self.refresh()

    def action_scroll_by(self, rows: int) -> None:
        """Scroll by some rows."""
        self.scroll_to_row(self.top + rows)

    def action_scroll_page(self, step: int) -> None:
        """Scroll by what is in sight; two rows of it stay."""
        self.scroll_to_row(self.top + step * max(1, self.size.height - 2))

    def on_resize(self, event: events.Resize) -> None:
        self._take(tuple(self._fitting(one) for one in self.laid), self.top)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_scroll_by(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_scroll_by(-3)

    # ------------------------------------------------------------------ selecting with the mouse

    def on_enter(self, _: events.Enter) -> None:
        # Only what is pointed at has to know of each sign where it stands; keys need none of that.
        if self.allow_select and not self._is_pointed_at:
            self._is_pointed_at = True
            self._drawn.clear()
            self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return what is selected, row by row."""
        rows = ["".join(segment.text for segment in row) for row in self._rows]
        return selection.extract("\n".join(rows)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Show what is selected."""
        self._drawn.clear()
        self.refresh()

    # ------------------------------------------------------------------ drawing

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return rows of the place. Draws them itself, past borders, padding and the caches for these."""
        styles = (self.rich_style, *(self.get_component_rich_style(name) for name in self.STYLES))
        filters = self.get_line_filters()
        if (styles, filters, self.size) != self._drawn_for:
            self._drawn.clear()
            self._styles, self._line_filters = styles, filters
            self._drawn_for = (styles, filters, self.size)
        strips = [self.render_line(y) for y in crop.line_range]
        start, end = crop.column_span
        return strips if (start, end) == (0, self.size.width) else [strip.crop(start, end) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """Return a row of the place, drawn once for as long as nothing of it changes."""
        strip = self._drawn.get(y)
        if strip is None:
            strip = self._drawn[y] = self._draw(y)
        return strip

    def is_barred(self, row: int) -> bool:
        """Whether a row is under the bar."""
        return False

    def _draw(self, y: int) -> Strip:
        row = self.top + y
        base, edge, thumb, *bar = self._styles
        # Dim signs would be a darker bar.
        style, bright = (base + bar[0], _BRIGHT) if bar and self.is_barred(row) else (base, _PLAIN)
        segments = list(self._rows[row]) if row < len(self._rows) else []
        text = Strip([*segments, Segment(" " * self.text_width)]).crop(0, self.text_width)
        if self._is_pointed_at:
            text = self._pointed_at(text, row)
        out = [Segment(self.EDGE, base + edge)] if self.EDGE else []
        out += [Segment(one.text, style + one.style + bright if one.style else style) for one in text]
        out.append(Segment(THUMB, base + thumb) if self._is_thumb(y) else Segment(" ", base))
        background = self.background_colors[1]
        for one in self._line_filters:
            out = one.apply(out, background)
        return Strip(out, self.size.width)

    def _pointed_at(self, text: Strip, row: int) -> Strip:
        """Return a row with what is selected of it, and what says where each sign stands."""
        span = self.text_selection.get_span(row) if self.text_selection is not None else None
        if span is not None:
            style = self.screen.get_component_rich_style("screen--selection")
            text = Strip(_selected(text, span, style), text.cell_length)
        return text.apply_offsets(0, row)

    def _is_thumb(self, y: int) -> bool:
        height = self.size.height
        if not self.last_top:
            return False
        size = max(1, height * height // len(self._rows))
        top = self.top * (height - size) // self.last_top
        return top <= y < top + size


def _selected(segments: Iterable[Segment], span: tuple[int, int], style: Style) -> list[Segment]:
    """Lay a style over the signs that are selected; to -1 means to the end of the row."""
    text = Text.assemble(*((text, one or "") for text, one, _ in segments))
    text.stylize(style, span[0], len(text) if span[1] == -1 else span[1])
    return list(lay_out(text, text.cell_len).rows[0])


class Entries(Lines):
    """Texts of several rows of which one is under the bar; Enter or a click takes it."""

    ALLOW_SELECT: ClassVar[bool] = False
    COMPONENT_CLASSES: ClassVar[set[str]] = {"entries--chosen"}
    STYLES: ClassVar[Sequence[str]] = (*Lines.STYLES, "entries--chosen")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", show=False),
        Binding("up", "move(-1)", show=False),
        Binding("pagedown", "move_page(1)", show=False),
        Binding("pageup", "move_page(-1)", show=False),
        Binding("home", "choose(0)", show=False),
        Binding("end", "choose(-1)", show=False),
        Binding("enter", "take", show=False),
    ]

    class Chosen(Message):
        """Another entry is under the bar."""

    class Taken(Message):
        """The entry under the bar was taken."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - as Textual names it
        super().__init__(id=id)
        self.laid = ()
        self.chosen: int | None = None

    def fill(self, entries: Sequence[Laid | Text]) -> None:
        """Show other entries; the first is under the bar."""
        self.chosen = 0 if entries else None
        self._take(tuple(self._fitting(one) for one in entries), 0)

    def on_resize(self, event: events.Resize) -> None:
        super().on_resize(event)
        self._bring_into_sight()

    def is_barred(self, row: int) -> bool:
        return self.chosen is not None and row in self._rows_of(self.chosen)

    def _rows_of(self, at: int) -> range:
        start = sum(len(one.rows) for one in self.laid[:at])
        return range(start, start + len(self.laid[at].rows))

    def _at(self, row: int) -> int | None:
        return next((at for at in range(len(self.laid)) if row in self._rows_of(at)), None)

    def _bring_into_sight(self) -> None:
        if self.chosen is None:
            return
        rows = self._rows_of(self.chosen)
        if rows.start < self.top:
            self.scroll_to_row(rows.start)
        elif rows.stop > self.top + self.size.height:
            self.scroll_to_row(min(rows.start, rows.stop - self.size.height))

    def action_choose(self, at: int) -> None:
        """Put the bar on an entry; beyond the last comes the first."""
        if not self.laid:
            return
        self.chosen = at % len(self.laid)
        self._bring_into_sight()
        self._drawn.clear()
        self.refresh()
        self.post_message(self.Chosen())

    def action_move(self, step: int) -> None:
        """Go to an entry before or behind."""
        self.action_choose((self.chosen or 0) + step)

    def action_move_page(self, step: int) -> None:
        """Go on by what is in sight."""
        if self.chosen is not None:
            row = self._rows_of(self.chosen).start + step * self.size.height
            last = len(self.laid) - 1
            at = self._at(max(0, row))
            self.action_choose(last if at is None else at)

    def action_take(self) -> None:
        """Take the entry under the bar."""
        if self.chosen is not None:
            self.post_message(self.Taken())

    def on_click(self, event: events.Click) -> None:
        at = self._at(self.top + event.y)
        if at is not None:
            self.action_choose(at)
            self.action_take()
