"""Builders of the built-in extractors. Each imports its module when it is called, in the process that needs it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.plugins.specs import ExtractServices, Options

if TYPE_CHECKING:
    from lilbee_core.protocols import Extractor


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

    return MailExtractor()


def mbox(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``mbox``."""
    from lilbee_core.extract._mbox import MboxExtractor

    return MboxExtractor()


def archive(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``archive``."""
    from lilbee_core.extract._archive import ArchiveExtractor

    return ArchiveExtractor()


def code(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``code``."""
    from lilbee_core.extract._code import CodeExtractor

    return CodeExtractor()


def docx(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``docx``."""
    from lilbee_core.extract._docx import DocxExtractor

    return DocxExtractor()


def pptx(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``pptx``."""
    from lilbee_core.extract._pptx import PptxExtractor

    return PptxExtractor()


def odf(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``odf``."""
    from lilbee_core.extract._odf import OdfExtractor

    return OdfExtractor()


def epub(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``epub``."""
    from lilbee_core.extract._epub import EpubExtractor

    return EpubExtractor()


def kreuzberg(options: Options, services: ExtractServices) -> Extractor:
    """Build the extractor ``kreuzberg``."""
    from lilbee_core.extract._kreuzberg import KreuzbergExtractor

    return KreuzbergExtractor()
