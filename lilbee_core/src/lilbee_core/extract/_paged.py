"""Texts without pages, and headings found again by their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lilbee_core.extract._engine import Extraction, Node
from lilbee_core.extract._writer import table_row
from lilbee_core.types import Heading, Segment

GAP = "\n\n"
_SHORT = 8
_FIELD_CODE = re.compile(r" ?\b(?:SEQ|REF|PAGEREF|STYLEREF) [^\n\\]{0,60}(?:\\[*a-z](?: \w+)?)+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A text with its segments and headings."""

    text: str
    segments: tuple[Segment, ...] = ()
    headings: tuple[Heading, ...] = ()


def find_headings(page: str, nodes: Iterable[Node], *, offset: int) -> Iterator[Heading]:
    """Find each heading in the text of its page, in reading order, whatever its line breaks and spaces."""
    places = [at for at, char in enumerate(page) if char.isalnum()]
    letters = "".join(page[at] for at in places)
    cursor = 0
    for node in nodes:
        wanted = "".join(char for char in node.text if char.isalnum())
        if not wanted:
            continue
        found = letters.find(wanted, cursor)
        if found < 0:
            continue
        cursor = found + len(wanted)
        title = " ".join(node.text.split())
        yield Heading(start=offset + _line_start(page, places[found]), level=max(1, node.level), title=title)


def _line_start(page: str, at: int) -> int:
    """Step back to the start of the line when only marks and spaces lie between."""
    start = page.rfind("\n", 0, at) + 1
    return start if not any(char.isalnum() for char in page[start:at]) else at


def flow(extraction: Extraction) -> Placed:
    """Return a text without pages; rows of tables get their cells apart, headings are found by their words."""
    text = extraction.text.strip("\n")
    for _, rows in extraction.tables:
        shown = "\n".join(" ".join(row) for row in rows)
        if len(shown) > _SHORT and text.count(shown) == 1:
            text = text.replace(shown, "\n".join(table_row(row) for row in rows))
    nodes = [node for node in extraction.nodes if node.kind == "heading"]
    return Placed(text=text, headings=tuple(find_headings(text, nodes, offset=0)))


def old_word(text: str) -> str:
    """Repair what the engine leaves of Word's binary format: field codes, and rows of tables on one line."""
    lines: list[str] = []
    for line in _FIELD_CODE.sub("", text).split("\n"):
        rows = line.strip("\t").split("\t\t") if line.count("\t\t") > 1 else [line]
        lines += [" | ".join(row.split("\t")) if len(rows) > 1 else row for row in rows]
    return "\n".join(lines)
