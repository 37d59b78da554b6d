"""Watches what a stretch of code does beside computing: files, sockets, processes, threads."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import cast
from unittest.mock import patch

_CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".dylib", ".zip", ".pth")
_LOUD = (
    "socket.", "subprocess.Popen", "os.fork", "os.posix_spawn", "os.spawn", "os.exec", "os.system", "os.mkdir",
    "os.remove", "os.rename", "tempfile.", "sqlite3.connect", "urllib.Request",
)  # fmt: skip


_watchers: list[list[str]] = []
_installed: list[bool] = []


@contextmanager
def watched(found: list[str]) -> Generator[None]:
    """Note every file that is opened, and every socket, thread and process that is started, in the block."""
    if not _installed:
        # An audit hook cannot be taken out again, so there is one, and it looks for somebody who wants to know.
        sys.addaudithook(_audit)
        _installed.append(True)
    started = threading.Thread.start

    def note(thread: threading.Thread) -> None:
        found.append(f"starts the thread {thread.name}")
        started(thread)

    _watchers.append(found)
    try:
        with patch.object(threading.Thread, "start", note):
            yield
    finally:
        _watchers.remove(found)


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if not _watchers:
        return
    if event == "open":
        target = arguments[0]
        if not isinstance(target, str | bytes | os.PathLike):
            return
        path = os.fsdecode(cast("str | bytes", target))
        # Code is read when a module is imported, and kept compiled.
        if path.endswith(_CODE) or "__pycache__" in path:
            return
        note = f"opens {path}"
    elif event.startswith(_LOUD):
        note = f"{event}{arguments!r}"
    else:
        return
    for found in _watchers:
        found.append(note)
