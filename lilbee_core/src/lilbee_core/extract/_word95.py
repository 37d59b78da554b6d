"""Word 6 and Word 95: their text, which the engine does not know how to find. Letters are bytes of a code page."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from io import BytesIO
from typing import IO, Protocol, cast

from lilbee_core.errors import EncryptedDocument
from lilbee_core.extract._reading import damaged
from lilbee_core.types import Source

_STREAM = "WordDocument"
_MARK = 0xA5DC
_FIRST, _LAST = 101, 104
_COMPLEX, _ENCRYPTED = 0x0004, 0x0100
_START, _COUNTS, _PIECES = 0x18, 0x34, 0x160
_HEAD_BYTES = 0x168
_SHOWN = (True, True, False, False, True, True, True)
"""Text, footnotes, headers, macros, comments, endnotes, text boxes: what of it is read."""
_CODE_PAGES = {
    "cp1250": (0x05, 0x0E, 0x15, 0x18, 0x1A, 0x1B, 0x24), "cp1251": (0x02, 0x19, 0x22, 0x23, 0x2F), "cp1253": (0x08,),
    "cp1254": (0x1F,), "cp1255": (0x0D,), "cp1256": (0x01, 0x20, 0x29), "cp1257": (0x25, 0x26, 0x27),
    "cp874": (0x1E,), "cp932": (0x11,), "cp949": (0x12,),
}  # fmt: skip
"""Encodings by the language in which the program ran (the low half of its number)."""
_CHINESE, _TRADITIONAL = 0x04, (0x0404, 0x0C04, 0x1404)
_SIGNS = {
    0x0D: "\n", 0x0B: "\n", 0x0C: "\n\n", 0x0E: "\n", 0x1E: "-", 0x1F: "", 0xA0: " ",
    **dict.fromkeys((0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x08), ""),
}  # fmt: skip
_FIELD = re.compile("\x13[^\x13\x14\x15]*(?:\x14([^\x13\x14\x15]*))?\x15")
_FIELD_SIGNS: dict[int, None] = dict.fromkeys((0x13, 0x14, 0x15))
_NESTED = 20


class _Container(Protocol):
    def exists(self, filename: str) -> bool: ...

    def openstream(self, filename: str) -> IO[bytes]: ...


class _Ole(Protocol):
    def OleFileIO(self, filename: IO[bytes]) -> _Container: ...  # noqa: N802 - the library's name


def word95_text(source: Source, data: bytes) -> str | None:
    """Return the text of a document of Word 6 or 95; None if it is of another version.

    Raises:
        EncryptedDocument: If it is protected by a password, which nothing here undoes.
        ExtractError: If it is damaged.
    """
    stream = _stream(data)
    if len(stream) < _HEAD_BYTES:
        return None
    mark, version, _, language, _, flags = struct.unpack_from("<HHHHHH", stream)
    if mark != _MARK or not _FIRST <= version <= _LAST:
        return None
    if flags & _ENCRYPTED:
        raise EncryptedDocument(
            f"{source.path} cannot be read: it is protected by a password of Word 95",
            hint="Open it in Word or LibreOffice and save it without one.",
        )
    counts = struct.unpack_from("<7I", stream, _COUNTS)
    if flags & _COMPLEX:
        letters = b"".join(_pieces(source, stream))
    else:
        (start,) = struct.unpack_from("<I", stream, _START)
        letters = stream[start : start + sum(counts)]
    return _shown(letters, counts, _encoding(language))


def _stream(data: bytes) -> bytes:
    import olefile

    try:
        container = cast("_Ole", olefile).OleFileIO(BytesIO(data))
        return container.openstream(_STREAM).read() if container.exists(_STREAM) else b""
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the library raises what it likes on broken files; the engine will say so
        return b""


def _pieces(source: Source, stream: bytes) -> Iterator[bytes]:
    """Yield the stretches of a document that was saved in a hurry, in their order."""
    at, length = struct.unpack_from("<II", stream, _PIECES)
    end = at + length
    try:
        while at < end and stream[at] == 1:
            at += 3 + struct.unpack_from("<H", stream, at + 1)[0]
        if at >= end or stream[at] != 2:
            raise damaged(source, "its pieces cannot be found")
        (size,) = struct.unpack_from("<I", stream, at + 1)
        count = (size - 4) // 12
        places = struct.unpack_from(f"<{count + 1}I", stream, at + 5)
        for number in range(count):
            (start,) = struct.unpack_from("<I", stream, at + 5 + 4 * (count + 1) + 8 * number + 2)
            yield stream[start : start + max(0, places[number + 1] - places[number])]
    except (struct.error, IndexError) as error:
        raise damaged(source, "its pieces cannot be found") from error


def _encoding(language: int) -> str:
    primary = language & 0xFF
    if primary == _CHINESE:
        return "cp950" if language in _TRADITIONAL else "cp936"
    return next((name for name, numbers in _CODE_PAGES.items() if primary in numbers), "cp1252")


def _shown(letters: bytes, counts: tuple[int, ...], encoding: str) -> str:
    parts: list[str] = []
    at = 0
    for count, shown in zip(counts, _SHOWN, strict=True):
        if shown:
            parts.append(_plain(letters[at : at + count].decode(encoding, "replace")))
        at += count
    return "\n\n".join(part for part in parts if part.strip())


def _plain(text: str) -> str:
    """Return a text with the results of its fields, and its tables as rows."""
    for _ in range(_NESTED):
        text, changes = _FIELD.subn(lambda field: field[1] or "", text)
        if not changes:
            break
    text = text.translate(_FIELD_SIGNS)
    lines = [_row(line) for line in text.replace("\x07\x07", "\x07\n").translate(_SIGNS).split("\n")]
    return "\n".join(lines).strip("\n")


def _row(line: str) -> str:
    return line.rstrip("\x07").replace("\x07", " | ")
