"""Workbooks of Excel (.xlsx, .xlsm): values as they are shown, formulas without a value, comments, text boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from lilbee_core.extract._cells import LAST_COLUMN, LAST_ROW, Comment, Place, Row, Sheet, column_of, place_of
from lilbee_core.extract._number_codes import BUILT_IN, GENERAL
from lilbee_core.extract._numbers import shown_number, shown_text
from lilbee_core.extract._package import Package, attribute, child, children, descendants, local
from lilbee_core.extract._reading import damaged
from lilbee_core.protocols import ExtractContext

_SHEETS = frozenset(("worksheet", "xlMacrosheet", "xlIntlMacrosheet", "dialogsheet"))
_CHECK_EVERY = 1_000
_THREAD_MARK = "[Threaded comment]"
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Book:
    """What all sheets of a workbook share."""

    codes: tuple[str, ...]
    texts: tuple[str, ...]
    from_1904: bool
    persons: Mapping[str, str]


def main_part(package: Package) -> str | None:
    """Return the name of the workbook's own part, None when there is none."""
    for kind, path in package.relations("").values():
        if kind == "officeDocument":
            return path
    return next((name for name in package.names() if name.lower() in {"xl/workbook.xml", "xl/workbook.bin"}), None)


def read_workbook(package: Package, main: str, context: ExtractContext) -> Iterator[Sheet]:
    """Yield the sheets of a workbook in their order.

    Raises:
        ExtractError: If the workbook cannot be read.
    """
    tree = package.xml(main)
    if tree is None:
        raise damaged(package.source, "it holds no workbook")
    relations = package.relations(main)
    parts = dict(relations.values())
    settings = child(tree, "workbookPr")
    book = _Book(
        codes=_codes(package.lesser(parts["styles"])) if "styles" in parts else (),
        texts=tuple(_texts(package, parts["sharedStrings"])) if "sharedStrings" in parts else (),
        from_1904=settings is not None and attribute(settings, "date1904") in {"1", "true"},
        persons=_persons(package, relations),
    )
    for one in children(child(tree, "sheets")):
        kind, path = relations.get(attribute(one, "id"), ("", ""))
        if kind in _SHEETS:
            sheet = Sheet(attribute(one, "name"))
            _read_cells(package, path, book, sheet, context)
            _read_beside(package, path, book, sheet)
            yield sheet


def _codes(styles: Element | None) -> tuple[str, ...]:
    """Return how cells of each style are formatted."""
    own = {
        attribute(one, "numFmtId"): attribute(one, "formatCode")
        for one in children(child(styles, "numFmts") if styles is not None else None)
    }
    formats = child(styles, "cellXfs") if styles is not None else None
    return tuple(code_of(attribute(one, "numFmtId", "0"), own) for one in children(formats))


def code_of(number: str, own: Mapping[str, str]) -> str:
    """Return the code of a format by its number, from those of the file before those that all programs know."""
    return own.get(number) or (BUILT_IN.get(int(number), GENERAL) if number.isdecimal() else GENERAL)


def _texts(package: Package, part: str) -> Iterator[str]:
    for one in package.elements(part, "si"):
        yield _text(one)


def _text(holder: Element) -> str:
    """Return a text of several runs, without what tells how to pronounce it."""
    pieces: list[str] = []
    for one in holder:
        name = local(one)
        if name == "t":
            pieces.append(one.text or "")
        elif name == "r":
            pieces += [inner.text or "" for inner in one if local(inner) == "t"]
    found = "".join(pieces)
    return _ESCAPED.sub(lambda match: chr(int(match[1], 16)), found) if "_x" in found else found


# ---------------------------------------------------------------------- cells


def _read_cells(package: Package, part: str, book: _Book, sheet: Sheet, context: ExtractContext) -> None:
    cells = _Cells(book, sheet)
    for count, one in enumerate(package.elements(part, "row")):
        cells.row(one)
        if count % _CHECK_EVERY == 0:
            context.check()


class _Cells:
    """Reads the rows of one sheet."""

    def __init__(self, book: _Book, sheet: Sheet) -> None:
        self._book = book
        self._sheet = sheet
        self._next = 0

    def row(self, row: Element) -> None:
        told = row.get("r", "")
        number = int(told) - 1 if told.isdecimal() and 0 < len(told) < 8 else self._next
        self._next = number + 1
        if not 0 <= number <= LAST_ROW:
            return
        shown: list[tuple[int, str]] = []
        column = -1
        has_numbers = False
        for cell in row:
            letters = cell.get("r", "").rstrip("0123456789")
            column = column_of(letters) if letters else column + 1
            if column > LAST_COLUMN:
                break
            text, is_number = self._cell(cell, (number, column))
            if text:
                shown.append((column, text))
                has_numbers = has_numbers or is_number
        if shown:
            self._sheet.rows.append(Row(number, shown, has_numbers))

    def _cell(self, cell: Element, place: Place) -> tuple[str, bool]:
        value: str | None = None
        formula: str | None = None
        for one in cell:
            tag = one.tag
            if tag.endswith("}v"):
                value = one.text
            elif tag.endswith("}f"):
                formula = one.text or ""
            elif tag.endswith("}is"):
                return self._as_text(_text(one), cell), False
        kind = cell.get("t", "n")
        if value is None:
            # A text without letters is a value, too.
            if formula is None or kind == "str":
                return "", False
            self._sheet.unknown.append(place)
            return f"={formula}" if formula else "", False
        return self._value(value, kind, cell)

    def _value(self, value: str, kind: str, cell: Element) -> tuple[str, bool]:
        if kind == "s":
            texts = self._book.texts
            at = int(value) if value.strip().isdecimal() else len(texts)
            return (self._as_text(texts[at], cell), False) if at < len(texts) else ("", False)
        if kind == "n":
            try:
                number = float(value)
            except ValueError:
                return value, False
            return shown_number(number, self._code(cell), from_1904=self._book.from_1904), True
        if kind == "b":
            return ("TRUE" if value.strip() in {"1", "true"} else "FALSE"), True
        if kind in {"d", "e"}:
            return value.removesuffix("T00:00:00").replace("T", " ") if kind == "d" else value, True
        return self._as_text(value, cell), False

    def _code(self, cell: Element) -> str:
        style = cell.get("s", "0")
        codes = self._book.codes
        return codes[int(style)] if style.isdecimal() and int(style) < len(codes) else GENERAL

    def _as_text(self, text: str, cell: Element) -> str:
        return shown_text(text, self._code(cell)) if cell.get("s") else text


# ---------------------------------------------------------------------- beside the cells


def _read_beside(package: Package, part: str, book: _Book, sheet: Sheet) -> None:
    related = tuple(package.relations(part).values())
    threads = [path for kind, path in related if kind == "threadedComment"]
    sheet.comments += [one for path in threads for one in _threaded(package.lesser(path), book.persons)]
    sheet.comments += [
        one for kind, path in related if kind == "comments" for one in _comments(package.lesser(path), bool(threads))
    ]
    for kind, path in related:
        if kind == "drawing":
            sheet.boxes += _boxes(package.lesser(path))


def _comments(tree: Element | None, has_threads: bool) -> Iterator[Comment]:
    authors = [one.text or "" for one in children(child(tree, "authors") if tree is not None else None)]
    for one in children(child(tree, "commentList") if tree is not None else None):
        holder, place, told = child(one, "text"), place_of(attribute(one, "ref")), attribute(one, "authorId")
        text = _text(holder) if holder is not None else ""
        if place is None or (has_threads and text.startswith(_THREAD_MARK)):
            continue
        author = authors[int(told)] if told.isdecimal() and int(told) < len(authors) else ""
        yield Comment(place, without_author(text, author), author)


def without_author(text: str, author: str) -> str:
    """Return a comment without its first line when that only says who wrote it."""
    return text.removeprefix(f"{author}:").strip() if author else text.strip()


def _threaded(tree: Element | None, persons: Mapping[str, str]) -> Iterator[Comment]:
    for one in children(tree):
        text, place = child(one, "text"), place_of(attribute(one, "ref"))
        if text is not None and place is not None:
            yield Comment(place, (text.text or "").strip(), persons.get(attribute(one, "personId"), ""))


def _persons(package: Package, relations: Mapping[str, tuple[str, str]]) -> Mapping[str, str]:
    return {
        attribute(one, "id"): attribute(one, "displayName")
        for kind, path in relations.values()
        if kind == "person"
        for one in children(package.lesser(path))
    }


def _boxes(tree: Element | None) -> Iterator[str]:
    for body in descendants(tree, "txBody") if tree is not None else ():
        lines = ("".join(one.text or "" for one in descendants(line, "t")) for line in descendants(body, "p"))
        text = "\n".join(line for line in lines if line.strip())
        if text:
            yield text
