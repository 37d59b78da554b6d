"""The letters of a page: by its first bytes, by what the server says, by what the page says, and by trying."""

from __future__ import annotations

import codecs
import re

_BOMS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
_IN_HEADER = re.compile(r"charset\s*=\s*[\"']?([\w.:-]+)", re.IGNORECASE)
_IN_PAGE = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_IN_XML = re.compile(rb"<\?xml[^>]{0,100}?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)
# Pages that say one of these are written in the larger set of a well-known system.
_LARGER = {
    "iso8859-1": "cp1252", "ascii": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030",
    "shift_jis": "cp932", "euc_kr": "cp949", "iso8859-11": "cp874", "tis-620": "cp874", "big5": "big5hkscs",
}  # fmt: skip
_HEAD = 4096
_ENOUGH = 30
"""So many letters beyond ASCII tell something of the language; fewer fit any."""


def decode_page(body: bytes, content_type: str) -> str:
    """Return the text of a page. What the server says counts before what the page says, if the bytes agree."""
    for mark, name in _BOMS:
        if body.startswith(mark):
            return body.decode(name, "replace").lstrip("\ufeff")
    head = body[:_HEAD]
    header, page, xml = _IN_HEADER.search(content_type), _IN_PAGE.search(head), _IN_XML.search(head)
    told = [header[1] if header else "", page[1].decode("ascii") if page else "", xml[1].decode("ascii") if xml else ""]
    for name in (*told, "utf-8"):
        text = _strictly(body, name)
        if text is not None:
            return text
    return _guessed(body, [_codec(name) for name in told])


def _strictly(body: bytes, name: str) -> str | None:
    codec = _codec(name)
    if codec is None:
        return None
    if codec.startswith("utf-16") and b"\x00" not in body[:_HEAD]:
        return None  # a page that could be asked for its name in ASCII is not written in it
    try:
        text = body.decode(codec)
    except UnicodeError:
        return None
    # Bytes that are UTF-8 throughout are UTF-8, whatever a server says of them: by chance they are not.
    if codec != "utf-8" and not body.isascii():
        try:
            return body.decode("utf-8")
        except UnicodeError:
            return text
    return text


def _codec(name: str) -> str | None:
    if not name:
        return None
    try:
        found = codecs.lookup(name.strip().lower())
    except LookupError:
        return None
    if not getattr(found, "_is_text_encoding", True):
        return None
    return _LARGER.get(found.name, found.name)


def _guessed(body: bytes, told: list[str | None]) -> str:
    """Return the text with its damaged letters replaced, in the likeliest letters."""
    whole = body.decode("utf-8", "replace")
    if whole.count("\ufffd") * 50 < sum(byte > 127 for byte in body[:100_000]):
        return whole
    from charset_normalizer import from_bytes

    codec = next((name for name in told if name not in (None, "utf-8")), None)
    if codec is None and sum(byte > 127 for byte in body) >= _ENOUGH:
        best = from_bytes(body[:100_000]).best()
        codec = best.encoding if best is not None else None
    # What browsers take for what says nothing of itself.
    return body.decode(codec or "cp1252", "replace")
