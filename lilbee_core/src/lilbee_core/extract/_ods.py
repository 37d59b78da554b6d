"""Spreadsheets of OpenDocument (.ods), whose cells hold what they show beside what they are."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from lilbee_core.extract._cells import LAST_COLUMN, LAST_ROW, Comment, Place, Row, Sheet
from lilbee_core.extract._numbers import general
from lilbee_core.extract._odf import odf_text
from lilbee_core.extract._package import Package, attribute, child, descendants, local
from lilbee_core.protocols import ExtractContext

_CELLS = frozenset(("table-cell", "covered-table-cell"))
_NUMBERS = frozenset(("float", "percentage", "currency", "date", "time", "boolean"))
_MOST_REPEATS = 1_000
"""A row or cell that stands in more places than this is read once, and told of."""


def read_open_sheets(package: Package, context: ExtractContext) -> Iterator[Sheet]:
    """Yield the sheets of a spreadsheet in their order.

    Raises:
        ExtractError: If the spreadsheet cannot be read.
    """
    rows = _Rows()
    for one in package.elements("content.xml", "table", "table-row", "shapes"):
        match local(one):
            case "table-row":
                context.check()
                rows.add(one)
            case "shapes":
                rows.sheet.boxes += _boxes(one)
            case _:
                rows.sheet.name = attribute(one, "name")
                yield rows.sheet
                rows = _Rows()


class _Rows:
    """Reads the rows of one sheet."""

    def __init__(self) -> None:
        self.sheet = Sheet("")
        self._next = 0

    def add(self, row: Element) -> None:
        """Read a row, which may stand for several."""
        first, repeats = self._next, _count(row, "number-rows-repeated")
        self._next += repeats
        cells, has_numbers = self._cells(row, first)
        if not cells or first > LAST_ROW:
            return
        if repeats > _MOST_REPEATS:
            self.sheet.warnings.append(f"row {first + 1} stands {repeats} times below itself and was read once")
            repeats = 1
        self.sheet.rows += [Row(first + more, cells, has_numbers) for more in range(repeats)]

    def _cells(self, row: Element, number: int) -> tuple[list[tuple[int, str]], bool]:
        found: list[tuple[int, str]] = []
        has_numbers = False
        column = 0
        for cell in row:
            if local(cell) not in _CELLS:
                continue
            repeats = _count(cell, "number-columns-repeated")
            self._beside(cell, (number, column))
            text = self._shown(cell, (number, column))
            if text and column <= LAST_COLUMN:
                shown = repeats if repeats <= _MOST_REPEATS else 1
                found += [(column + more, text) for more in range(shown)]
                has_numbers = has_numbers or attribute(cell, "value-type") in _NUMBERS
            column += repeats
        return found, has_numbers

    def _shown(self, cell: Element, place: Place) -> str:
        text = " ".join(one for part in cell if local(part) in {"p", "h"} if (one := odf_text(part).strip()))
        if text:
            return text
        formula = attribute(cell, "formula")
        value = _value(cell)
        if formula and not value and attribute(cell, "value-type") != "string":
            self.sheet.unknown.append(place)
            return _formula(formula)
        return value

    def _beside(self, cell: Element, place: Place) -> None:
        for one in cell:
            if local(one) == "annotation":
                author = child(one, "creator")
                text = " ".join(odf_text(line).strip() for line in descendants(one, "p")).strip()
                self.sheet.comments.append(Comment(place, text, (author.text or "") if author is not None else ""))
            elif local(one) not in {"p", "h"}:
                self.sheet.boxes += _boxes(one)


def _boxes(holder: Element) -> Iterator[str]:
    lines = (odf_text(one).strip() for one in descendants(holder, "p"))
    if text := "\n".join(line for line in lines if line):
        yield text


def _count(element: Element, name: str) -> int:
    told = attribute(element, name, "1")
    return min(int(told), LAST_ROW + 1) if told.isdecimal() and len(told) < 9 else 1


def _value(cell: Element) -> str:
    """Return what a cell is when it does not say what it shows."""
    kind = attribute(cell, "value-type")
    told = attribute(cell, "value")
    if kind in {"float", "percentage", "currency"}:
        try:
            number = float(told)
        except ValueError:
            return told
        if kind == "percentage":
            return f"{general(number * 100)}%"
        return f"{general(number)} {attribute(cell, 'currency')}".strip()
    if kind == "boolean":
        return attribute(cell, "boolean-value").upper()
    return attribute(cell, f"{kind}-value").removesuffix("T00:00:00").replace("T", " ") if kind else ""


def _formula(formula: str) -> str:
    """Return a formula as it is typed: ``of:=SUM([.A1:.A3])`` is ``=SUM(A1:A3)``."""
    body = formula.split("=", 1)[-1]
    return f"={body.replace('[.', '').replace(':.', ':').replace(']', '')}"
