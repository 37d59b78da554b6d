"""What kind of file it is: by ending, by well-known name, by its first bytes."""

from __future__ import annotations

import re

from lilbee_core.extract._decode import looks_like_text
from lilbee_core.extract._languages import language_of, language_of_name

BINARY = "application/octet-stream"
PLAIN = "text/plain"
HEAD_BYTES = 8192
"""How many bytes of a file are enough to tell."""

_OOXML = "application/vnd.openxmlformats-officedocument."
_ODF = "application/vnd.oasis.opendocument."

_TEXT_SUFFIXES = {
    PLAIN: "txt text log out err nfo asc me 1st ini cfg conf cnf properties env editorconfig lst list srt ass lrc",
    "text/markdown": "md markdown mdown mkd mkdn mdwn mdx qmd rmd",
    "text/x-rst": "rst rest",
    "text/x-asciidoc": "adoc asciidoc",
    "text/x-org": "org",
    "text/x-tex": "tex ltx latex",
    "text/x-bibtex": "bib",
    "text/x-diff": "diff patch",
    "text/vtt": "vtt",
    "text/calendar": "ics",
    "text/vcard": "vcf",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv tab",
    "application/json": "json geojson jsonc json5 webmanifest har",
    "application/jsonl": "jsonl ndjson",
    "application/yaml": "yaml yml",
    "application/toml": "toml",
    "application/xml": "xml xsd xsl xslt rss atom kml gpx opml plist dbk docbook tei jats nxml wsdl xliff xlf tmx resx",
    "image/svg+xml": "svg",
    "text/html": "html htm shtml",
    "application/xhtml+xml": "xhtml xht",
    "message/rfc822": "eml emlx",
    "multipart/related": "mht mhtml",
    "application/mbox": "mbox",
    "application/x-ipynb+json": "ipynb",
    "application/x-fictionbook+xml": "fb2",
}
_BINARY_SUFFIXES = {
    "application/pdf": "pdf",
    f"{_OOXML}wordprocessingml.document": "docx",
    f"{_OOXML}wordprocessingml.template": "dotx",
    "application/vnd.ms-word.document.macroEnabled.12": "docm",
    f"{_OOXML}presentationml.presentation": "pptx",
    f"{_OOXML}presentationml.slideshow": "ppsx",
    f"{_OOXML}presentationml.template": "potx",
    "application/vnd.ms-powerpoint.presentation.macroEnabled.12": "pptm",
    f"{_OOXML}spreadsheetml.sheet": "xlsx",
    f"{_OOXML}spreadsheetml.template": "xltx",
    "application/vnd.ms-excel.sheet.macroEnabled.12": "xlsm",
    "application/vnd.ms-excel.sheet.binary.macroEnabled.12": "xlsb",
    "application/msword": "doc dot",
    "application/vnd.ms-powerpoint": "ppt pps pot",
    "application/vnd.ms-excel": "xls xlt",
    "application/vnd.ms-outlook": "msg",
    f"{_ODF}text": "odt ott",
    f"{_ODF}spreadsheet": "ods ots",
    f"{_ODF}presentation": "odp otp",
    "application/rtf": "rtf",
    "application/epub+zip": "epub",
    "application/x-hwp": "hwp",
    "image/png": "png",
    "image/jpeg": "jpg jpeg jpe",
    "image/gif": "gif",
    "image/bmp": "bmp",
    "image/tiff": "tif tiff",
    "image/webp": "webp",
    "application/zip": "zip",
    "application/x-tar": "tar",
    "application/gzip": "gz tgz",
    "application/x-bzip2": "bz2 tbz2",
    "application/x-xz": "xz txz",
    "application/x-7z-compressed": "7z",
}
_NAMES = {
    "readme license licence copying notice authors contributors changelog changes news todo install history version "
    "manifest codeowners maintainers procfile thanks credits faq copyright": PLAIN,
    ".gitignore .gitattributes .gitmodules .dockerignore .npmignore .lilbeeignore .env .editorconfig .mailmap": PLAIN,
}
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"{\\rtf", "application/rtf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x1f\x8b\x08", "application/gzip"),
    *((b"BZh%d1AY&SY" % level, "application/x-bzip2") for level in range(1, 10)),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
    (b"PK\x03\x04", "application/zip"),
)
_OLE_TYPES = {"application/msword", "application/vnd.ms-powerpoint", "application/vnd.ms-excel"}
_ZIP_CONTENT = (
    (b"word/", f"{_OOXML}wordprocessingml.document"),
    (b"ppt/", f"{_OOXML}presentationml.presentation"),
    (b"xl/", f"{_OOXML}spreadsheetml.sheet"),
)


def _by_suffix(table: dict[str, str]) -> dict[str, str]:
    return {suffix: media for media, suffixes in table.items() for suffix in suffixes.split()}


_TEXT = _by_suffix(_TEXT_SUFFIXES)
_PACKED = _by_suffix(_BINARY_SUFFIXES)
_KNOWN = {name: media for names, media in _NAMES.items() for name in names.split()}


def detect_media_type(path: str, head: bytes) -> str:
    """Return the media type of a file, from its name and its first bytes (`HEAD_BYTES` are enough).

    The ending decides among texts and among packed formats; the bytes decide between the two, so that a picture
    named ``.txt`` is not read as text. A text of unknown ending is ``text/plain``.
    """
    name = path.rsplit("/", 1)[-1].lower()
    suffix = name.rsplit(".", 1)[-1] if "." in name else ""
    magic = _magic(head)
    if suffix in _PACKED:
        return _refine(_PACKED[suffix], magic, head)
    if magic is not None:
        return magic
    if not looks_like_text(head):
        return BINARY
    return _text_type(path, name, suffix, head)


def _magic(head: bytes) -> str | None:
    found = next((media for mark, media in _MAGIC if head.startswith(mark)), None)
    if found == "application/zip":
        return _zip_type(head)
    if found is None and head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return found


def _zip_type(head: bytes) -> str:
    if head[30:38] == b"mimetype":
        declared = re.match(rb"[a-z0-9.+/-]+", head[38:120])
        media = declared[0].removesuffix(b"PK").decode("ascii") if declared else ""
        if media in _PACKED.values():
            return media
    if b"[Content_Types].xml" in head[:4096]:
        return next((media for mark, media in _ZIP_CONTENT if mark in head), "application/zip")
    return "application/zip"


def _refine(by_suffix: str, magic: str | None, head: bytes) -> str:
    """Correct an ending that lies: RTF and web pages named .doc or .xls are common."""
    if magic is None and by_suffix in _OLE_TYPES and head and looks_like_text(head):
        return _sniffed(head) or PLAIN
    packed_alike = magic is not None and by_suffix not in _OLE_TYPES and magic.startswith((_OOXML, _ODF))
    if magic is None or packed_alike or magic not in _PACKED.values() or magic == "application/zip":
        return by_suffix
    return magic


def _text_type(path: str, name: str, suffix: str, head: bytes) -> str:
    if suffix in _TEXT:
        # Few names say more than their ending, as CMakeLists.txt does.
        named = language_of_name(name)
        return f"text/x-{named}" if named else _TEXT[suffix]
    if name in _KNOWN or name.split(".", 1)[0] in _KNOWN:
        return PLAIN
    language = language_of(path, head)
    return f"text/x-{language}" if language else _sniffed(head) or PLAIN


_SNIFFED = (
    (re.compile(rb"\s*(?:<!--.{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE | re.DOTALL), "text/html"),
    (re.compile(rb"\s*<\?xml\b"), "application/xml"),
)


def _sniffed(head: bytes) -> str | None:
    start = head.removeprefix(b"\xef\xbb\xbf")[:1024]
    return next((media for pattern, media in _SNIFFED if pattern.match(start)), None)
