"""Tables in a text: where they stand and what their columns are called. Pure functions.

Readers write a row as one line, its cells parted by bars, as Markdown does; so tables are found in the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lilbee_core.extract._formats import (
    DOCX,
    EPUB,
    FICTION,
    HTML,
    MAIL,
    MARKDOWN,
    ODF,
    OUTLOOK,
    PROSE,
    SLIDES,
)
from lilbee_core.extract._headings import plain_title
from lilbee_core.types import Document, Span, Table

HEAD_CHARS = 300
_LEAST_ROWS = 3
_BARS = "text/x-org"
_ROW = re.compile(r"^[^\n]*? \| [^\n]*$", re.MULTILINE)
_RULE = re.compile(r"^[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:[|+][ \t]*:?-+:?[ \t]*)*\|?[ \t]*$", re.MULTILINE)
_NUMBER = re.compile(r"[-+]?[\d.,\s]*\d[\d.,\s]*%?")
_MARKER = re.compile(r"\(?(?:[ivxlcIVXLC]+|\d+|\w)[.)]|.*:")
"""Numbers of a list, and names of what stands beside them."""
_BAR = re.compile(r"(?<!\\)\|")
_WRITTEN = frozenset(
    (*HTML, *DOCX, *ODF, *SLIDES, *EPUB, *FICTION, *MAIL, *OUTLOOK, *PROSE, "application/xml", "application/mbox")
)
"""Types whose readers write tables as rows with bars."""


def with_tables(document: Document) -> Document:
    """Return a document with its tables, those that its reader named and those that the text shows."""
    kind = document.media_type
    marked = kind in MARKDOWN or kind == _BARS
    if not (marked or kind in _WRITTEN) or "|" not in document.text:
        return document
    found = tuple(marked_tables(document.text, document.body_start) if marked else written_tables(document.text))
    given = [one.span for one in document.tables]
    more = [one for one in found if not any(one.span.overlaps(span) for span in given)]
    if not more:
        return document
    return replace(document, tables=tuple(sorted([*document.tables, *more], key=lambda one: one.span.start)))


def is_head(cells: Sequence[str]) -> bool:
    """Say whether a row looks like the names of columns: at least two, no numbers, and no item of a list."""
    used = [cell.strip() for cell in cells if cell.strip()]
    return len(used) > 1 and not any(_NUMBER.fullmatch(cell) for cell in used) and not _MARKER.fullmatch(used[0])


def head_of(cells: Sequence[str]) -> str:
    """Return the names of columns as one line."""
    return " | ".join(" ".join(cell.split()) for cell in cells if cell.strip())[:HEAD_CHARS].rstrip(" |")


def written_tables(text: str) -> Iterator[Table]:
    """Yield the tables of a text whose rows are lines of cells with bars between them."""
    rows: list[re.Match[str]] = []
    for row in _ROW.finditer(text):
        if rows and row.start() != rows[-1].end() + 1:
            yield from _written(rows)
            rows = []
        rows.append(row)
    yield from _written(rows)


def _written(rows: Sequence[re.Match[str]]) -> Iterator[Table]:
    if len(rows) < _LEAST_ROWS:
        return
    cells = rows[0][0].split(" | ")
    if is_head(cells):
        yield Table(Span(rows[0].start(), rows[-1].end()), head_of(cells))


def marked_tables(text: str, start: int = 0) -> Iterator[Table]:
    """Yield the tables of Markdown or Org, whose first row is ruled off."""
    reach = start
    for rule in _RULE.finditer(text, start):
        if "|" not in rule[0]:
            continue
        first = text.rfind("\n", 0, max(0, rule.start() - 1)) + 1
        head = text[first : rule.start()].rstrip("\n")
        if first < reach or "|" not in head or not rule.start():
            continue
        cells = [plain_title(cell) for cell in _BAR.split(head.strip().strip("|"))]
        if not any(cells):
            continue
        reach = _last_row(text, rule.end())
        yield Table(Span(first, reach), head_of(cells))


def _last_row(text: str, at: int) -> int:
    """Return the end of the last line with bars from the line on that ends here."""
    while at < len(text):
        end = text.find("\n", at + 1)
        end = len(text) if end < 0 else end
        if "|" not in text[at:end]:
            break
        at = end
    return at
