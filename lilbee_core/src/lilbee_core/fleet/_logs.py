"""The log of a server: written by the server itself, read and kept short by us, and kept a while when it has ended."""

from __future__ import annotations

import contextlib
import os
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

LARGEST_BYTES = 2_000_000
_KEPT_BYTES = 200_000
_TAIL_BYTES = 65_536
_KEPT_LOGS = 3
ENDED = "ended"
"""The folder, beside the state files, of the logs of servers that have ended."""
_ENDED_NAME = re.compile(r"(?P<id>[\w-]+)\.(?P<millis>\d{13,})\.log")


@dataclass(frozen=True, slots=True)
class EndedLog:
    """What a server wrote that has ended."""

    server: str
    ended_at: float
    path: Path

    @property
    def when(self) -> str:
        """When it ended, as UTC."""
        return datetime.fromtimestamp(self.ended_at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


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


def keep(path: Path, server: str, *, ended_at: float | None = None) -> None:
    """Put the log of a server that has ended aside; of each server the last few are kept, and only their ends."""
    millis = int(1000 * (time.time() if ended_at is None else ended_at))
    with contextlib.suppress(OSError):
        if not path.stat().st_size:
            path.unlink()
            return
        shorten(path, largest_bytes=_KEPT_BYTES)
        folder = path.parent / ENDED
        folder.mkdir(mode=0o700, exist_ok=True)
        path.replace(folder / f"{server}.{millis:013d}.log")
        for old in [one for one in ended(path.parent) if one.server == server][_KEPT_LOGS:]:
            old.path.unlink(missing_ok=True)


def ended(state: Path) -> list[EndedLog]:
    """Return the logs that are kept of servers that have ended, the latest first."""
    try:
        paths = list((state / ENDED).iterdir())
    except OSError:
        return []
    found = [(path, match) for path in paths if (match := _ENDED_NAME.fullmatch(path.name)) is not None]
    logs = [EndedLog(match["id"], int(match["millis"]) / 1000, path) for path, match in found]
    return sorted(logs, key=lambda one: (one.ended_at, one.server), reverse=True)
