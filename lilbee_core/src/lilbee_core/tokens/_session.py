"""Where a server that runs is, and how local clients get in: a file that only the user may read."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

_FILE = "server.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSession:
    """A server that runs: its address, and the token of this run."""

    url: str
    token: str
    pid: int

    def __repr__(self) -> str:
        return f"ServerSession({self.url!r}, pid={self.pid})"


def write_session(data_dir: Path, session: ServerSession, *, name: str = _FILE) -> Path:
    """Tell local clients where the server is and how to get in, and return the file."""
    data_dir.mkdir(parents=True, exist_ok=True)
    file = data_dir / name
    file.unlink(missing_ok=True)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as out:
        json.dump({"url": session.url, "token": session.token, "pid": session.pid}, out)
    return file


def read_session(data_dir: Path, *, name: str = _FILE) -> ServerSession | None:
    """Return the server of a library, if one runs. What a server left that was killed counts for nothing."""
    import psutil

    try:
        told = json.loads((data_dir / name).read_text(encoding="utf-8"))
        session = ServerSession(url=str(told["url"]), token=str(told["token"]), pid=int(told["pid"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return session if psutil.pid_exists(session.pid) else None
