"""Bytes to text, honestly: marks first, then declarations, then UTF-8, then the content decides."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass

from lilbee_core.text import normalize_newlines

SAMPLE_BYTES = 64 * 1024
# Control characters that no text holds. Tab, line feed, form feed, carriage return, escape and backspace (overstrikes
# of old terminals) do occur.
_CONTROLS = bytes(set(range(0x20)) - {0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1A, 0x1B})
_NUL_TO_SPACE = {0: " "}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_DECLARATIONS = (
    re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._:-]{2,40})["']"""),
    re.compile(rb"""<meta[^>]{0,300}?charset\s*=\s*["']?\s*([A-Za-z0-9._:-]{2,40})""", re.IGNORECASE),
    re.compile(rb"^[^\n]*\n?[ \t\f]*#.{0,80}?coding[:=][ \t]*([-_.a-zA-Z0-9]{2,40})"),
    re.compile(rb"""^@charset\s+"([A-Za-z0-9._:-]{2,40})";"""),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """A text with line feeds only, the encoding it was read with, and what went wrong, if anything."""

    text: str
    encoding: str
    warning: str | None = None


class NotText(ValueError):
    """The bytes are not a text in any encoding."""


def looks_like_text(head: bytes) -> bool:
    """Say whether the first bytes of a file are those of a text, in whatever encoding."""
    if not head or _mark(head) or _wide_encoding(head):
        return True
    if b"\x00" in head and not _is_utf8(head):
        return False
    sample = head[:SAMPLE_BYTES]
    controls = len(sample) - len(sample.translate(None, _CONTROLS))
    if controls > len(sample) * 0.02:
        return False
    return _is_utf8(sample) or not _looks_random(sample)


def decode(data: bytes) -> Decoded:
    """Return the text of `data`; the number of lines is that of the file.

    Raises:
        NotText: If no encoding makes a text of it.
    """
    if mark := _mark(data):
        return _finish(data[mark[0] :], mark[1])
    if b"\x00" in data[:SAMPLE_BYTES] and (wide := _wide_encoding(data)):
        return _finish(data, wide)
    if not looks_like_text(data[:SAMPLE_BYTES]):
        raise NotText("the bytes are no text in any known encoding")
    for encoding in _candidates(data):
        try:
            return _checked(data.decode(encoding), encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    return _finish(data, _guess(data[:SAMPLE_BYTES]) or "utf-8")


def _mark(data: bytes) -> tuple[int, str] | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return len(mark), encoding
    return None


def _is_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _wide_encoding(head: bytes) -> str | None:
    """Return UTF-16 or UTF-32 without a mark, told by where the zero bytes stand."""
    sample = head[: 4096 - 4096 % 4]
    if len(sample) < 4 or b"\x00" not in sample:
        return None
    quarter = max(1, len(sample) // 4)
    zeros = [sample[at::4].count(0) / quarter for at in range(4)]
    if min(zeros[2:]) > 0.9 and zeros[0] < 0.1:
        return _valid(sample, "utf-32-le")
    if min(zeros[:2]) > 0.9 and zeros[3] < 0.1:
        return _valid(sample, "utf-32-be")
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    if odd > 0.2 and even < 0.02:
        return _valid(sample, "utf-16-le")
    if even > 0.2 and odd < 0.02:
        return _valid(sample, "utf-16-be")
    return None


def _valid(sample: bytes, encoding: str) -> str | None:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None
    controls = sum(char < " " and char not in "\t\n\r\f\x0b\x1b" for char in text)
    return encoding if controls <= len(text) * 0.02 else None


def _looks_random(sample: bytes) -> bool:
    """Tell compressed or machine data from a text in a national encoding.

    In every national encoding most bytes are letters, spaces and line ends; in random data bytes of the C1 range and
    ASCII punctuation are as frequent as any other.
    """
    if len(sample) < 32:
        return False
    deleted = sample.count(0x7F)
    high = sum(byte >= 0x80 for byte in sample)
    blank = sum(sample.count(byte) for byte in b" \n\t\r")
    return high > len(sample) * 0.3 and (deleted > len(sample) * 0.001 and blank < len(sample) * 0.03)


def _candidates(data: bytes) -> list[str]:
    found = ["utf-8"]
    if b"\x1b$" in data[:SAMPLE_BYTES] or b"\x1b(" in data[:SAMPLE_BYTES]:
        found.insert(0, "iso2022_jp_2")
    head = data[:2048]
    declared = (pattern.search(head) for pattern in _DECLARATIONS)
    return [*found, *(_web_name(match[1].decode("ascii")) for match in declared if match)]


def _web_name(label: str) -> str:
    """Read a declared encoding as browsers do: Latin-1 means Windows-1252."""
    name = label.strip().lower()
    if name in {"iso-8859-1", "iso8859-1", "latin1", "latin-1", "iso_8859-1", "ascii", "us-ascii", "l1"}:
        return "cp1252"
    return {"shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "gb2312": "gb18030", "gbk": "gb18030",
            "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "iso-8859-9": "cp1254"}.get(name, name)  # fmt: skip


def _guess(sample: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(sample, threshold=0.4).best()
    return best.encoding if best else None


def _finish(data: bytes, encoding: str) -> Decoded:
    try:
        return _checked(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
    count = text.count("\ufffd")
    if count > max(20, len(text) * 0.1):
        raise NotText(f"{count} of {len(text)} characters cannot be read as {encoding}")
    return _checked(text, encoding, f"{count} bytes are no {encoding} and were replaced")


def _checked(text: str, encoding: str, warning: str | None = None) -> Decoded:
    if "\x00" in text:
        warning = warning or f"{text.count(chr(0))} zero bytes were replaced by spaces"
        text = text.translate(_NUL_TO_SPACE)
    return Decoded(text=normalize_newlines(text), encoding=encoding, warning=warning)
