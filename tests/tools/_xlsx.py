"""An Excel workbook: text, numbers and dates as what they are, and sums as formulas with their value."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from xml.sax.saxutils import escape

from tests.tools._archive import (
    CORE_RELATION,
    CORE_TYPE,
    RELS_TYPE,
    XML,
    archive,
    content_types,
    core_properties,
    relationships,
)

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
SHEET = "application/vnd.openxmlformats-officedocument.spreadsheetml"
EPOCH = date(1899, 12, 30)
PLAIN, BOLD, DATE, MONEY = range(4)


def cell(value: str, place: str, *, header: bool) -> str:
    if header:
        return _text(value, place, BOLD)
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        return f'<c r="{place}" s="{DATE}"><v>{(date.fromisoformat(value) - EPOCH).days}</v></c>'
    if re.fullmatch(r"\d+\.\d+", value):
        return f'<c r="{place}" s="{MONEY}"><v>{value}</v></c>'
    if value.startswith("="):
        formula, _, result = value[1:].partition(" is ")
        return f'<c r="{place}" s="{MONEY}"><f>{formula}</f><v>{result}</v></c>'
    return _text(value, place, PLAIN) if value else ""


def _text(value: str, place: str, style: int) -> str:
    return f'<c r="{place}" s="{style}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'


def sheet(rows: Sequence[Sequence[str]]) -> str:
    body = "".join(_row(row, y) for y, row in enumerate(rows, 1))
    widths = "".join(
        f'<col min="{x}" max="{x}" width="{max(map(len, column)) + 2}" customWidth="1"/>'
        for x, column in enumerate(zip(*rows, strict=True), 1)
    )
    return f'{XML}<worksheet xmlns="{MAIN}"><cols>{widths}</cols><sheetData>{body}</sheetData></worksheet>'


def _row(row: Sequence[str], y: int) -> str:
    cells = (cell(value, f"{chr(64 + x)}{y}", header=y == 1) for x, value in enumerate(row, 1))
    return f'<row r="{y}">{"".join(cells)}</row>'


def styles() -> str:
    font = '<font>{}<sz val="11"/><name val="Calibri"/></font>'
    cells = ((0, 0), (0, 1), (14, 0), (4, 0))
    formats = "".join(
        f'<xf numFmtId="{number}" fontId="{which}" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"'
        ' applyFont="1"/>'
        for number, which in cells
    )
    return (
        f'{XML}<styleSheet xmlns="{MAIN}"><fonts count="2">{font.format("")}{font.format("<b/>")}</fonts>'
        '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/>'
        '</fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
        '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs>'
        f'<cellXfs count="{len(cells)}">{formats}</cellXfs></styleSheet>'
    )


def make_xlsx(sheets: Mapping[str, Sequence[Sequence[str]]], *, title: str, author: str, created: str) -> bytes:
    names = "".join(
        f'<sheet name="{escape(name)}" sheetId="{number}" r:id="rId{number}"/>' for number, name in enumerate(sheets, 1)
    )
    workbook = f'{XML}<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{names}</sheets></workbook>'
    parts = {f"worksheets/sheet{number}.xml": sheet(rows) for number, rows in enumerate(sheets.values(), 1)}
    links = {f"rId{number}": ("worksheet", part) for number, part in enumerate(parts, 1)}
    return archive(
        {
            "[Content_Types].xml": content_types(
                {"rels": RELS_TYPE, "xml": "application/xml"},
                {
                    "/xl/workbook.xml": f"{SHEET}.sheet.main+xml",
                    "/xl/styles.xml": f"{SHEET}.styles+xml",
                    "/docProps/core.xml": CORE_TYPE,
                    **{f"/xl/{part}": f"{SHEET}.worksheet+xml" for part in parts},
                },
            ),
            "_rels/.rels": relationships(
                {"rId1": ("officeDocument", "xl/workbook.xml"), "rId2": (CORE_RELATION, "docProps/core.xml")}
            ),
            "docProps/core.xml": core_properties(title=title, creator=author, created=created),
            "xl/workbook.xml": workbook,
            "xl/_rels/workbook.xml.rels": relationships({**links, "rId99": ("styles", "styles.xml")}),
            "xl/styles.xml": styles(),
            **{f"xl/{part}": text for part, text in parts.items()},
        }
    )
