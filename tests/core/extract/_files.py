"""Small files of every format, written by hand so that each test shows what it is about."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from xml.sax.saxutils import escape, quoteattr

from lilbee_core.extract._compound import Storage, compound_file

_W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_REL = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_MORE = 'xmlns:mc="urn:mc" xmlns:wps="urn:wps" xmlns:m="urn:m"'


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    """Return a zip archive of the parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            # The first part of some formats tells what they are, in plain sight.
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return buffer.getvalue()


def relations(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return a relations part: id to kind and target."""
    inner = "".join(
        f'<Relationship Id="{one}" Type="{_REL}/{kind}" Target="{target}"/>' for one, (kind, target) in targets.items()
    )
    return f'<Relationships xmlns="urn:rels">{inner}</Relationships>'


def docx(body: str, **parts: str) -> bytes:
    """Return a Word document; `parts` are further parts by their kind (``styles``, ``footnotes``, ``header``)."""
    named = {kind: f"{kind}.xml" for kind in parts}
    return zipped(
        {
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
            "_rels/.rels": relations({"a": ("officeDocument", "word/document.xml")}),
            "word/document.xml": f"<w:document {_W} {_R} {_MORE}><w:body>{body}</w:body></w:document>",
            "word/_rels/document.xml.rels": relations({kind: (kind, name) for kind, name in named.items()}),
            **{f"word/{named[kind]}": f"<w:{kind} {_W}>{inner}</w:{kind}>" for kind, inner in parts.items()},
            "docProps/core.xml": (
                '<cp:coreProperties xmlns:cp="urn:cp" xmlns:dc="urn:dc" xmlns:dcterms="urn:dt">'
                "<dc:creator>Ada</dc:creator>"
                "<dcterms:created>2024-05-01T10:00:00Z</dcterms:created></cp:coreProperties>"
            ),
        }
    )


def paragraph(text: str, properties: str = "") -> str:
    """Return a paragraph of one run."""
    return f'<w:p><w:pPr>{properties}</w:pPr><w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r></w:p>'


def pptx(slides: Sequence[str], **parts: str) -> bytes:
    """Return a presentation; `parts` belong to the first slide, by their kind."""
    space = f'xmlns:a="urn:a" xmlns:p="urn:p" {_R}'
    ids = "".join(f'<p:sldId id="{n}" r:id="r{n}"/>' for n in range(len(slides)))
    return zipped(
        {
            "_rels/.rels": relations({"a": ("officeDocument", "ppt/presentation.xml")}),
            "ppt/presentation.xml": f"<p:presentation {space}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>",
            "ppt/_rels/presentation.xml.rels": relations(
                {f"r{n}": ("slide", f"slides/slide{n}.xml") for n in range(len(slides))}
            ),
            **{
                f"ppt/slides/slide{n}.xml": f"<p:sld {space}><p:cSld><p:spTree>{slide}</p:spTree></p:cSld></p:sld>"
                for n, slide in enumerate(slides)
            },
            "ppt/slides/_rels/slide0.xml.rels": relations({kind: (kind, f"../{kind}.xml") for kind in parts}),
            **{f"ppt/{kind}.xml": f"<p:{kind} {space}>{inner}</p:{kind}>" for kind, inner in parts.items()},
        }
    )


def shape(*runs: str, kind: str = "") -> str:
    """Return a shape with one paragraph of the runs; `kind` is what it stands for on its slide."""
    place = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>' if kind else ""
    inner = "".join(f"<a:r><a:t>{escape(run)}</a:t></a:r>" for run in runs)
    return f"<p:sp>{place}<p:txBody><a:p>{inner}</a:p></p:txBody></p:sp>"


def odf(body: str, *, kind: str = "text", styles: str = "", **parts: str) -> bytes:
    """Return an OpenDocument file."""
    space = 'xmlns:office="urn:o" xmlns:text="urn:t" xmlns:table="urn:ta" xmlns:draw="urn:d" xmlns:presentation="urn:p"'
    return zipped(
        {
            "mimetype": f"application/vnd.oasis.opendocument.{kind}",
            "content.xml": (
                f"<office:document-content {space}><office:body><office:{kind}>{body}</office:{kind}></office:body>"
                "</office:document-content>"
            ),
            "styles.xml": f"<office:document-styles {space}>{styles}</office:document-styles>",
            "meta.xml": (
                '<m xmlns:dc="urn:dc" xmlns:meta="urn:m"><dc:title>Log</dc:title>'
                "<meta:creation-date>2024-05-01T10:00:00</meta:creation-date></m>"
            ),
            **parts,
        }
    )


def epub(chapters: Mapping[str, str], **parts: str) -> bytes:
    """Return an e-book of the chapters, each an XHTML body."""
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(chapters)))
    nav = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<c><rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></c>',
            "OPS/book.opf": (
                '<package xmlns:dc="urn:dc"><metadata><dc:title>Bees</dc:title><dc:creator>Ada</dc:creator>'
                f"<dc:language>en</dc:language><dc:date>1913</dc:date></metadata><manifest>{items}{nav}</manifest>"
                f"<spine>{spine}</spine></package>"
            ),
            **{f"OPS/{name}": f"<html><body>{body}</body></html>" for name, body in chapters.items()},
            **{f"OPS/{name.replace('_', '.')}": content for name, content in parts.items()},
        }
    )


def pdf(*pages: Sequence[tuple[int, str]]) -> bytes:
    """Return a PDF; each page is a list of lines with their font sizes."""
    placed: list[list[tuple[float, float, int, str]]] = []
    for lines in pages:
        at = 780
        page: list[tuple[float, float, int, str]] = []
        for size, line in lines:
            page.append((60, at, size, line))
            at -= size + 4
        placed.append(page)
    return placed_pdf(*placed)


def placed_pdf(
    *pages: Sequence[tuple[float, float, int, str]], rotate: int = 0, picture: tuple[int, int, bytes] | None = None
) -> bytes:
    """Return a PDF; each page is a list of texts, in the order of drawing, with left, baseline and font size.

    A `picture` (width, height, gray values) fills each page behind its text.
    """
    objects: list[bytes] = [b"<</Type/Catalog/Pages 2 0 R>>", b"", b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"]
    kids: list[str] = []
    images, behind = "", ""
    if picture is not None:
        width, height, gray = picture
        objects.append(
            f"<</Type/XObject/Subtype/Image/Width {width}/Height {height}/ColorSpace/DeviceGray/BitsPerComponent 8"
            f"/Length {len(gray)}>>\nstream\n".encode()
            + gray
            + b"\nendstream"
        )
        images, behind = f"/XObject<</P {len(objects)} 0 R>>", "q 595 0 0 842 0 0 cm /P Do Q\n"
    for lines in pages:
        stream = behind
        for left, baseline, size, line in lines:
            shown = line.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
            stream += f"BT /F1 {size} Tf 1 0 0 1 {left} {baseline} Tm ({shown}) Tj ET\n"
        objects.append(f"<</Length {len(stream)}>>\nstream\n{stream}endstream".encode("cp1252"))
        objects.append(
            f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Rotate {rotate}/Contents {len(objects)} 0 R"
            f"/Resources<</Font<</F1 3 0 R>>{images}>>>>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<</Type/Pages/Count {len(kids)}/Kids[{' '.join(kids)}]>>".encode()
    data = bytearray(b"%PDF-1.4\n")
    places: list[int] = []
    for number, content in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return bytes(data) + f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n".encode()


def _cell(value: str | tuple[float, str], place: str, formats: Sequence[str]) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{escape(value)}</t></is></c>'
    return f'<c r="{place}" s="{1 + formats.index(value[1])}"><v>{value[0]!r}</v></c>'


def xlsx(sheets: Mapping[str, Sequence[Sequence[str | tuple[float, str]]]], *, first: int = 1) -> bytes:
    """Return a workbook of cells: a text, or a number with the format that it is shown in.

    Its sheets begin in row and column `first`.
    """
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    cells = [cell for rows in sheets.values() for row in rows for cell in row]
    formats = list(dict.fromkeys(cell[1] for cell in cells if isinstance(cell, tuple)))
    listed = "".join(f'<sheet name="{escape(name)}" sheetId="{n}" r:id="r{n}"/>' for n, name in enumerate(sheets, 1))
    targets = {f"r{n}": ("worksheet", f"worksheets/sheet{n}.xml") for n in range(1, len(sheets) + 1)}
    targets["styles"] = ("styles", "styles.xml")
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{n}.xml" ContentType="{kind}.worksheet+xml"/>'
        for n in range(1, len(sheets) + 1)
    )
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": (
            f'<Types xmlns="{package}/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>{types}'
            f'<Override PartName="/xl/styles.xml" ContentType="{kind}.styles+xml"/></Types>'
        ),
        "_rels/.rels": relations({"a": ("officeDocument", "xl/workbook.xml")}).replace(
            "urn:rels", f"{package}/relationships"
        ),
        "xl/workbook.xml": f'<workbook xmlns="{main}" {_R}><sheets>{listed}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": relations(targets).replace("urn:rels", f"{package}/relationships"),
        "xl/styles.xml": (
            f'<styleSheet xmlns="{main}"><numFmts>'
            + "".join(f'<numFmt numFmtId="{n}" formatCode={quoteattr(one)}/>' for n, one in enumerate(formats, 164))
            + '</numFmts><cellXfs><xf numFmtId="0"/>'
            + "".join(f'<xf numFmtId="{n}"/>' for n, _ in enumerate(formats, 164))
            + "</cellXfs></styleSheet>"
        ),
    }
    for number, rows in enumerate(sheets.values(), start=1):
        inner = "".join(
            f'<row r="{r}">'
            + "".join(_cell(cell, f"{chr(64 + c)}{r}", formats) for c, cell in enumerate(row, start=first))
            + "</row>"
            for r, row in enumerate(rows, start=first)
        )
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{main}"><sheetData>{inner}</sheetData></worksheet>'
        )
    return zipped(parts)


def with_parts(book: bytes, changes: Mapping[str, Callable[[str], str]], **more: str) -> bytes:
    """Return a workbook with changed parts, and more of them (``xl__comments1.xml``)."""
    with zipfile.ZipFile(io.BytesIO(book)) as package:
        parts: dict[str, str | bytes] = {name: package.read(name).decode() for name in package.namelist()}
    for name, change in changes.items():
        parts[name] = change(str(parts[name]))
    return zipped({**parts, **{name.replace("__", "/"): content for name, content in more.items()}})


def with_cells(cells: str) -> bytes:
    """Return a workbook with one sheet, Fees, of these cells."""
    return with_parts(
        xlsx({"Fees": [["Name", (1.0, "0")]]}),
        {"xl/worksheets/sheet1.xml": lambda part: part.replace("</sheetData>", f"{cells}</sheetData>")},
    )


def record(kind: int, data: bytes = b"") -> bytes:
    """Return a record of a binary workbook."""
    head = bytes([kind]) if kind < 128 else bytes([kind & 127 | 128, kind >> 7])
    size, more = b"", len(data)
    while True:
        size += bytes([more & 127 | (128 if more > 127 else 0)])
        more >>= 7
        if not more:
            return head + size + data


def wide(text: str) -> bytes:
    """Return a text as records of binary workbooks hold it."""
    return len(text).to_bytes(4, "little") + text.encode("utf-16-le")


def xlsb(sheets: Mapping[str, Sequence[Sequence[str | float | tuple[float, str]]]], *, comments: bytes = b"") -> bytes:
    """Return a binary workbook (.xlsb); the first cell of each sheet is B3, `comments` is a part of the first sheet."""
    cells = [cell for rows in sheets.values() for row in rows for cell in row]
    formats = list(dict.fromkeys(cell[1] for cell in cells if isinstance(cell, tuple)))
    targets = {f"r{number}": ("worksheet", f"worksheets/sheet{number}.bin") for number in range(len(sheets))}
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": relations({"a": ("officeDocument", "xl/workbook.bin")}),
        "xl/_rels/workbook.bin.rels": relations({**targets, "s": ("styles", "styles.bin")}),
        "xl/styles.bin": b"".join(record(44, struct.pack("<H", n) + wide(code)) for n, code in enumerate(formats, 164))
        + record(617)
        + b"".join(record(47, struct.pack("<HH", 0, n) + bytes(12)) for n in (0, *range(164, 164 + len(formats))))
        + record(618),
    }
    names = b""
    for number, (name, rows) in enumerate(sheets.items()):
        names += record(156, struct.pack("<II", 0, number + 1) + wide(f"r{number}") + wide(name))
        body = b"".join(
            record(0, struct.pack("<IIHBHI", at, 0, 300, 0, 0, 0))
            + b"".join(_binary_cell(cell, column, formats) for column, cell in enumerate(row, start=1))
            for at, row in enumerate(rows, start=2)
        )
        size = struct.pack("<IIII", 2, len(rows) + 1, 1, max(map(len, rows)))
        whole = record(129) + record(148, size) + record(145) + body + record(146) + record(130)
        parts[f"xl/worksheets/sheet{number}.bin"] = whole
    if comments:
        parts["xl/worksheets/_rels/sheet0.bin.rels"] = relations({"c": ("comments", "../comments1.bin")})
        parts["xl/comments1.bin"] = comments
    parts["xl/workbook.bin"] = record(131) + record(143) + names + record(144) + record(132)
    return zipped(parts)


def _binary_cell(cell: str | float | tuple[float, str], column: int, formats: Sequence[str]) -> bytes:
    if isinstance(cell, str):
        return record(6, struct.pack("<II", column, 0) + wide(cell))
    value, style = (cell[0], 1 + formats.index(cell[1])) if isinstance(cell, tuple) else (cell, 0)
    return record(5, struct.pack("<IId", column, style, value))


def _biff(kind: int, data: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(data)) + data


def _biff_text(text: str, size: str) -> bytes:
    return struct.pack(size, len(text)) + b"\1" + text.encode("utf-16-le")


def xls(
    rows: Sequence[Sequence[str | tuple[float, str]]],
    *,
    comment: tuple[int, int, str, str] | None = None,
    palette: bytes | None = None,
) -> bytes:
    """Return an older workbook (.xls) with one sheet, Fees; a `comment` is row, column, author and text."""
    formats = list(dict.fromkeys(cell[1] for row in rows for cell in row if isinstance(cell, tuple)))
    start = _biff(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0)) + _biff(0x42, struct.pack("<H", 1200))
    fonts = _biff(0x31, struct.pack("<HHHHHBBBB", 200, 0, 0x7FFF, 400, 0, 0, 0, 0, 0) + _biff_text("Arial", "<B")) * 4
    codes = b"".join(
        _biff(0x41E, struct.pack("<H", number) + _biff_text(code, "<H")) for number, code in enumerate(formats, 164)
    )
    styles = b"".join(
        _biff(0xE0, struct.pack("<HHH", 0, number, 1) + bytes(14)) for number in (0, *range(164, 164 + len(formats)))
    )
    front = start + fonts + codes + styles + (_biff(0x92, palette) if palette is not None else b"")
    at = len(front) + len(_biff(0x85, bytes(6) + _biff_text("Fees", "<B"))) + len(_biff(0x0A))
    book = front + _biff(0x85, struct.pack("<IH", at, 0) + _biff_text("Fees", "<B")) + _biff(0x0A)
    sheet = _biff(0x809, struct.pack("<HHHHII", 0x600, 16, 0, 0, 0, 0))
    for r, row in enumerate(rows):
        for c, cell in enumerate(row):
            if isinstance(cell, str):
                sheet += _biff(0x204, struct.pack("<HHH", r, c, 0) + _biff_text(cell, "<H"))
            else:
                sheet += _biff(0x203, struct.pack("<HHHd", r, c, 1 + formats.index(cell[1]), cell[0]))
    if comment is not None:
        row_at, column, author, text = comment
        sheet += _biff(0x5D, struct.pack("<HHHHH", 0x15, 18, 0x19, 1, 0) + bytes(12) + struct.pack("<HH", 0, 0))
        sheet += _biff(0x1B6, struct.pack("<HH6xHHI", 0, 0, len(text), 16, 0))
        sheet += _biff(0x3C, b"\1" + text.encode("utf-16-le")) + _biff(
            0x3C, struct.pack("<HHIHHI", 0, 0, 0, len(text), 0, 0)
        )
        sheet += _biff(0x1C, struct.pack("<HHHH", row_at, column, 0, 1) + _biff_text(author, "<H") + b"\0")
    return compound_file(Storage({"Workbook": (book + sheet + _biff(0x0A)).ljust(4096, b"\0")}))
