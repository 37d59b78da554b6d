"""A PDF of a few pages, in Helvetica, which every reader has: nothing embedded, nothing compressed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tests.tools._blocks import Block

# Advance widths of Helvetica for the characters from space to tilde, in thousandths of the font size.
WIDTHS = (
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
)  # fmt: skip
PAGE_WIDTH, PAGE_HEIGHT = 595, 842
MARGIN = 72
REGULAR, BOLD = "F1", "F2"


@dataclass(frozen=True, slots=True)
class Line:
    """One line of text at its place on the page."""

    text: str
    x: float
    y: float
    font: str
    size: float

    def __str__(self) -> str:
        return f"BT /{self.font} {self.size} Tf {self.x:.2f} {self.y:.2f} Td ({escape(self.text)}) Tj ET"


def escape(text: str) -> str:
    return text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")


def width(text: str, size: float) -> float:
    return sum(WIDTHS[ord(char) - 32] if 32 <= ord(char) < 127 else 556 for char in text) * size / 1000


def wrap(text: str, size: float, limit: float) -> Iterator[str]:
    """Yield lines of `text` that are at most `limit` wide."""
    line = ""
    for word in text.split():
        longer = f"{line} {word}".strip()
        if line and width(longer, size) > limit:
            yield line
            line = word
        else:
            line = longer
    yield line


def page_lines(blocks: Sequence[Block], *, number: int, running_title: str) -> list[Line]:
    """Lay out one page. Raises ValueError when the blocks do not fit it."""
    lines: list[Line] = []
    y = PAGE_HEIGHT - MARGIN - 20.0
    for block in blocks:
        font, size = (BOLD, 20.0) if block.level else (REGULAR, 11.5)
        for text in wrap(block.text, size, PAGE_WIDTH - 2 * MARGIN):
            lines.append(Line(text, MARGIN, y, font, size))
            y -= size * 1.4
        y -= 14 if block.level else 8
    if y < MARGIN:
        raise ValueError(f"page {number} is too long by {MARGIN - y:.0f} points")
    footer = f"{running_title}, page {number}"
    lines.append(Line(footer, (PAGE_WIDTH - width(footer, 9)) / 2, MARGIN / 2, REGULAR, 9))
    return lines


def make_pdf(pages: Sequence[Sequence[Block]], *, title: str, author: str, created: str) -> bytes:
    """Return a PDF with one page for each part; `created` is a date of the form 20210301120000Z."""
    count = len(pages)
    # Objects 1 to 5: catalog, page tree, two fonts, information; then a page and its content for each part.
    kids = " ".join(f"{6 + 2 * index} 0 R" for index in range(count))
    font = "<< /Type /Font /Subtype /Type1 /BaseFont /{} /Encoding /WinAnsiEncoding >>"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Lang (en) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        font.format("Helvetica"),
        font.format("Helvetica-Bold"),
        f"<< /Title ({escape(title)}) /Author ({escape(author)}) /CreationDate (D:{created}) /Producer (lilbee) >>",
    ]
    for index, blocks in enumerate(pages):
        content = "\n".join(map(str, page_lines(blocks, number=index + 1, running_title=title)))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {PAGE_WIDTH} {PAGE_HEIGHT}] /Contents {7 + 2 * index} 0 R"
            f" /Resources << /Font << /{REGULAR} 3 0 R /{BOLD} 4 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(content.encode('cp1252'))} >>\nstream\n{content}\nendstream")
    return assemble(objects)


def assemble(objects: Sequence[str]) -> bytes:
    """Number the objects and add the table of their places, which is how a PDF is found its way in."""
    out = b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n"
    places: list[int] = []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    trailer = f"trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + f"xref\n0 {size}\n0000000000 65535 f \n{table}{trailer}".encode("ascii")
