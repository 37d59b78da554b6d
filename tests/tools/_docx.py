"""A Word document with headings, paragraphs and tables."""

from __future__ import annotations

from collections.abc import Sequence
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
from tests.tools._blocks import Block

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml"
COLUMN = 2250
BORDER = '<w:{0} w:val="single" w:sz="4" w:space="0" w:color="888888"/>'


def paragraph(text: str, style: str = "", *, bold: bool = False) -> str:
    properties = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    weight = "<w:rPr><w:b/></w:rPr>" if bold else ""
    return f'<w:p>{properties}<w:r>{weight}<w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def table(rows: Sequence[Sequence[str]]) -> str:
    borders = "".join(BORDER.format(side) for side in ("top", "left", "bottom", "right", "insideH", "insideV"))
    grid = f'<w:gridCol w:w="{COLUMN}"/>' * len(rows[0])
    body = "".join(_row(row, header=index == 0) for index, row in enumerate(rows))
    properties = f'<w:tblPr><w:tblW w:w="0" w:type="auto"/><w:tblBorders>{borders}</w:tblBorders></w:tblPr>'
    return f"<w:tbl>{properties}<w:tblGrid>{grid}</w:tblGrid>{body}</w:tbl>{paragraph('')}"


def _row(cells: Sequence[str], *, header: bool) -> str:
    width = f'<w:tcPr><w:tcW w:w="{COLUMN}" w:type="dxa"/></w:tcPr>'
    return f"<w:tr>{''.join(f'<w:tc>{width}{paragraph(cell, bold=header)}</w:tc>' for cell in cells)}</w:tr>"


def body(block: Block) -> str:
    if block.rows:
        return table(block.rows)
    return paragraph(block.text, f"Heading{block.level}" if block.level else "")


def styles() -> str:
    parts = ['<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>']
    for level, size in ((1, 36), (2, 26)):
        parts.append(
            f'<w:style w:type="paragraph" w:styleId="Heading{level}"><w:name w:val="heading {level}"/>'
            f'<w:basedOn w:val="Normal"/><w:next w:val="Normal"/><w:pPr><w:keepNext/>'
            f'<w:spacing w:before="240" w:after="120"/><w:outlineLvl w:val="{level - 1}"/></w:pPr>'
            f'<w:rPr><w:b/><w:sz w:val="{size}"/></w:rPr></w:style>'
        )
    return f'{XML}<w:styles xmlns:w="{W}">{"".join(parts)}</w:styles>'


def make_docx(blocks: Sequence[Block], *, title: str, author: str, created: str) -> bytes:
    section = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>'
    document = f'{XML}<w:document xmlns:w="{W}"><w:body>{"".join(map(body, blocks))}{section}</w:body></w:document>'
    return archive(
        {
            "[Content_Types].xml": content_types(
                {"rels": RELS_TYPE, "xml": "application/xml"},
                {
                    "/word/document.xml": f"{WORD}.document.main+xml",
                    "/word/styles.xml": f"{WORD}.styles+xml",
                    "/docProps/core.xml": CORE_TYPE,
                },
            ),
            "_rels/.rels": relationships(
                {"rId1": ("officeDocument", "word/document.xml"), "rId2": (CORE_RELATION, "docProps/core.xml")}
            ),
            "docProps/core.xml": core_properties(title=title, creator=author, created=created),
            "word/document.xml": document,
            "word/_rels/document.xml.rels": relationships({"rId1": ("styles", "styles.xml")}),
            "word/styles.xml": styles(),
        }
    )
