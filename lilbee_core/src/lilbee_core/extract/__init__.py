"""Files to text with places: one extractor per format, chosen by media type, run where they can do no harm."""

from __future__ import annotations

from lilbee_core.extract._media import HEAD_BYTES, detect_media_type
from lilbee_core.extract._pool import ExtractPool
from lilbee_core.extract._registry import ExtractorRegistry
from lilbee_core.plugins.specs import ExtractorSpec

__all__ = ["HEAD_BYTES", "ExtractPool", "ExtractorRegistry", "builtin_extractors", "detect_media_type"]


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
        ("mbox", formats.MBOX, build.mbox, "Mailboxes by message"),
        ("archive", formats.ARCHIVES, build.archive, "The files inside zip and tar archives"),
        ("code", formats.CODE, build.code, "Source code with its definitions"),
        ("docx", formats.DOCX, build.docx, "Word documents with notes, comments and numbers"),
        ("pptx", formats.SLIDES, build.pptx, "Presentations by slide, with notes"),
        ("odf", formats.ODF, build.odf, "OpenDocument texts and presentations"),
        ("epub", formats.EPUB, build.epub, "E-books by chapter"),
        (
            "kreuzberg",
            formats.KREUZBERG,
            build.kreuzberg,
            "PDF, spreadsheets, RTF, older Office, Outlook mail",
        ),
    )
    return tuple(
        ExtractorSpec(name=name, media_types=media_types, build=builder, summary=summary)
        for name, media_types, builder, summary in table
    )
