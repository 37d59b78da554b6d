"""A web page as blocks of text: what a reader sees, with the file's line of each line."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser

from lilbee_core.extract._lines import flowed, preformatted


def _set(names: str) -> frozenset[str]:
    return frozenset(names.split())


_UNSEEN = _set(
    "script style noscript template iframe object canvas audio video datalist head annotation annotation-xml "
    "desc metadata rp"
)
_BLOCKS = _set(
    "address article aside blockquote body caption center details dialog dd div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol optgroup option p pre section "
    "select summary svg table tbody text textarea tfoot thead tr ul"
)
_VOID = _set("area base br col embed hr img input link meta param source track wbr")
_ENDED_BY = {
    "li": frozenset(("li",)),
    "dt": frozenset(("dt", "dd")),
    "dd": frozenset(("dt", "dd")),
    "tr": frozenset(("tr", "td", "th")),
    "td": frozenset(("td", "th")),
    "th": frozenset(("td", "th")),
    "option": frozenset(("option",)),
}
_SCOPES = _set("table ul ol dl menu body html article section main")
_PREFORMATTED = frozenset(("pre", "textarea"))
_QUIET_INPUTS = frozenset(("hidden", "password", "checkbox", "radio", "range", "color", "file"))
_NAMED_IF_BARE = frozenset(("a", "button"))
"""What goes by its label where it shows nothing but a picture."""
_CONSENT = re.compile(r"(?:^|[\s_-])(?:cookies?|consent|gdpr)(?:$|[\s_-])", re.IGNORECASE)
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}


@dataclass(slots=True)
class Block:
    """A paragraph, list item, table row or heading: its lines, each with its line in the file.

    A row is one line whose cells may stand on several of the file: `end` is the last one of these.
    """

    lines: list[tuple[str, int]]
    end: int = 0
    heading: int = 0
    consent: bool = False
    tight: bool = False

    @property
    def letters(self) -> int:
        return sum(len(text) for text, _ in self.lines)


@dataclass(slots=True)
class _Open:
    """An element that is open, and what it switched on."""

    tag: str
    unseen: bool = False
    consent: bool = False
    lists: bool = False
    label: tuple[int, str, int] | None = None
    """Where the pieces of it begin, what it goes by if these show nothing, and the line of that."""


@dataclass(slots=True)
class _Table:
    """A table that is open: the cells of its row so far."""

    cells: list[list[Block]] = field(default_factory=list[list[Block]])
    in_cell: bool = False


class PageReader(HTMLParser):
    """Collects the blocks of a page and what its head says about it."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self.title: str | None = None
        self.language: str | None = None
        self.facts: dict[str, str] = {}
        self.anchors: dict[str, int] = {}
        """Ids with the number of the block that they stand at or in."""
        self._stack: list[_Open] = []
        self._open: Counter[str] = Counter()
        self._unseen = self._consent = 0
        self._pre = 0
        self._lists: list[int | None] = []
        self._tables: list[_Table] = []
        self._pieces: list[tuple[str, int]] = []
        self._heading = 0
        self._marker = ""
        self._title_parts: list[str] | None = None

    # ------------------------------------------------------------------ what the parser calls

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self._note(tag, values)
        if tag in _ENDED_BY:
            self._close_implied(tag)
        elif tag in _BLOCKS and self._stack and self._stack[-1].tag == "p":
            self._close_to(len(self._stack) - 1)
        if tag == "br":
            # What follows stands on the same line of the file.
            self._pieces.append(("\n", self.getpos()[0] - 1))
        if tag in _BLOCKS:
            self._flush()
        if name := values.get("id") or (values.get("name") if tag == "a" else ""):
            self.anchors.setdefault(name, len(self.blocks))
        if tag in _VOID:
            self._show_attributes(tag, values)
        else:
            self._enter(tag, values)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID and (self._open["svg"] or self._open["math"] or tag == "canvas"):
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self._open[tag]:
            if tag == "p":
                self._flush()
            return
        place = len(self._stack) - 1
        while self._stack[place].tag != tag:
            place -= 1
        self._close_to(place)

    def handle_data(self, data: str) -> None:
        if self._title_parts is not None:
            self._title_parts.append(data)
        elif not (self._unseen or self._is_drawn):
            self._pieces.append((data, self.getpos()[0]))

    @property
    def _is_drawn(self) -> bool:
        """Say whether a drawing is open, of which only what is written in it is text."""
        return self._open["svg"] > 0 and not (self._open["text"] or self._open["foreignobject"])

    def parse_marked_section(self, i: int, report: int = 1) -> int:
        """Take ``<![if …]>`` and the like for a comment; the base class fails on unknown ones."""
        return self.parse_bogus_comment(i)

    def close(self) -> None:
        super().close()
        self._close_to(0)
        self._flush()

    # ------------------------------------------------------------------ elements

    def _note(self, tag: str, values: dict[str, str]) -> None:
        if tag == "html" and self.language is None:
            self.language = values.get("lang") or values.get("xml:lang")
        elif tag == "title" and self.title is None and not self._open["svg"]:
            self._title_parts = []
        elif tag == "meta" and values.get("content"):
            name = values.get("property") or values.get("name") or values.get("itemprop") or values.get("http-equiv")
            if name:
                self.facts.setdefault(name.strip().lower(), values["content"].strip())
        elif tag == "link" and values.get("rel", "").lower() == "canonical":
            self.facts.setdefault("canonical", values.get("href", "").strip())
        elif tag == "time" and values.get("datetime") and ("pubdate" in values or "datePublished" in values.values()):
            self.facts.setdefault("time", values["datetime"].strip())

    def _enter(self, tag: str, values: dict[str, str]) -> None:
        entry = _Open(
            tag,
            unseen=tag in _UNSEEN or self._is_hidden(values),
            consent=self._is_consent(tag, values),
            lists=tag in {"ul", "ol", "menu"},
            label=self._label(tag, values),
        )
        self._stack.append(entry)
        self._open[tag] += 1
        self._unseen += entry.unseen
        self._consent += entry.consent
        self._pre += tag in _PREFORMATTED
        if entry.lists:
            start = values.get("start", "1")
            self._lists.append((int(start) if start.isdecimal() and len(start) < 9 else 1) if tag == "ol" else None)
        elif tag == "li":
            self._marker = self._next_marker() if not self._unseen else ""
        elif tag in {"option", "optgroup"} and not self._unseen:
            self._marker = "- " if tag == "option" else ""
            self._show(values, "label")
        elif tag in _HEADINGS:
            self._heading = _HEADINGS[tag]
        elif tag == "table":
            self._tables.append(_Table())
        elif tag in {"td", "th"} and self._tables:
            self._start_cell()

    def _label(self, tag: str, values: dict[str, str]) -> tuple[int, str, int] | None:
        label = (values.get("aria-label") or values.get("title") or "").strip() if tag in _NAMED_IF_BARE else ""
        return (len(self._pieces), label, self._line_of(label)) if label else None

    def _show_attributes(self, tag: str, values: dict[str, str]) -> None:
        """Add what an element without content shows: the text of a picture, the value of a field."""
        if self._is_hidden(values):
            return
        kind = values.get("type", "text").lower()
        if tag in {"img", "area"} or (tag == "input" and kind == "image"):
            self._show(values, "alt")
        elif tag == "input" and kind not in _QUIET_INPUTS:
            self._show(values, "value", "placeholder")

    def _show(self, values: dict[str, str], *names: str) -> None:
        """Add the first of these attributes that says something, with its own line."""
        text = next((text for name in names if (text := values.get(name, "").strip())), "")
        if text and not self._unseen:
            self._pieces.append((f" {text} ", self._line_of(text)))

    def _line_of(self, value: str) -> int:
        """Return the line of an attribute's value: a tag may have several."""
        tag = self.get_starttag_text() or ""
        return self.getpos()[0] + tag.count("\n", 0, max(0, tag.find(value)))

    def _is_hidden(self, values: dict[str, str]) -> bool:
        return (
            "hidden" in values
            or values.get("aria-hidden") == "true"
            or bool(_HIDDEN_STYLE.search(values.get("style", "")))
        )

    def _is_consent(self, tag: str, values: dict[str, str]) -> bool:
        return tag in {"div", "section", "aside", "dialog", "form"} and bool(
            _CONSENT.search(values.get("id", "")) or _CONSENT.search(values.get("class", ""))
        )

    def _next_marker(self) -> str:
        if not self._lists:
            return "- "
        indent = "  " * (len(self._lists) - 1)
        number = self._lists[-1]
        if number is None:
            return f"{indent}- "
        self._lists[-1] = number + 1
        return f"{indent}{number}. "

    def _close_implied(self, tag: str) -> None:
        """Close what a new list item, row or cell ends without saying so."""
        ended, outermost = _ENDED_BY[tag], None
        for place in range(len(self._stack) - 1, max(-1, len(self._stack) - 64), -1):
            name = self._stack[place].tag
            if name in _SCOPES or (name == "tr" and tag != "tr"):
                break
            if name in ended:
                outermost = place
        if outermost is not None:
            self._close_to(outermost)

    def _close_to(self, place: int) -> None:
        while len(self._stack) > place:
            self._leave(self._stack.pop())

    def _leave(self, entry: _Open) -> None:
        tag = entry.tag
        if tag == "title" and self._title_parts is not None:
            self.title = " ".join("".join(self._title_parts).split()) or None
            self._title_parts = None
        if entry.label is not None and not self._unseen:
            start, label, line = entry.label
            if not any(text.strip() for text, _ in self._pieces[start:]):
                self._pieces.append((f" {label} ", line))
        if tag in _BLOCKS or tag in {"td", "th"}:
            self._flush()
        if tag in {"td", "th"} and self._tables:
            self._tables[-1].in_cell = False
        elif tag in {"tr", "table"} and self._tables:
            self._end_row()
            if tag == "table":
                self._tables.pop()
        if entry.lists and self._lists:
            self._lists.pop()
        if tag in _HEADINGS:
            self._heading = 0
        self._open[tag] -= 1
        self._unseen -= entry.unseen
        self._consent -= entry.consent
        self._pre -= tag in _PREFORMATTED

    # ------------------------------------------------------------------ blocks

    def _flush(self) -> None:
        """End the block that is being collected."""
        pieces, self._pieces = self._pieces, []
        lines = preformatted(pieces) if self._pre else flowed(pieces)
        if not lines:
            return
        marker, self._marker = self._marker, ""
        if marker:
            lines[0] = (marker + lines[0][0], lines[0][1])
        block = Block(
            lines,
            heading=self._heading,
            consent=self._consent > 0,
            tight=bool(marker),
        )
        table = next((table for table in reversed(self._tables) if table.in_cell), None)
        if table is not None and table.cells:
            table.cells[-1].append(block)
        else:
            self.blocks.append(block)

    def _start_cell(self) -> None:
        self._flush()
        self._tables[-1].cells.append([])
        self._tables[-1].in_cell = True

    def _end_row(self) -> None:
        """Make a row of cells one line; cells that hold more than a line each are a layout and stay blocks."""
        table = self._tables[-1]
        cells, table.cells, table.in_cell = table.cells, [], False
        if not any(cells):
            return
        # A table in a cell of another one belongs to that cell.
        outer = next((one for one in reversed(self._tables[:-1]) if one.in_cell and one.cells), None)
        target = outer.cells[-1] if outer is not None else self.blocks
        if all(len(cell) <= 1 and not any(block.heading for block in cell) for cell in cells):
            texts = [" ".join(text for text, _ in cell[0].lines) if cell else "" for cell in cells]
            first = next(cell[0] for cell in cells if cell)
            row = " | ".join(texts) if len(texts) > 1 else texts[0]
            end = max(max(block.end, block.lines[-1][1]) for cell in cells for block in cell)
            target.append(Block([(row, first.lines[0][1])], end, consent=first.consent, tight=True))
        else:
            target.extend(block for cell in cells for block in cell)
