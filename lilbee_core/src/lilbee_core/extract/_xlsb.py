"""Binary workbooks of Excel (.xlsb): records instead of elements, else as in `_xlsx`."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from lilbee_core.extract._cells import LAST_COLUMN, LAST_ROW, Comment, Row, Sheet
from lilbee_core.extract._number_codes import GENERAL
from lilbee_core.extract._numbers import shown_number, shown_text
from lilbee_core.extract._package import Package
from lilbee_core.extract._reading import damaged
from lilbee_core.extract._xlsx import code_of, without_author
from lilbee_core.protocols import ExtractContext

_ROW, _RK, _ERROR, _TRUTH, _REAL, _TEXT, _SHARED = 0, 2, 3, 4, 5, 6, 7
_FORMULA_TEXT, _FORMULA_REAL, _FORMULA_TRUTH, _FORMULA_ERROR, _RICH = 8, 9, 10, 11, 62
_SHARED_ITEM, _FORMAT, _STYLE, _BOOK, _SHEET = 19, 44, 47, 153, 156
_STYLES, _STYLES_END = 617, 618
_AUTHOR, _COMMENT, _COMMENT_TEXT = 632, 635, 637
_SAME = {_FORMULA_TEXT: _TEXT, _FORMULA_REAL: _REAL, _FORMULA_TRUTH: _TRUTH, _FORMULA_ERROR: _ERROR}
_ERRORS = {0: "#NULL!", 7: "#DIV/0!", 15: "#VALUE!", 23: "#REF!", 29: "#NAME?", 36: "#NUM!", 42: "#N/A"}
_CHECK_EVERY = 20_000
_BROKEN = (struct.error, IndexError, UnicodeDecodeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    codes: tuple[str, ...]
    texts: tuple[str, ...]
    from_1904: bool


def read_binary_workbook(package: Package, main: str, context: ExtractContext) -> Iterator[Sheet]:
    """Yield the sheets of a workbook in their order.

    Raises:
        ExtractError: If the workbook cannot be read.
    """
    try:
        yield from _read(package, main, context)
    except _BROKEN as error:
        raise damaged(package.source, "its content does not follow its format") from error


def _read(package: Package, main: str, context: ExtractContext) -> Iterator[Sheet]:
    relations = package.relations(main)
    parts = dict(relations.values())
    from_1904 = False
    listed: list[tuple[str, str]] = []
    for kind, data in _records(package.read(main) or b""):
        if kind == _BOOK:
            from_1904 = bool(data[0] & 1)
        elif kind == _SHEET:
            key, at = _wide(data, 8)
            listed.append((_wide(data, at)[0], relations.get(key, ("", ""))[1]))
    book = _Book(
        codes=_codes(package.read(parts.get("styles", "")) or b""),
        texts=tuple(
            _wide(data, 1)[0]
            for kind, data in _records(package.read(parts.get("sharedStrings", "")) or b"")
            if kind == _SHARED_ITEM
        ),
        from_1904=from_1904,
    )
    for name, path in listed:
        sheet = Sheet(name)
        _read_cells(package.read(path) or b"", book, sheet, context)
        beside = [part for name, part in package.relations(path).values() if name == "comments"]
        sheet.comments += [one for part in beside for one in _comments(package.read(part) or b"")]
        yield sheet


def _records(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the records of a part: their kinds and what they hold."""
    at, end = 0, len(data)
    while at < end:
        kind = data[at]
        at += 1
        if kind > 127:
            kind = (kind & 127) | (data[at] << 7)
            at += 1
        size = shift = 0
        while True:
            size |= (data[at] & 127) << shift
            at += 1
            shift += 7
            if data[at - 1] < 128 or shift > 21:
                break
        yield kind, data[at : at + size]
        at += size


def _wide(data: bytes, at: int) -> tuple[str, int]:
    """Return a text that tells its length, and where it ends."""
    (length,) = struct.unpack_from("<I", data, at)
    end = at + 4 + 2 * length
    if length == 0xFFFFFFFF:
        return "", at + 4
    if end > len(data):
        raise IndexError("a text is longer than its record")
    return data[at + 4 : end].decode("utf-16-le", "replace"), end


def _codes(styles: bytes) -> tuple[str, ...]:
    own: dict[str, str] = {}
    found: list[str] = []
    inside = False
    for kind, data in _records(styles):
        if kind == _FORMAT:
            own[str(struct.unpack_from("<H", data)[0])] = _wide(data, 2)[0]
        elif kind in {_STYLES, _STYLES_END}:
            inside = kind == _STYLES
        elif kind == _STYLE and inside:
            found.append(str(struct.unpack_from("<H", data, 2)[0]))
    return tuple(code_of(number, own) for number in found)


def _read_cells(part: bytes, book: _Book, sheet: Sheet, context: ExtractContext) -> None:
    number = -1
    cells: list[tuple[int, str]] = []
    has_numbers = False
    for count, (kind, data) in enumerate(_records(part)):
        if count % _CHECK_EVERY == 0:
            context.check()
        if kind == _ROW:
            _end_row(sheet, number, cells, has_numbers)
            (number,) = struct.unpack_from("<I", data)
            cells, has_numbers = [], False
        elif kind in _SAME or kind in {_RK, _ERROR, _TRUTH, _REAL, _TEXT, _SHARED, _RICH}:
            column, style = struct.unpack_from("<II", data)
            shown = _value(_SAME.get(kind, kind), data, _code(book.codes, style & 0xFFFFFF), book)
            if shown and column <= LAST_COLUMN:
                cells.append((column, shown))
                has_numbers = has_numbers or _SAME.get(kind, kind) not in {_TEXT, _SHARED, _RICH}
    _end_row(sheet, number, cells, has_numbers)


def _end_row(sheet: Sheet, number: int, cells: list[tuple[int, str]], has_numbers: bool) -> None:
    if cells and 0 <= number <= LAST_ROW:
        sheet.rows.append(Row(number, sorted(cells), has_numbers))


def _code(codes: tuple[str, ...], style: int) -> str:
    return codes[style] if style < len(codes) else GENERAL


def _value(kind: int, data: bytes, code: str, book: _Book) -> str:
    if kind == _REAL:
        return shown_number(struct.unpack_from("<d", data, 8)[0], code, from_1904=book.from_1904)
    if kind == _RK:
        return shown_number(_packed(struct.unpack_from("<i", data, 8)[0]), code, from_1904=book.from_1904)
    if kind == _TRUTH:
        return "TRUE" if data[8] else "FALSE"
    if kind == _ERROR:
        return _ERRORS.get(data[8], "#N/A")
    if kind == _SHARED:
        (at,) = struct.unpack_from("<I", data, 8)
        return shown_text(book.texts[at], code) if at < len(book.texts) else ""
    return shown_text(_wide(data, 9 if kind == _RICH else 8)[0], code)


def _packed(value: int) -> float:
    """Return a number that is stored in four bytes: a whole one, or the front of a longer one, perhaps as cents."""
    number = float(value >> 2) if value & 2 else struct.unpack("<d", bytes(4) + struct.pack("<i", value & ~3))[0]
    return number / 100 if value & 1 else number


def _comments(part: bytes) -> Iterator[Comment]:
    authors: list[str] = []
    place, author = (0, 0), ""
    for kind, data in _records(part):
        if kind == _AUTHOR:
            authors.append(_wide(data, 0)[0])
        elif kind == _COMMENT:
            by, row, _, column = struct.unpack_from("<IIII", data)
            place, author = (row, column), authors[by] if by < len(authors) else ""
        elif kind == _COMMENT_TEXT:
            yield Comment(place, without_author(_wide(data, 1)[0], author), author)
