"""The folders that worker processes may write to: one for caches, one for what native libraries unpack."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import threading
from pathlib import Path

_PRIVATE = 0o700


class WorkFolders:
    """Names the folders on first use, and removes those that it made up itself. Threads may share it."""

    def __init__(self, cache_dir: Path | None, native_dir: Path | None) -> None:
        """Take the wishes; a folder that is not given lives as long as this object.

        Programs are loaded from `native_dir`, so it must be nobody else's: never a folder of a library, which may
        come from somebody else, nor a shared one such as ``/tmp``, where others can put a file of the same name.
        """
        self._cache_dir = cache_dir
        self._native_dir = native_dir
        self._own: str | None = None
        self._lock = threading.Lock()

    def cache(self) -> str:
        """The folder for caches of libraries."""
        return str(self._cache_dir.absolute()) if self._cache_dir is not None else self._temporary("cache")

    def native(self) -> str:
        """The folder that stands for the system's temporary one."""
        if self._native_dir is not None and _made_private(self._native_dir):
            return str(self._native_dir.absolute())
        return self._temporary("native")

    def _temporary(self, name: str) -> str:
        with self._lock:
            if self._own is None:
                self._own = tempfile.mkdtemp(prefix="lilbee-extract-")
            folder = os.path.join(self._own, name)
            os.makedirs(folder, mode=_PRIVATE, exist_ok=True)
            return folder

    def remove(self) -> None:
        """Remove the folders that were made up."""
        with self._lock:
            own, self._own = self._own, None
        if own is not None:
            shutil.rmtree(own, ignore_errors=True)


def _made_private(folder: Path) -> bool:
    """Make a folder that only this user can enter; False when it is somebody else's, or a link."""
    with contextlib.suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=_PRIVATE, exist_ok=True)
    try:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            return False
        if sys.platform == "win32":
            return True
        if found.st_uid != os.geteuid():
            return False
        folder.chmod(_PRIVATE)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
