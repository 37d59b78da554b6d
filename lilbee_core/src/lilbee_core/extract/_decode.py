"""Bytes to text, honestly: marks first, then UTF-8, then what the file declares, then what its letters spell."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from lilbee_core.extract._charset import guess_encoding
from lilbee_core.text import normalize_newlines, without_escapes

SAMPLE_BYTES = 64 * 1024
# Control characters that no text holds. Besides white space, escape (colors of terminals), bell, backspace
# (overstrikes) and the end mark of old systems do occur.
_CONTROLS = bytes((set(range(0x20)) | {0x7F}) - {0x07, 0x08, 0x09, 0x0A, 0x0B, 0x0C, 0x0D, 0x1A, 0x1B})
_FEW = 0.02
_STRAY_WESTERN = 3
"""So many stray bytes for each sequence are borne where all spell Latin letters: two bytes of them read as ``Ã¼``."""
_MOST_ZEROS, _LEAST_AROUND_ZERO = 3, 4
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
# What browsers read for a declared name.
_WEB_NAMES = {
    **dict.fromkeys(
        ("iso-8859-1", "iso8859-1", "iso_8859-1", "latin1", "latin-1", "l1", "ascii", "us-ascii"), "cp1252"
    ),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "x-sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("gb2312", "gbk", "x-gbk"), "gb18030"),
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "korean"), "cp949"),
    "iso-8859-9": "cp1254",
    "tis-620": "cp874",
}


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
    sample = head[:SAMPLE_BYTES]
    if not sample or _mark(sample) or _wide_encoding(sample):
        return True
    # Random and compressed data are full of them: a tenth of all bytes.
    seen = without_escapes(sample)
    controls = len(seen) - len(seen.translate(None, _CONTROLS))
    return controls <= len(sample) * _FEW or _has_few_zeros(seen, controls)


def _has_few_zeros(seen: bytes, controls: int) -> bool:
    """Say whether a short text holds nothing odd but a zero byte or three, as programs in C leave them."""
    zeros = seen.count(0)
    return controls == zeros <= _MOST_ZEROS and len(seen) > _LEAST_AROUND_ZERO * zeros and _is_utf8(seen)


def decode(data: bytes, *, declared: str | None = None) -> Decoded:
    """Return the text of `data`; the number of lines is that of the file.

    Args:
        data: The whole file.
        declared: An encoding told from outside, such as by a mail's header.

    Raises:
        NotText: If no encoding makes a text of it.
    """
    if mark := _mark(data):
        return _finish(data[mark[0] :], mark[1])
    sample = data[:SAMPLE_BYTES]
    if b"\x00" in sample and (wide := _wide_encoding(sample)):
        return _finish(data, wide)
    if not looks_like_text(sample):
        raise NotText("no encoding makes a text of it")
    # A text in another encoding is practically never valid UTF-8 by chance, so declarations come second.
    for encoding in _candidates(sample, declared):
        try:
            return _checked(data.decode(encoding), encoding)
        except (UnicodeDecodeError, LookupError):
            continue
    if _is_mostly_utf8(data):
        return _repaired(data)
    return _finish(data, guess_encoding(data) or _guess_by_library(data) or "cp1252")


def _mark(data: bytes) -> tuple[int, str] | None:
    return next(((len(mark), encoding) for mark, encoding in _MARKS if data.startswith(mark)), None)


def _is_utf8(sample: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return False
    return True


def _is_mostly_utf8(data: bytes) -> bool:
    """Tell a UTF-8 text with a few stray bytes, as logs written by several programs are.

    Letters of other encodings hardly ever make up its sequences by chance, and where they do, as those of East Asia
    and of old Cyrillic ones may, far more bytes are left over.
    """
    text = data[: 4 * SAMPLE_BYTES].decode("utf-8", "replace")
    stray = text.count("\ufffd")
    spelled = [char for char in text if char > "\x7f" and char != "\ufffd"]
    western = all(char < "\u0180" or "\u2010" <= char <= "\u2122" for char in spelled)
    return stray <= len(spelled) * (_STRAY_WESTERN if western else 1)


def _wide_encoding(head: bytes) -> str | None:
    """Return UTF-16 or UTF-32 without a mark, told by where the zero bytes stand."""
    sample = head[: min(len(head), 4096) // 4 * 4]
    if b"\x00" not in sample or _has_few_zeros(head, head.count(0)):
        return None
    zeros = [sample[at::4].count(0) / (len(sample) // 4) for at in range(4)]
    even, odd = (zeros[0] + zeros[2]) / 2, (zeros[1] + zeros[3]) / 2
    telling = (
        ("utf-32-le", min(zeros[2:]) > 0.9 and zeros[0] < 0.1),
        ("utf-32-be", min(zeros[:2]) > 0.9 and zeros[3] < 0.1),
        ("utf-16-le", odd > 0.2 and even < _FEW),
        ("utf-16-be", even > 0.2 and odd < _FEW),
    )
    for encoding, fits in telling:
        if fits:
            return _valid(sample, encoding)
    # Scripts beyond Latin have zero bytes only in spaces, digits and line ends.
    return None if _is_utf8(sample) else _valid(sample, "utf-16-le" if odd > even else "utf-16-be", strict=True)


def _valid(sample: bytes, encoding: str, *, strict: bool = False) -> str | None:
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None
    if strict:
        known = sum(char.isalnum() or char.isspace() or char in ".,!?()-:;、。，「」" for char in text)
        scripts = {ord(char) >> 8 for char in text if char.isalpha()}
        ideographs = sum("\u3000" <= char <= "\ud7a3" for char in text) > len(text) / 2
        return encoding if known > len(text) * 0.9 and (ideographs or len(scripts) <= 3) else None
    controls = sum(char < " " and char not in "\t\n\r\f\x0b\x1b" for char in text)
    return encoding if controls <= len(text) * _FEW else None


def _candidates(sample: bytes, told: str | None) -> Iterator[str]:
    if (b"\x1b$" in sample or b"\x1b(" in sample) and sample.isascii():
        yield "iso2022_jp_2"
    yield "utf-8"
    yield from (name for name in (_known(told), _declared(sample)) if name)


def _declared(data: bytes) -> str | None:
    head = data[:2048]
    matches = (pattern.search(head) for pattern in _DECLARATIONS)
    return next((name for match in matches if match and (name := _known(match[1].decode("ascii")))), None)


def _known(label: str | None) -> str | None:
    if not label:
        return None
    name = label.strip().lower()
    try:
        return codecs.lookup(_WEB_NAMES.get(name, name)).name
    except (LookupError, ValueError):
        return None


def _guess_by_library(data: bytes) -> str | None:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:SAMPLE_BYTES], threshold=0.4).best()
    return best.encoding if best else None


def _repaired(data: bytes) -> Decoded:
    """Read UTF-8; what is none is read as Windows-1252, which is what such bytes mostly are."""
    stray = 0

    def mend(error: UnicodeError) -> tuple[str, int]:
        nonlocal stray
        if not isinstance(error, UnicodeDecodeError):
            raise error
        stray += error.end - error.start
        return error.object[error.start : error.end].decode("cp1252", "replace"), error.end

    codecs.register_error("lilbee.mend", mend)
    text = data.decode("utf-8", "lilbee.mend")
    return _checked(text, "utf-8", f"{stray} bytes are no UTF-8 and were read as Windows-1252")


def _finish(data: bytes, encoding: str) -> Decoded:
    try:
        return _checked(data.decode(encoding), encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
    count = text.count("\ufffd")
    if count > max(20, len(text) * 0.1):
        raise NotText(f"{count} of {len(text)} characters are no {encoding}")
    return _checked(text, encoding, f"{count} characters are no {encoding} and were replaced")


def _checked(text: str, encoding: str, warning: str | None = None) -> Decoded:
    if "\x00" in text:
        warning = warning or f"{text.count(chr(0))} zero bytes were replaced by spaces"
        text = text.replace("\x00", " ")
    return Decoded(text=normalize_newlines(text), encoding=encoding, warning=warning)
