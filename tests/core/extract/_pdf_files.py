"""PDFs that need more than lines of text, written by hand."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence

import pypdfium2


def pdf_of(objects: Sequence[bytes]) -> bytes:
    """Return a PDF of objects, the first of which is its catalog."""
    data = bytearray(b"%PDF-1.7\n")
    places: list[int] = []
    for number, content in enumerate(objects, start=1):
        places.append(len(data))
        data += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(data)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}".encode()
    return bytes(data) + f"trailer\n<</Size {len(objects) + 1}/Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n".encode()


def mapped_pdf(texts: Sequence[tuple[float, float, str]], *, mirrored: bool = False) -> bytes:
    """Return a PDF of one page in any writing: texts with left and baseline, drawn from there as they are.

    Each letter is 7.2 points wide. `mirrored` draws them to the left, as layers of recognized text are.
    """
    chars = sorted({char for *_, text in texts for char in text})
    codes = {char: f"{number:04X}" for number, char in enumerate(chars, start=1)}
    stream = "".join(
        f"BT /F1 12 Tf {-1 if mirrored else 1} 0 0 1 {left} {baseline} Tm <{''.join(map(codes.__getitem__, text))}> Tj"
        " ET\n"
        for left, baseline, text in texts
    )
    mapped = "".join(f"<{codes[char]}> <{char.encode('utf-16-be').hex()}>\n" for char in chars)
    table = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /M def\n1 begincodespacerange\n"
        f"<0000> <FFFF>\nendcodespacerange\n{len(chars)} beginbfchar\n{mapped}endbfchar\nendcmap end end\n"
    )
    font = "/BaseFont/Made/FontDescriptor 8 0 R"
    system = "/CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>"
    bodies = (
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>\nstream\n{stream}endstream",
        "<</Type/Font/Subtype/Type0/BaseFont/Made/Encoding/Identity-H/DescendantFonts[6 0 R]/ToUnicode 7 0 R>>",
        f"<</Type/Font/Subtype/CIDFontType2{font}{system}/DW 600>>",
        f"<</Length {len(table)}>>\nstream\n{table}endstream",
        "<</Type/FontDescriptor/FontName/Made/Flags 4/FontBBox[0 -200 1000 800]/Ascent 800/Descent -200>>",
    )
    return pdf_of([body.encode() for body in bodies])


def with_files(data: bytes, files: Mapping[str, bytes]) -> bytes:
    """Return a PDF with files attached to it."""
    document = pypdfium2.PdfDocument(data)
    for name, content in files.items():
        document.new_attachment(name).set_data(content)
    out = io.BytesIO()
    document.save(out)
    document.close()
    return out.getvalue()


def with_note(text: str, name: str, content: bytes) -> bytes:
    """Return a PDF of a line, with a note on its page that holds a file."""
    stream = f"BT /F1 11 Tf 60 700 Td ({text}) Tj ET\n".encode()
    file = f"<</Type/Filespec/F({name})/UF({name})/EF<</F 7 0 R>>>>"
    return pdf_of(
        [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Annots[6 0 R]/Resources 8 0 R>>",
            f"<</Length {len(stream)}>>\nstream\n".encode() + stream + b"endstream",
            b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
            f"<</Type/Annot/Subtype/FileAttachment/Rect[0 0 9 9]/FS {file}>>".encode(),
            f"<</Type/EmbeddedFile/Length {len(content)}>>\nstream\n".encode() + content + b"\nendstream",
            b"<</Font<</F1 5 0 R>>>>",
        ]
    )
