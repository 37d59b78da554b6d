"""What the older Office formats say about themselves."""

from __future__ import annotations

from datetime import datetime
from io import BytesIO
from typing import IO, Protocol, cast

from lilbee_core.extract._package import Facts

_NAMES = {
    "title": "title",
    "author": "creator",
    "subject": "subject",
    "keywords": "keywords",
    "comments": "description",
    "category": "category",
    "create_time": "created",
    "last_saved_time": "modified",
}
"""What olefile calls a fact, and what newer files do."""


class _Container(Protocol):
    def get_metadata(self) -> object: ...


class _Ole(Protocol):
    def OleFileIO(self, filename: IO[bytes]) -> _Container: ...  # noqa: N802 - the library's name


def ole_facts(data: bytes) -> Facts:
    """Return the facts of a compound file, none where it has none or is broken there."""
    import olefile

    try:
        told = cast("_Ole", olefile).OleFileIO(BytesIO(data)).get_metadata()
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the library raises what it likes on broken files
        return Facts(None)
    found: dict[str, str] = {}
    for name, ours in _NAMES.items():
        value: object = getattr(told, name, None)
        if isinstance(value, bytes):
            encoding = "utf-8" if getattr(told, "codepage", None) == 65001 else "cp1252"
            value = value.decode(encoding, "replace")
        shown = value.isoformat() if isinstance(value, datetime) else value
        if isinstance(shown, str) and shown.strip():
            found[ours] = shown.strip("\0 ")
    return Facts.known(found)
