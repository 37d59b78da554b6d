"""An e-book with a chapter for each part."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from tests.tools._archive import archive
from tests.tools._blocks import EMPHASIS, Block

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
XHTML = 'xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" lang="en" xml:lang="en"'
CONTAINER = (
    f'{HEAD}<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>\n'
)


def chapter(blocks: Sequence[Block]) -> str:
    body = "\n".join(_element(block) for block in blocks)
    title = escape(blocks[0].text)
    return f"{HEAD}<!DOCTYPE html>\n<html {XHTML}><head><title>{title}</title></head><body>\n{body}\n</body></html>\n"


def _element(block: Block) -> str:
    text = EMPHASIS.sub(r"<em>\1</em>", escape(block.text))
    return f"<h{block.level}>{text}</h{block.level}>" if block.level else f"<p>{text}</p>"


def make_epub(parts: Sequence[Sequence[Block]], *, title: str, author: str, created: str) -> bytes:
    names = [f"chapter{number}.xhtml" for number in range(1, len(parts) + 1)]
    manifest = "".join(
        f'<item id="c{number}" href="{name}" media-type="application/xhtml+xml"/>' for number, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(names)))
    contents = "".join(
        f'<li><a href="{name}">{escape(part[0].text)}</a></li>' for name, part in zip(names, parts, strict=True)
    )
    package = (
        f'{HEAD}<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id" xml:lang="en">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        '<dc:identifier id="id">urn:lilbee:the-tin-roof</dc:identifier>'
        f"<dc:title>{escape(title)}</dc:title><dc:creator>{escape(author)}</dc:creator><dc:language>en</dc:language>"
        f'<dc:date>{created}</dc:date><meta property="dcterms:modified">{created}</meta></metadata>'
        f'<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>{manifest}'
        f"</manifest><spine>{spine}</spine></package>\n"
    )
    navigation = (
        f"{HEAD}<!DOCTYPE html>\n<html {XHTML}><head><title>Contents</title></head><body>"
        f'<nav epub:type="toc"><ol>{contents}</ol></nav></body></html>\n'
    )
    return archive(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": CONTAINER,
            "OEBPS/book.opf": package,
            "OEBPS/nav.xhtml": navigation,
            **{f"OEBPS/{name}": chapter(part) for name, part in zip(names, parts, strict=True)},
        }
    )
