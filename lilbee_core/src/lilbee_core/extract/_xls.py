"""Workbooks of older Excel (.xls), through xlrd: values as they are shown, comments."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol, cast

from lilbee_core.errors import LilbeeError
from lilbee_core.extract._cells import Comment, Row, Sheet
from lilbee_core.extract._number_codes import BUILT_IN, GENERAL
from lilbee_core.extract._numbers import shown_number, shown_text
from lilbee_core.extract._reading import damaged
from lilbee_core.extract._xlsx import without_author
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Source

_TEXT, _NUMBER, _DATE, _TRUTH, _ERROR = 1, 2, 3, 4, 5
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
_CHECK_EVERY = 1_000
_CODES = {_DATE: "yyyy-mm-dd h:mm"}
"""How cells are shown whose own formats could not be read."""
_OURS = frozenset((14, 22, *range(27, 37), *range(50, 59)))
"""Formats that follow the system's settings, whatever the file writes for them."""


class _Cell(Protocol):
    ctype: int
    value: str | float
    xf_index: int | None


class _Note(Protocol):
    text: str
    author: str


class _Sheet(Protocol):
    name: str
    nrows: int
    cell_note_map: Mapping[tuple[int, int], _Note]

    def row(self, rowx: int) -> Sequence[_Cell]: ...


class _Format(Protocol):
    format_str: str


class _Style(Protocol):
    format_key: int


class _Workbook(Protocol):
    datemode: int
    nsheets: int
    xf_list: Sequence[_Style]
    format_map: Mapping[int, _Format]

    def sheet_by_index(self, sheetx: int) -> _Sheet: ...

    def unload_sheet(self, sheet_name_or_index: int) -> None: ...


class _Xlrd(Protocol):
    def open_workbook(self, **options: object) -> _Workbook: ...


def read_old_workbook(source: Source, data: bytes, context: ExtractContext) -> Iterator[Sheet]:
    """Yield the sheets of a workbook in their order.

    Raises:
        ExtractError: If the workbook cannot be read.
    """
    failure: Exception | None = None
    # A file whose formats are broken is still read, without them.
    for formats in (True, False):
        try:
            yield from list(_read(data, context, formats=formats))
        except (MemoryError, LilbeeError):
            raise
        except Exception as error:  # noqa: BLE001 - the library raises what it likes on broken files
            failure = error
        else:
            return
    raise damaged(source, "its content does not follow its format") from failure


def _read(data: bytes, context: ExtractContext, *, formats: bool) -> Iterator[Sheet]:
    import xlrd

    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        book = cast("_Xlrd", xlrd).open_workbook(
            file_contents=data,
            logfile=nowhere,
            formatting_info=formats,
            on_demand=True,
            ragged_rows=True,
            ignore_workbook_corruption=True,
        )
        codes = [_code(style.format_key, book.format_map) for style in book.xf_list]
        for index in range(book.nsheets):
            yield _sheet(book.sheet_by_index(index), codes, book.datemode == 1, context)
            book.unload_sheet(index)


def _code(key: int, formats: Mapping[int, _Format]) -> str:
    own = formats.get(key)
    if key in _OURS or own is None:
        return BUILT_IN.get(key, GENERAL)
    return own.format_str


def _sheet(read: _Sheet, codes: Sequence[str], from_1904: bool, context: ExtractContext) -> Sheet:
    sheet = Sheet(read.name)
    for number in range(read.nrows):
        if number % _CHECK_EVERY == 0:
            context.check()
        cells: list[tuple[int, str]] = []
        has_numbers = False
        for column, cell in enumerate(read.row(number)):
            if shown := _shown(cell, codes, from_1904):
                cells.append((column, shown))
                has_numbers = has_numbers or cell.ctype != _TEXT
        if cells:
            sheet.rows.append(Row(number, cells, has_numbers))
    for place, note in sorted(read.cell_note_map.items()):
        sheet.comments.append(Comment(place, without_author(note.text, note.author), note.author))
    return sheet


def _shown(cell: _Cell, codes: Sequence[str], from_1904: bool) -> str:
    style = cell.xf_index
    code = codes[style] if style is not None and style < len(codes) else _CODES.get(cell.ctype, GENERAL)
    if isinstance(cell.value, str):
        return shown_text(cell.value, code) if cell.ctype == _TEXT else ""
    if cell.ctype in {_NUMBER, _DATE}:
        return shown_number(cell.value, code, from_1904=from_1904)
    if cell.ctype == _TRUTH:
        return "TRUE" if cell.value else "FALSE"
    return _ERRORS.get(int(cell.value), "#N/A") if cell.ctype == _ERROR else ""
