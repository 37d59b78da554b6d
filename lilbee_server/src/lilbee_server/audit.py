"""Who changed what: a line for each request that may change something."""

from __future__ import annotations

import json
import logging
import os
import threading
from datetime import UTC, datetime
from pathlib import Path

log = logging.getLogger(__name__)

MOST_BYTES = 5_000_000


class Audit:
    """Appends to ``audit.log`` in the data folder, which only the user may read. No bodies, no queries, no tokens.

    Threads may share it. A file that has grown to 5 MB becomes ``audit.log.1``.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "audit.log"
        self._lock = threading.Lock()

    def write(self, *, who: str, method: str, path: str, status: int) -> None:
        """Add a line. Where none can be written the request stands all the same, and the server's log says so."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        line = json.dumps({"at": at, "who": who, "method": method, "path": path, "status": status})
        try:
            with self._lock:
                self._append(line + "\n")
        except OSError as error:
            log.warning("the log of changes cannot be written: %s", error)

    def _append(self, line: str) -> None:
        # Not its parents: where the library's folder was moved away it can only be brought back if nothing lies there.
        self._file.parent.mkdir(exist_ok=True)
        if self._file.exists() and self._file.stat().st_size > MOST_BYTES:
            self._file.replace(self._file.with_name("audit.log.1"))
        handle = os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(handle, "a", encoding="utf-8") as out:
            out.write(line)
