"""Builders of the built-in extractors and engines. Each imports its module when called, where it is needed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.errors import ExtraMissing
from lilbee_core.plugins.specs import ExtractServices, Options

if TYPE_CHECKING:
    from lilbee_core.protocols import Extractor, OcrEngine


def text(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``text``."""
    from lilbee_core.extract._text import TextExtractor

    return TextExtractor()


def markdown(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``markdown``."""
    from lilbee_core.extract._markdown import MarkdownExtractor

    return MarkdownExtractor()


def html(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``html``."""
    from lilbee_core.extract._html import HtmlExtractor

    return HtmlExtractor()


def data(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``data``."""
    from lilbee_core.extract._structured import DataExtractor

    return DataExtractor()


def table(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``table``."""
    from lilbee_core.extract._structured import TableExtractor

    return TableExtractor()


def xml(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``xml``."""
    from lilbee_core.extract._structured import XmlExtractor

    return XmlExtractor()


def notebook(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``notebook``."""
    from lilbee_core.extract._notebook import NotebookExtractor

    return NotebookExtractor()


def mail(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``mail``."""
    from lilbee_core.extract._mail import MailExtractor

    return MailExtractor(limits=services.limits)


def outlook(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``outlook``."""
    from lilbee_core.extract._outlook import OutlookExtractor

    return OutlookExtractor(limits=services.limits)


def mbox(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``mbox``."""
    from lilbee_core.extract._mbox import MboxExtractor

    return MboxExtractor(limits=services.limits)


def archive(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``archive``."""
    from lilbee_core.extract._archive import ArchiveExtractor

    return ArchiveExtractor(limits=services.limits)


def code(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``code``."""
    from lilbee_core.extract._code import CodeExtractor

    return CodeExtractor()


def docx(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``docx``."""
    from lilbee_core.extract._docx import DocxExtractor

    return DocxExtractor(limits=services.limits)


def pptx(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``pptx``."""
    from lilbee_core.extract._pptx import PptxExtractor

    return PptxExtractor(limits=services.limits)


def odf(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``odf``."""
    from lilbee_core.extract._odf import OdfExtractor

    return OdfExtractor(limits=services.limits)


def epub(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``epub``."""
    from lilbee_core.extract._epub import EpubExtractor

    return EpubExtractor(services.limits)


def fb2(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``fb2``."""
    from lilbee_core.extract._fiction import FictionExtractor

    return FictionExtractor()


def sheets(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``sheets``."""
    from lilbee_core.extract._sheets import SheetExtractor

    return SheetExtractor(services.limits)


def pdf(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``pdf``."""
    from lilbee_core.extract._pdf_reader import PdfExtractor

    return PdfExtractor(limits=services.limits)


def kreuzberg(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``kreuzberg``."""
    from lilbee_core.extract._kreuzberg import KreuzbergExtractor

    return KreuzbergExtractor()


def tesseract(options: Options) -> OcrEngine:
    """Build the engine ``tesseract``.

    Raises:
        ExtraMissing: If the program is not installed.
    """
    from lilbee_core.extract._tesseract import Tesseract, find_tesseract

    command = find_tesseract()
    if command is None:
        raise ExtraMissing(
            "Tesseract is not installed",
            hint="Install it (Debian: apt install tesseract-ocr, macOS: brew install tesseract).",
        )
    return Tesseract(command)


def rapidocr(options: Options) -> OcrEngine:
    """Build the engine ``rapidocr``.

    Raises:
        ExtraMissing: If the package is not installed.
    """
    from lilbee_core.extract._rapid import RapidOcr, has_rapidocr

    if not has_rapidocr():
        raise ExtraMissing("RapidOCR is not installed", hint="Run: pip install 'lilbee-core[rapidocr]'")
    return RapidOcr()
