"""Spreadsheets: each sheet with its name, its rows as lines, each row with its range of cells."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import time, timedelta
from io import BytesIO
from typing import TYPE_CHECKING

from lilbee_core.extract._engine import Extraction
from lilbee_core.extract._loose import texts
from lilbee_core.extract._paged import Placed
from lilbee_core.extract._tables import HEAD_CHARS, is_head
from lilbee_core.extract._writer import TextWriter, table_row
from lilbee_core.types import Heading

if TYPE_CHECKING:
    from python_calamine import CalamineSheet

_MIDNIGHT = re.compile(r"(?<=\d{4}-\d\d-\d\d) 00:00:00$")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_EARLY = ("1899-12-3", "190")
"""How the first days begin that a sheet can tell, from 1900 or 1904 on: the engine shows times of day and durations as
moments of these days."""
_HEAD_ROWS = 5
_MOST_PLACES = 50_000
"""Rows of a sheet beyond which several share a place: each costs memory."""
Corner = tuple[int, int]
"""Row and column of the first cell that is used, counted from 0."""
_Key = tuple[str, int]
"""The name of a sheet and its number of rows, which guards against two readers that disagree."""


@dataclass(frozen=True, slots=True)
class _Grid:
    """What the engine does not tell of a sheet: where its cells begin, and what its times of day and durations are."""

    corner: Corner
    times: Mapping[tuple[int, int], str]


def join_sheets(extraction: Extraction, data: bytes) -> Placed:
    """Give each sheet its name as a heading, and the names of its columns as one below it."""
    names = [str(name) for name in texts(extraction.metadata.get("sheet_names"))]
    tables = [
        (names[number - 1] if 0 < number <= len(names) else f"Sheet {number}", rows)
        for number, rows in extraction.tables
    ]
    grids = _grids(data, {(name, len(rows)) for name, rows in tables if _may_hold_times(rows)})
    out = TextWriter()
    for name, rows in tables:
        sheet = _sheet(name, rows, grids.get((name, len(rows))))
        out.part(sheet, label=name)
    return Placed(text=out.text, segments=tuple(out.segments), headings=tuple(out.headings))


def _sheet(name: str, rows: Sequence[Sequence[str]], grid: _Grid | None) -> TextWriter:
    sheet = TextWriter()
    lines: list[str] = []
    labels: list[str | None] = []
    head: int | None = None
    step = 1 + len(rows) // _MOST_PLACES
    for number, row in enumerate(rows):
        shown = _with_times(row, number, grid.times) if grid is not None and grid.times else row
        cells = [_MIDNIGHT.sub("", cell) for cell in shown]
        line = table_row(cells).rstrip(" |")
        if not line:
            continue
        if head is None and len(lines) < _HEAD_ROWS and is_head(cells):
            head = len(lines)
        lines.append(line)
        labels.append(_label(name, cells, number, grid.corner, step) if grid is not None else None)
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


def _may_hold_times(rows: Sequence[Sequence[str]]) -> bool:
    return any(cell.startswith(_EARLY) for row in rows for cell in row)


def _with_times(row: Sequence[str], number: int, times: Mapping[tuple[int, int], str]) -> Iterator[str]:
    for at, cell in enumerate(row):
        yield times.get((number, at), cell) if _DAY.match(cell) else cell


def _grids(data: bytes, with_times: Collection[_Key]) -> Mapping[_Key, _Grid]:
    """Return what the engine does not tell of each sheet, nothing where that is unknown.

    The values are looked at only in the sheets `with_times`.
    """
    import python_calamine

    found: dict[_Key, _Grid] = {}
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(BytesIO(data))
        for name in book.sheet_names:
            sheet = book.get_sheet_by_name(name)
            if sheet.start is not None:
                key = name, sheet.height
                found[key] = _Grid(sheet.start, dict(_times(sheet)) if key in with_times else {})
    except Exception:  # noqa: BLE001 - places are lost, the text is not
        return found
    except BaseException as error:
        # A panic of native code is no `Exception`.
        if type(error).__name__ != "PanicException":
            raise
    return found


def _times(sheet: CalamineSheet) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the times of day and durations with their places, counted from the first cell that is used."""
    for number, row in enumerate(sheet.to_python()):
        for at, value in enumerate(row):
            if isinstance(value, time):
                yield (number, at), _clock(value.hour * 3600 + value.minute * 60 + value.second)
            elif isinstance(value, timedelta):
                yield (number, at), _clock(round(value.total_seconds()))


def _clock(seconds: int) -> str:
    """Return hours, minutes and, where there are some, seconds."""
    minutes, rest = divmod(abs(seconds), 60)
    shown = f"{minutes // 60:02}:{minutes % 60:02}"
    return f"{'-' if seconds < 0 else ''}{shown}{f':{rest:02}' if rest else ''}"
