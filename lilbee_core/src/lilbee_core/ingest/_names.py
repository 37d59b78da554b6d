"""File names as people see them, and back. Paths are POSIX, NFC, and always legal Unicode."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Container
from urllib.parse import quote_from_bytes, unquote_to_bytes

_SAFE = bytes(range(32, 127)).replace(b"%", b"").decode()


def composed(name: str) -> str:
    """Return a name with its accents joined to their letters, so that equal names are equal however they are stored."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def shown(raw: str) -> str:
    """Return the display form of a name from the file system (bytes that are not UTF-8 as ``%XX``)."""
    if raw.isascii():
        return raw
    try:
        raw.encode("utf-8")
    except UnicodeEncodeError:
        raw = escaped(raw)
    return composed(raw)


def shown_apart(raw: str, taken: Container[str]) -> str:
    """Return a display form that is not `taken`.

    Of twins such as one name in NFC and in NFD, the later one is shown with its exact bytes.
    """
    name = shown(raw)
    if name in taken:
        name = escaped(raw)
    while name in taken:
        name = escaped(name)  # grows each time, since it turns `%` into `%25`
    return name


def escaped(raw: str) -> str:
    """Return the exact bytes of a name, percent-escaped where they are not printable ASCII."""
    return quote_from_bytes(os.fsencode(raw), safe=_SAFE)


def unescaped(text: str) -> str:
    """Return the name that `escaped` was made from."""
    return os.fsdecode(unquote_to_bytes(text))
