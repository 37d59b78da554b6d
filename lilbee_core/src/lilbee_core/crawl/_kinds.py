"""What kind of file an answer is, and the ending under which it is kept."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Callable
from urllib.parse import urlsplit

HTML = frozenset({"text/html", "application/xhtml+xml"})
_VAGUE = frozenset({"", "application/octet-stream", "binary/octet-stream", "application/x-download", "text/plain"})
_ENDINGS = {
    "application/pdf": "pdf",
    "application/rtf": "rtf",
    "text/rtf": "rtf",
    "application/epub+zip": "epub",
    "application/msword": "doc",
    "application/vnd.ms-excel": "xls",
    "application/vnd.ms-powerpoint": "ppt",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/json": "json",
    "application/ld+json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/rss+xml": "xml",
    "application/atom+xml": "xml",
    "application/yaml": "yaml",
    "application/toml": "toml",
    "application/x-tex": "tex",
    "application/x-ipynb+json": "ipynb",
    "message/rfc822": "eml",
    "text/plain": "txt",
    "text/markdown": "md",
    "text/x-markdown": "md",
    "text/csv": "csv",
    "text/tab-separated-values": "tsv",
    "text/calendar": "ics",
    "text/vcard": "vcf",
    "text/vtt": "vtt",
    "text/x-rst": "rst",
    "text/html": "html",
    "application/xhtml+xml": "html",
    "image/png": "png",
    "image/jpeg": "jpg",
    "image/gif": "gif",
    "image/webp": "webp",
    "image/tiff": "tif",
    "image/bmp": "bmp",
}
_WEB_ENDINGS = frozenset({"html", "htm", "xhtml", "php", "asp", "aspx", "jsp", "cgi"})
_MAGIC = (
    (b"%PDF-", "application/pdf"),
    (b"{\\rtf", "application/rtf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/msword"),
)
_PACKED = b"PK\x03\x04"
_LOOKS_HTML = re.compile(
    rb"\s*(?:<!--.{0,500}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_LOOKS_XML = re.compile(rb"\s*<\?xml\b")
_NEVER = ("video/", "audio/", "font/", "model/")
_NO_PAGE = re.compile(
    "7z|avi|bin|bz2|css|deb|dmg|exe|flac|gz|ico|iso|jar|js|m4a|m4v|map|mjs|mkv|mov|mp3|mp4|mpe?g|msi|ogg|opus|otf|rar|"
    "rpm|svg|swf|tar|tgz|ttf|wasm|wav|webm|whl|wmv|woff2?|xz|zip|zst"
)


def media_type_of(declared: str) -> str:
    """Return the media type that a header names, without its parameters."""
    return declared.partition(";")[0].strip().lower()


def is_refused(media_type: str) -> bool:
    """Say whether answers of this kind hold nothing to read, so that they need not be loaded."""
    return media_type.startswith(_NEVER)


def may_be_page(url: str) -> bool:
    """Say whether something to read may lie at an address, from its ending."""
    name = urlsplit(url).path.rsplit("/", 1)[-1].lower()
    return "." not in name or _NO_PAGE.fullmatch(name.rsplit(".", 1)[-1]) is None


def real_media_type(declared: str, body: bytes, url: str) -> str:
    """Return what an answer is, by its first bytes where they contradict what the server says."""
    said = media_type_of(declared)
    magic = next((kind for mark, kind in _MAGIC if body.startswith(mark)), None)
    if magic is not None:
        is_office = magic == "application/msword" and said.startswith(("application/vnd.ms-", "application/msword"))
        return said if is_office else magic
    if body.startswith(_PACKED):
        return said if _is_packed(said) else _by_name(url, _is_packed) or "application/zip"
    start = body.removeprefix(b"\xef\xbb\xbf")[:1024]
    if _LOOKS_HTML.match(start) and said != "text/plain":
        return "text/html"
    if _is_text(body):
        return _text_type(said, start, url)
    return said if said not in _VAGUE and not _is_text_type(said) else "application/octet-stream"


def ending_of(media_type: str, url: str) -> str | None:
    """Return the ending under which a file of this kind is kept, None for what nobody reads."""
    known = _ENDINGS.get(media_type)
    if known is not None and media_type != "text/plain":
        return known
    name = urlsplit(url).path.rsplit("/", 1)[-1]
    ending = name.rsplit(".", 1)[-1].lower() if "." in name else ""
    if _is_text_type(media_type):
        return ending if ending.isalnum() and len(ending) <= 8 and ending not in _WEB_ENDINGS else "txt"
    return None


def _by_name(url: str, fits: Callable[[str], bool]) -> str | None:
    """Return the media type that the name in an address stands for, if it is of the right kind."""
    guessed, _ = mimetypes.guess_type(urlsplit(url).path)
    return guessed if guessed and fits(guessed) else None


def _text_type(said: str, start: bytes, url: str) -> str:
    if _is_text_type(said) and said not in _VAGUE:
        return said
    if _LOOKS_XML.match(start) and said != "text/plain":
        return "application/xml"
    return _by_name(url, lambda named: _is_text_type(named) and named not in HTML) or "text/plain"


def _is_text_type(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type.endswith(("json", "xml", "yaml", "toml", "x-tex", "javascript"))


def _is_packed(media_type: str) -> bool:
    return media_type == "application/epub+zip" or media_type.startswith(
        ("application/vnd.openxmlformats-", "application/vnd.oasis.")
    )


def _is_text(body: bytes) -> bool:
    head = body[:4096]
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        return True
    return b"\x00" not in head and sum(byte < 9 or 13 < byte < 27 for byte in head) <= len(head) // 100
