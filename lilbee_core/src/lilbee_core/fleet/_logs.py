"""The log of a server: written by the server itself, read and kept short by us."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

LARGEST_BYTES = 2_000_000
_KEPT_BYTES = 200_000
_TAIL_BYTES = 65_536


def tail(path: Path | None, lines: int) -> str:
    """Return the last lines of a log; a log that cannot be read has none."""
    if path is None:
        return ""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            text = file.read().decode("utf-8", "replace")
    except OSError:
        return ""
    return "\n".join(text.splitlines()[-lines:])


def shorten(path: Path, *, largest_bytes: int = LARGEST_BYTES) -> None:
    """Cut a log that has grown too long down to its end.

    The server goes on writing to the same file: it appends, so what it writes next stands behind what was kept.
    """
    with contextlib.suppress(OSError):
        if path.stat().st_size <= largest_bytes:
            return
        kept = min(_KEPT_BYTES, largest_bytes // 2)
        with path.open("r+b") as file:
            file.seek(-kept, os.SEEK_END)
            end = file.read()
            file.seek(0)
            file.truncate()
            # The first line is cut in the middle.
            file.write(end.partition(b"\n")[2])
