"""Spreadsheets: each sheet with its name, its rows as lines of what cells show, each row with its range of cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lilbee_core.extract._cells import Row, Sheet, cell_name, column_name, ranges
from lilbee_core.extract._odf import refuse_encrypted
from lilbee_core.extract._ods import read_open_sheets
from lilbee_core.extract._office import written
from lilbee_core.extract._ole_facts import ole_facts
from lilbee_core.extract._package import Facts, Package
from lilbee_core.extract._reading import check_length, damaged, no_text, read_bytes
from lilbee_core.extract._tables import HEAD_CHARS, is_head
from lilbee_core.extract._unlock import OLE, unlocked
from lilbee_core.extract._writer import TextWriter, table_row
from lilbee_core.extract._xls import read_old_workbook
from lilbee_core.extract._xlsb import read_binary_workbook
from lilbee_core.extract._xlsx import main_part, read_workbook
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Heading, Source

_HEAD_ROWS = 5
_MOST_PLACES = 50_000
"""Rows of a sheet beyond which several share a place: each costs memory."""
_LOOSE_COLUMNS, _LOOSE_SHARE = 64, 0.02
"""A sheet with more columns in use than this, and fewer of its cells, shows no empty ones: they would be all of it."""


class SheetExtractor:
    """Reads workbooks of Excel (xlsx, xlsm, xlsb, xls) and OpenDocument (ods), in a worker process.

    Cells are read as the sheet shows them (``12.5%``, ``1,234.00 €``, ``00712``), comments and text boxes stand below
    the cells, and a formula that has no value in the file is shown as it is written, with a warning.
    """

    name = "sheets"
    version = "1"
    in_process = False

    def __init__(self, limits: MemberLimits | None = None) -> None:
        self._limits = limits

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the text of all sheets.

        Raises:
            ExtractError: If the file is damaged, protected, too big or holds no text.
        """
        data = unlocked(source, read_bytes(source), context.password)
        context.check()
        writer = _Writer(source, context)
        if data.startswith(OLE) or not data.startswith(b"PK"):
            writer.write(read_old_workbook(source, data, context))
            facts, warnings = ole_facts(data), writer.warnings
        else:
            with Package(source, data, self._limits) as package:
                writer.write(_package_sheets(package, context))
                open_document = "content.xml" in package.names()
                facts = Facts(package.lesser("meta.xml")) if open_document else Facts.of(package)
            warnings = [*writer.warnings, *package.warnings]
        if not any(char.isalnum() for char in writer.out.text):
            raise no_text(source)
        return written(source, context, writer.out, facts, warnings=warnings)


def _package_sheets(package: Package, context: ExtractContext) -> Iterator[Sheet]:
    if "content.xml" in package.names():
        refuse_encrypted(package)
        return read_open_sheets(package, context)
    main = main_part(package)
    if main is None:
        raise damaged(package.source, "it holds no workbook")
    return (read_binary_workbook if main.endswith(".bin") else read_workbook)(package, main, context)


class _Writer:
    """Writes sheets, one after the other, and collects what there is to warn of."""

    def __init__(self, source: Source, context: ExtractContext) -> None:
        self.out = TextWriter()
        self.warnings: list[str] = []
        self._source = source
        self._context = context

    def write(self, sheets: Iterator[Sheet]) -> None:
        for sheet in sheets:
            sheet.name = " ".join(sheet.name.split())
            part = _written(sheet)
            check_length(self._source, part.text, self._context)
            self.out.part(part, label=sheet.name)
            self.warnings += [f"{sheet.name}: {one}" for one in sheet.warnings]
            if count := len(sheet.unknown):
                what = "a formula has" if count == 1 else f"{count} formulas have"
                where = f"{sheet.name}!{ranges(sheet.unknown)}"
                self.warnings.append(f"{what} no value in the file and can only be shown as written: {where}")


def _written(sheet: Sheet) -> TextWriter:
    out = TextWriter()
    if not (sheet.rows or sheet.comments or sheet.boxes):
        return out
    out.block(sheet.name, heading=1)
    if sheet.rows:
        _write_rows(sheet, out)
    for box in sheet.boxes:
        out.block("\n".join(" ".join(line.split()) for line in box.splitlines()))
    lines = [
        f"Comment on {cell_name(one.place)}{f' by {one.author}' if one.author else ''}: {' '.join(one.text.split())}"
        for one in sheet.comments
    ]
    if lines:
        out.rows(lines, [_label(sheet.name, one.place[0], (one.place[1],), 1) for one in sheet.comments])
    return out


def _write_rows(sheet: Sheet, out: TextWriter) -> None:
    lines: list[str] = []
    labels: list[str] = []
    head: int | None = None
    columns = _shown_columns(sheet.rows)
    step = 1 + len(sheet.rows) // _MOST_PLACES
    for row in sheet.rows:
        cells = _aligned(row, columns)
        if head is None and len(lines) < _HEAD_ROWS and not row.has_numbers and is_head(cells):
            head = len(lines)
        lines.append(table_row(cells).rstrip(" |"))
        labels.append(_label(sheet.name, row.number, [column for column, _ in row.cells], step))
    start = out.rows(lines, labels)
    if head is not None:
        start += sum(len(line) + 1 for line in lines[:head])
        out.headings.append(Heading(start=start, level=2, title=lines[head].strip(" |")[:HEAD_CHARS]))


def _shown_columns(rows: Sequence[Row]) -> dict[int, int]:
    """Return where the columns that are in use stand in a line, nothing when cells should follow each other."""
    used = sorted({column for row in rows for column, _ in row.cells})
    cells = sum(len(row.cells) for row in rows)
    if len(used) > _LOOSE_COLUMNS and cells < _LOOSE_SHARE * len(used) * len(rows):
        return {}
    return {column: at for at, column in enumerate(used)}


def _aligned(row: Row, columns: dict[int, int]) -> list[str]:
    """Return the cells of a row, with empty ones where other rows have some."""
    if not columns:
        return [text for _, text in row.cells]
    cells = [""] * (columns[row.cells[-1][0]] + 1)
    for column, text in row.cells:
        cells[columns[column]] = text
    return cells


def _label(name: str, row: int, columns: Sequence[int], step: int) -> str:
    top = row - row % step + 1
    return f"{name}!{column_name(columns[0])}{top}:{column_name(columns[-1])}{top + step - 1}"
