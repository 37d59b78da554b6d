"""A PowerPoint presentation: a title, bullets and a table on each slide."""

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

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
TABLE = "http://schemas.openxmlformats.org/drawingml/2006/table"
SPACES = (
    f'xmlns:a="{A}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
    ' xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
)
SLIDE = "application/vnd.openxmlformats-officedocument.presentationml"
# English Metric Units: 12,700 to a point. The slide is ten by seven and a half inches.
WIDTH, HEIGHT, INCH, ROW = 9144000, 6858000, 914400, 320000
GROUP = (
    '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr>'
    '<p:grpSpPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="0" cy="0"/><a:chOff x="0" y="0"/><a:chExt cx="0" cy="0"/>'
    "</a:xfrm></p:grpSpPr>"
)
COLORS = (
    '<p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3"'
    ' accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/>'
)


def frame(top: int, height: int) -> str:
    return f'<a:off x="{INCH // 2}" y="{top}"/><a:ext cx="{WIDTH - INCH}" cy="{height}"/>'


def shape(number: int, name: str, place: str, paragraphs: Sequence[str], top: int, height: int) -> str:
    text = "".join(f'<a:p><a:r><a:rPr lang="en-GB"/><a:t>{escape(one)}</a:t></a:r></a:p>' for one in paragraphs)
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="{number}" name="{name}"/><p:cNvSpPr/><p:nvPr>{place}</p:nvPr></p:nvSpPr>'
        f'<p:spPr><a:xfrm>{frame(top, height)}</a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr>'
        f"<p:txBody><a:bodyPr/><a:lstStyle/>{text}</p:txBody></p:sp>"
    )


def table(number: int, rows: Sequence[Sequence[str]], top: int) -> str:
    grid = f'<a:gridCol w="{(WIDTH - INCH) // len(rows[0])}"/>' * len(rows[0])
    cell = "<a:tc><a:txBody><a:bodyPr/><a:lstStyle/><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody><a:tcPr/></a:tc>"
    lines = "".join(f'<a:tr h="{ROW}">{"".join(cell.format(escape(text)) for text in row)}</a:tr>' for row in rows)
    body = f'<a:tbl><a:tblPr firstRow="1"/><a:tblGrid>{grid}</a:tblGrid>{lines}</a:tbl>'
    return (
        f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="{number}" name="Table"/><p:cNvGraphicFramePr/><p:nvPr/>'
        f"</p:nvGraphicFramePr><p:xfrm>{frame(top, ROW * len(rows))}</p:xfrm>"
        f'<a:graphic><a:graphicData uri="{TABLE}">{body}</a:graphicData></a:graphic></p:graphicFrame>'
    )


def slide(blocks: Sequence[Block]) -> str:
    """Lay the blocks out one below the other; a first paragraph or list is the body of the slide."""
    shapes: list[str] = []
    top = INCH // 2
    plain = [block.text for block in blocks if block.text and not block.level]
    for number, block in enumerate(blocks, start=2):
        if block.level:
            shapes.append(shape(number, "Title", '<p:ph type="title"/>', [block.text], top, INCH))
            top += INCH + INCH // 4
        elif block.rows:
            shapes.append(table(number, block.rows, top))
            top += ROW * len(block.rows) + INCH // 4
        elif block.items:
            shapes.append(shape(number, "Points", '<p:ph idx="1"/>', block.items, top, 3 * INCH))
    if plain:
        shapes.append(shape(len(blocks) + 2, "Subtitle", '<p:ph idx="1"/>', plain, top, 2 * INCH))
    return f"{XML}<p:sld {SPACES}><p:cSld><p:spTree>{GROUP}{''.join(shapes)}</p:spTree></p:cSld></p:sld>"


def master() -> str:
    title = shape(2, "Title", '<p:ph type="title"/>', ["Title"], INCH // 2, INCH)
    text = shape(3, "Text", '<p:ph type="body" idx="1"/>', ["Text"], 2 * INCH, 4 * INCH)
    return (
        f"{XML}<p:sldMaster {SPACES}><p:cSld><p:spTree>{GROUP}{title}{text}</p:spTree></p:cSld>{COLORS}"
        '<p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>'
    )


def layout() -> str:
    title = shape(2, "Title", '<p:ph type="title"/>', ["Title"], INCH // 2, INCH)
    text = shape(3, "Text", '<p:ph idx="1"/>', ["Text"], 2 * INCH, 4 * INCH)
    return (
        f'{XML}<p:sldLayout {SPACES} type="obj"><p:cSld name="Title and text"><p:spTree>{GROUP}{title}{text}'
        "</p:spTree></p:cSld><p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sldLayout>"
    )


def theme() -> str:
    names = ("dk1", "lt1", "dk2", "lt2", *(f"accent{n}" for n in range(1, 7)), "hlink", "folHlink")
    values = ("2B1D0E", "FFFFFF", "5B3A12", "FFF4D6", "E0A100", "A85C00", "6B7F3A", "B5402A", "3F6C8F", "8A6FA8")
    colors = "".join(
        f'<a:{name}><a:srgbClr val="{value}"/></a:{name}>'
        for name, value in zip(names, (*values, "3F6C8F", "8A6FA8"), strict=True)
    )
    font = '<a:latin typeface="Georgia"/><a:ea typeface=""/><a:cs typeface=""/>'
    fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>'
    effect = "<a:effectStyle><a:effectLst/></a:effectStyle>"
    return (
        f'{XML}<a:theme xmlns:a="{A}" name="Honey"><a:themeElements><a:clrScheme name="Honey">{colors}</a:clrScheme>'
        f'<a:fontScheme name="Honey"><a:majorFont>{font}</a:majorFont><a:minorFont>{font}</a:minorFont></a:fontScheme>'
        f'<a:fmtScheme name="Honey"><a:fillStyleLst>{fill * 3}</a:fillStyleLst><a:lnStyleLst>'
        f"{f'<a:ln>{fill}</a:ln>' * 3}</a:lnStyleLst><a:effectStyleLst>{effect * 3}</a:effectStyleLst>"
        f"<a:bgFillStyleLst>{fill * 3}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>"
    )


def presentation(count: int) -> str:
    ids = "".join(f'<p:sldId id="{256 + number}" r:id="rId{number + 2}"/>' for number in range(count))
    return (
        f'{XML}<p:presentation {SPACES}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/>'
        f'</p:sldMasterIdLst><p:sldIdLst>{ids}</p:sldIdLst><p:sldSz cx="{WIDTH}" cy="{HEIGHT}"/>'
        f'<p:notesSz cx="{HEIGHT}" cy="{WIDTH}"/></p:presentation>'
    )


def make_pptx(slides: Sequence[Sequence[Block]], *, title: str, author: str, created: str) -> bytes:
    parts = {f"slides/slide{number}.xml": slide(blocks) for number, blocks in enumerate(slides, 1)}
    links = {f"rId{number}": ("slide", part) for number, part in enumerate(parts, 2)}
    to_layout = relationships({"rId1": ("slideLayout", "../slideLayouts/slideLayout1.xml")})
    return archive(
        {
            "[Content_Types].xml": content_types(
                {"rels": RELS_TYPE, "xml": "application/xml"},
                {
                    "/ppt/presentation.xml": f"{SLIDE}.presentation.main+xml",
                    "/ppt/slideMasters/slideMaster1.xml": f"{SLIDE}.slideMaster+xml",
                    "/ppt/slideLayouts/slideLayout1.xml": f"{SLIDE}.slideLayout+xml",
                    "/ppt/theme/theme1.xml": "application/vnd.openxmlformats-officedocument.theme+xml",
                    "/docProps/core.xml": CORE_TYPE,
                    **{f"/ppt/{part}": f"{SLIDE}.slide+xml" for part in parts},
                },
            ),
            "_rels/.rels": relationships(
                {"rId1": ("officeDocument", "ppt/presentation.xml"), "rId2": (CORE_RELATION, "docProps/core.xml")}
            ),
            "docProps/core.xml": core_properties(title=title, creator=author, created=created),
            "ppt/presentation.xml": presentation(len(parts)),
            "ppt/_rels/presentation.xml.rels": relationships(
                {"rId1": ("slideMaster", "slideMasters/slideMaster1.xml"), **links}
            ),
            "ppt/slideMasters/slideMaster1.xml": master(),
            "ppt/slideMasters/_rels/slideMaster1.xml.rels": relationships(
                {
                    "rId1": ("slideLayout", "../slideLayouts/slideLayout1.xml"),
                    "rId2": ("theme", "../theme/theme1.xml"),
                }
            ),
            "ppt/slideLayouts/slideLayout1.xml": layout(),
            "ppt/slideLayouts/_rels/slideLayout1.xml.rels": relationships(
                {"rId1": ("slideMaster", "../slideMasters/slideMaster1.xml")}
            ),
            "ppt/theme/theme1.xml": theme(),
            **{f"ppt/{part}": text for part, text in parts.items()},
            **{f"ppt/slides/_rels/slide{number}.xml.rels": to_layout for number in range(1, len(parts) + 1)},
        }
    )
