"""Spreadsheets: each sheet with its name, its rows as lines, each row with its range of cells."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from io import BytesIO

from lilbee_core.extract._engine import Extraction
from lilbee_core.extract._loose import texts
from lilbee_core.extract._paged import Placed
from lilbee_core.extract._tables import HEAD_CHARS, is_head
from lilbee_core.extract._writer import TextWriter, table_row
from lilbee_core.types import Heading

_MIDNIGHT = re.compile(r"(?<=\d{4}-\d\d-\d\d) 00:00:00$")
_HEAD_ROWS = 5
_MOST_PLACES = 50_000
"""Rows of a sheet beyond which several share a place: each costs memory."""
Corner = tuple[int, int]
"""Row and column of the first cell that is used, counted from 0."""


def join_sheets(extraction: Extraction, data: bytes) -> Placed:
    """Give each sheet its name as a heading, and the names of its columns as one below it."""
    names = [str(name) for name in texts(extraction.metadata.get("sheet_names"))]
    corners = _corners(data)
    out = TextWriter()
    for number, rows in extraction.tables:
        name = names[number - 1] if 0 < number <= len(names) else f"Sheet {number}"
        sheet = _sheet(name, rows, corners.get((name, len(rows))))
        out.part(sheet, label=name)
    return Placed(text=out.text, segments=tuple(out.segments), headings=tuple(out.headings))


def _sheet(name: str, rows: Sequence[Sequence[str]], corner: Corner | None) -> TextWriter:
    sheet = TextWriter()
    lines: list[str] = []
    labels: list[str | None] = []
    head: int | None = None
    step = 1 + len(rows) // _MOST_PLACES
    for number, row in enumerate(rows):
        cells = [_MIDNIGHT.sub("", cell) for cell in row]
        line = table_row(cells).rstrip(" |")
        if not line:
            continue
        if head is None and len(lines) < _HEAD_ROWS and is_head(cells):
            head = len(lines)
        lines.append(line)
        labels.append(_label(name, cells, number, corner, step) if corner is not None else None)
    if not lines:
        return sheet
    sheet.block(name, heading=1)
    start = sheet.rows(lines, labels)
    if head is not None:
        start += sum(len(line) + 1 for line in lines[:head])
        sheet.headings.append(Heading(start=start, level=2, title=lines[head].strip(" |")[:HEAD_CHARS]))
    return sheet


def _label(name: str, cells: Sequence[str], number: int, corner: Corner, step: int) -> str:
    used = [at for at, cell in enumerate(cells) if cell.strip()]
    top = corner[0] + number - number % step + 1
    left, right = corner[1] + used[0], corner[1] + used[-1]
    return f"{name}!{column_name(left)}{top}:{column_name(right)}{top + step - 1}"


def column_name(index: int) -> str:
    """Return the letters of a column, counted from 0."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name


def _corners(data: bytes) -> Mapping[tuple[str, int], Corner]:
    """Return where the used cells of each sheet begin, by its name and number of rows; nothing where that is unknown.

    The engine tells the cells but not where they stand. The number of rows guards against two readers that disagree.
    """
    import python_calamine

    found: dict[tuple[str, int], Corner] = {}
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(BytesIO(data))
        for name in book.sheet_names:
            sheet = book.get_sheet_by_name(name)
            if sheet.start is not None:
                found[name, sheet.height] = sheet.start
    except Exception:  # noqa: BLE001 - places are lost, the text is not
        return found
    except BaseException as error:
        # A panic of native code is no `Exception`.
        if type(error).__name__ != "PanicException":
            raise
    return found
