"""Files to text with places: one extractor per format, chosen by media type, run where they can do no harm."""

from __future__ import annotations

from lilbee_core.extract._media import HEAD_BYTES, detect_media_type
from lilbee_core.extract._pictures import Look, Picture, has_pictures, image_type, may_hold_pictures
from lilbee_core.extract._pool import ExtractPool
from lilbee_core.extract._recognize import Recognizer
from lilbee_core.extract._registry import ExtractorRegistry
from lilbee_core.extract._seeing import SeeingModel
from lilbee_core.plugins.specs import ExtractorSpec, OcrSpec

__all__ = [
    "HEAD_BYTES", "ExtractPool", "ExtractorRegistry", "Look", "Picture", "Recognizer", "SeeingModel",
    "builtin_extractors", "builtin_ocr_engines", "detect_media_type", "has_pictures", "image_type", "installed_engines",
    "may_hold_pictures",
]  # fmt: skip


def builtin_ocr_engines() -> tuple[OcrSpec, ...]:
    """Return the engines for text on pictures; those of plugins come first unless they ask to be last."""
    from lilbee_core.extract import _builders as build

    return (
        OcrSpec(name="tesseract", build=build.tesseract, priority=-10, summary="The system's Tesseract"),
        OcrSpec(name="rapidocr", build=build.rapidocr, priority=-20, summary="RapidOCR, installed by pip"),
    )


def builtin_extractors() -> tuple[ExtractorSpec, ...]:
    """Return the extractors that come with lilbee. Nothing is imported or started until one is built."""
    from lilbee_core.extract import _builders as build
    from lilbee_core.extract import _formats as formats

    table = (
        ("text", formats.TEXT, build.text, "Plain text as it stands, with the file's lines"),
        ("markdown", formats.MARKDOWN, build.markdown, "Markdown with headings and front matter"),
        ("html", formats.HTML, build.html, "Web pages as their readers see them"),
        ("data", formats.DATA, build.data, "JSON, YAML and TOML as they stand"),
        ("table", formats.TABLES, build.table, "Tables in text form with the names of their columns"),
        ("xml", formats.XML, build.xml, "XML: prose without tags, data as it stands"),
        ("notebook", formats.NOTEBOOKS, build.notebook, "Jupyter notebooks by cell"),
        ("mail", formats.MAIL, build.mail, "Mails with their attachments, and saved web pages"),
        ("outlook", formats.OUTLOOK, build.outlook, "Mails of Outlook with their attachments"),
        ("mbox", formats.MBOX, build.mbox, "Mailboxes by message, with attachments"),
        ("archive", formats.ARCHIVES, build.archive, "The files inside zip, 7z and tar archives, and packed files"),
        ("code", formats.CODE, build.code, "Source code with its definitions"),
        ("docx", formats.DOCX, build.docx, "Word documents with notes, comments and numbers"),
        ("pptx", formats.SLIDES, build.pptx, "Presentations by slide, with notes"),
        ("odf", formats.ODF, build.odf, "OpenDocument texts and presentations"),
        ("epub", formats.EPUB, build.epub, "E-books by chapter"),
        ("fb2", formats.FICTION, build.fb2, "E-books of FictionBook by chapter"),
        ("sheets", formats.SHEETS, build.sheets, "Spreadsheets as they are shown, with comments"),
        ("pdf", (formats.PDF,), build.pdf, "PDFs by page, with their attachments"),
        ("kreuzberg", formats.KREUZBERG, build.kreuzberg, "RTF, older Office, images"),
    )
    return tuple(
        ExtractorSpec(name=name, media_types=media_types, build=builder, summary=summary)
        for name, media_types, builder, summary in table
    )


def installed_engines() -> tuple[str, ...]:
    """Return the names of the built-in engines for text on pictures that are installed. None of them is loaded."""
    from lilbee_core.extract._rapid import has_rapidocr
    from lilbee_core.extract._tesseract import find_tesseract

    found = {"tesseract": find_tesseract() is not None, "rapidocr": has_rapidocr()}
    return tuple(name for name, there in found.items() if there)
