"""File names as people see them, and back. Paths are POSIX, NFC, and always legal Unicode."""

from __future__ import annotations

import os
import unicodedata
from urllib.parse import quote_from_bytes, unquote_to_bytes

_SAFE = bytes(range(32, 127)).replace(b"%", b"").decode()


def shown(raw: str) -> str:
    """Return the display form of a name from the file system (bytes that are not UTF-8 as ``%XX``)."""
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError:
        raw = escaped(raw)
    return unicodedata.normalize("NFC", raw)


def escaped(raw: str) -> str:
    """Return the exact bytes of a name, percent-escaped where they are not printable ASCII."""
    return quote_from_bytes(os.fsencode(raw), safe=_SAFE)


def unescaped(text: str) -> str:
    """Return the name that `escaped` was made from."""
    return os.fsdecode(unquote_to_bytes(text))
