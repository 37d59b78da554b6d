"""Extractors of packed formats keep to the contract that plugins keep to."""

from __future__ import annotations

from collections.abc import Sequence

from lilbee_core.extract import builtin_extractors
from lilbee_core.plugins.specs import ExtractServices
from lilbee_core.protocols import Extractor
from lilbee_core.testing.contracts import ExtractorContract
from lilbee_core.types import Source
from tests.core.extract._files import docx, epub, odf, paragraph, pdf, pptx, shape, xlsx, zipped

OOXML = "application/vnd.openxmlformats-officedocument."
MAIL = b"From: Ada <ada@x.example>\nSubject: Swarm\n\nHive seven swarmed.\n"


class Packed(ExtractorContract):
    name = ""
    files: tuple[tuple[str, str, bytes], ...] = ()

    def make(self) -> Extractor:
        spec = next(one for one in builtin_extractors() if one.name == self.name)
        return spec.build({}, ExtractServices())

    def sources(self) -> Sequence[Source]:
        return [
            Source(collection="c", path=path, media_type=media_type, data=data, size=len(data))
            for path, media_type, data in self.files
        ]


class TestDocx(Packed):
    name = "docx"
    files = (("a.docx", f"{OOXML}wordprocessingml.document", docx(paragraph("One") + paragraph("two"))),)


class TestPptx(Packed):
    name = "pptx"
    files = (("a.pptx", f"{OOXML}presentationml.presentation", pptx([shape("T", kind="title") + shape("text")])),)


class TestOdf(Packed):
    name = "odf"
    files = (
        ("a.odt", "application/vnd.oasis.opendocument.text", odf("<text:h>H</text:h><text:p>text</text:p>")),
        ("a.odp", "application/vnd.oasis.opendocument.presentation", odf("<text:p>x</text:p>", kind="presentation")),
    )


class TestEpub(Packed):
    name = "epub"
    files = (("a.epub", "application/epub+zip", epub({"a.xhtml": "<h1>A</h1><p>b</p>"}, nav_xhtml="<html/>")),)


class TestMbox(Packed):
    name = "mbox"
    files = (("a.mbox", "application/mbox", b"From x\n" + MAIL + b"\nFrom y\n" + MAIL),)


class TestArchive(Packed):
    name = "archive"
    files = (("a.zip", "application/zip", zipped({"a.md": "# A\n", "b.zip": zipped({"c.eml": MAIL})})),)


class TestPdf(Packed):
    name = "pdf"
    files = (("a.pdf", "application/pdf", pdf([(20, "Head"), (11, "Some prose on a page.")], [(11, "second")])),)


class TestKreuzberg(Packed):
    name = "kreuzberg"
    files = (
        ("a.xlsx", f"{OOXML}spreadsheetml.sheet", xlsx({"One": [["a", "b"]], "Two": [["c"]]})),
        ("a.rtf", "application/rtf", rb"{\rtf1\ansi words\par}"),
    )
