"""Media types by the extractor that reads them."""

from __future__ import annotations

TEXT = (
    "text/plain",
    "text/x-rst",
    "text/x-asciidoc",
    "text/x-org",
    "text/x-tex",
    "text/x-bibtex",
    "text/x-diff",
    "text/vtt",
    "text/calendar",
    "text/vcard",
)
CODE = ("text/x-*",)
MARKDOWN = ("text/markdown",)
HTML = ("text/html", "application/xhtml+xml")
DATA = ("application/json", "application/jsonl", "application/yaml", "application/toml")
TABLES = ("text/csv", "text/tab-separated-values")
XML = ("application/xml", "image/svg+xml")
NOTEBOOKS = ("application/x-ipynb+json",)
MAIL = ("message/rfc822", "multipart/related")
MBOX = ("application/mbox",)
ARCHIVES = (
    "application/zip",
    "application/x-7z-compressed",
    "application/x-tar",
    "application/gzip",
    "application/x-bzip2",
    "application/x-xz",
)

PDF = "application/pdf"
_OOXML = "application/vnd.openxmlformats-officedocument."
SLIDES = (
    f"{_OOXML}presentationml.presentation",
    f"{_OOXML}presentationml.slideshow",
    f"{_OOXML}presentationml.template",
    "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
)
SHEETS = (
    f"{_OOXML}spreadsheetml.sheet",
    f"{_OOXML}spreadsheetml.template",
    "application/vnd.ms-excel.sheet.macroEnabled.12",
    "application/vnd.ms-excel.sheet.binary.macroEnabled.12",
    "application/vnd.ms-excel",
    "application/vnd.oasis.opendocument.spreadsheet",
)
DOCX = (
    f"{_OOXML}wordprocessingml.document",
    f"{_OOXML}wordprocessingml.template",
    "application/vnd.ms-word.document.macroEnabled.12",
)
ODF = ("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.presentation")
EPUB = ("application/epub+zip",)
FICTION = ("application/x-fictionbook+xml",)
OUTLOOK = ("application/vnd.ms-outlook",)
WORD = "application/msword"
PROSE = (
    WORD,
    "application/vnd.ms-powerpoint",
    "application/rtf",
    "application/x-hwp",
)
IMAGES = ("image/png", "image/jpeg", "image/gif", "image/bmp", "image/tiff", "image/webp")
KREUZBERG = (*PROSE, *IMAGES)
