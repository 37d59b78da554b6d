"""One writer at a time: a file lock between processes, a re-entrant lock between threads."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import cast
from weakref import WeakValueDictionary

from filelock import FileLock, Timeout

from lilbee_core.errors import StoreLocked
from lilbee_core.protocols import CancelToken
from lilbee_core.store import _errors
from lilbee_core.store._errors import engine_errors
from lilbee_core.types import DocumentId

_SLICE_S = 0.25


class Present:
    """Which documents may have rows in the tables, as far as the holder of the lock knows.

    Nobody else writes meanwhile, so what was known after leftovers were swept stays true as long as the lock is held:
    a document that is not among these is new, and nothing of it has to be looked for.
    """

    def __init__(self) -> None:
        self._ids: set[str] | None = None

    def start(self, ids: Iterable[str]) -> None:
        """Know that there are rows of these documents and of no others."""
        self._ids = set(ids)

    def add(self, ids: Iterable[str]) -> None:
        """Know that there may be rows of these, too."""
        if self._ids is not None:
            self._ids.update(ids)

    def among(self, ids: Sequence[DocumentId]) -> Sequence[DocumentId]:
        """Return those of the documents that may have rows."""
        return ids if self._ids is None else [id_ for id_ in ids if id_ in self._ids]

    def forget(self) -> None:
        """Know nothing: whoever held the lock may have written anything."""
        self._ids = None


class _Waiting:
    """Waits for a lock in slices, so that whoever waits can be told to end."""

    def __init__(self, timeout_s: float, cancel: CancelToken | None) -> None:
        self.timeout_s = timeout_s
        self._deadline = time.monotonic() + max(timeout_s, 0.0)
        self._cancel = cancel

    def until(self, attempt: Callable[[float], bool]) -> bool:
        """Try for a slice of time after the other; say whether it was had in time."""
        while True:
            left = max(self._deadline - time.monotonic(), 0.0)
            if attempt(min(left, _SLICE_S)):
                return True
            if left <= _SLICE_S:
                return False
            if self._cancel is not None:
                self._cancel.check()


class WriterLock:
    """The lock of one data folder. Every store of this process on the same folder shares it.

    It is re-entrant per thread; other threads and processes wait. The holder writes its process id beside the
    lock, so that whoever gives up can say for whom it waited.
    """

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self._info = data_dir / "lock.json"
        self._file = FileLock(data_dir / "lock", thread_local=False)
        self._threads = threading.RLock()
        self._depth = 0
        self._was_held = False
        self.present = Present()

    @contextmanager
    def hold(self, timeout_s: float, cancel: CancelToken | None = None) -> Generator[None]:
        """Hold the lock inside the block.

        Raises:
            StoreLocked: If it is not free within `timeout_s`.
            StoreError: If the folder cannot be written, or is not where it was any more.
            Cancelled: If `cancel` says so while it waits.
        """
        waiting = _Waiting(timeout_s, cancel)
        if not waiting.until(lambda slice_s: self._threads.acquire(timeout=slice_s)):
            raise self._locked(timeout_s)
        try:
            if self._depth == 0:
                self.present.forget()
                self._acquire(waiting)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._release()
        finally:
            self._threads.release()

    @property
    def held(self) -> bool:
        """Whether this process holds it."""
        return self._depth > 0

    def _acquire(self, waiting: _Waiting) -> None:
        with engine_errors("lock the library", self.data_dir):
            if not self._was_held:
                self.data_dir.mkdir(parents=True, exist_ok=True)
            elif not self.data_dir.is_dir():
                # A disk that was taken out, a folder renamed: nothing is begun anew where the index was a moment ago.
                raise _errors.gone(self.data_dir)
            try:
                is_ours = waiting.until(self._acquire_file)
            except PermissionError as error:
                raise _errors.read_only("lock the library", self.data_dir) from error
        if not is_ours:
            raise self._locked(waiting.timeout_s)
        self._was_held = True
        self._write_info()

    def _acquire_file(self, slice_s: float) -> bool:
        try:
            self._file.acquire(timeout=slice_s, poll_interval=0.02)
        except Timeout:
            return False
        return True

    def _release(self) -> None:
        with suppress(OSError):  # the note is a courtesy; the next holder overwrites it
            self._info.unlink(missing_ok=True)
        self._file.release()

    def _write_info(self) -> None:
        note = {"pid": os.getpid(), "host": socket.gethostname(), "since": datetime.now(UTC).isoformat()}
        with suppress(OSError):  # a full disk shows itself at the write that matters
            self._info.write_text(json.dumps(note), encoding="utf-8")

    def _locked(self, timeout_s: float) -> StoreLocked:
        return StoreLocked(
            f"another process writes to the library in {self.data_dir}{self._holder()}; waited {timeout_s:g} s",
            hint="wait until it is done, stop that process, or raise `lock_timeout_s`",
        )

    def _holder(self) -> str:
        try:
            note = cast("dict[str, object]", json.loads(self._info.read_text(encoding="utf-8")))
            return f" (process {note['pid']} on {note['host']}, since {note['since']})"
        except (OSError, ValueError, KeyError, TypeError):
            return ""


# A lock belongs to the process: two stores on one folder in one thread must not wait for each other.
_locks: WeakValueDictionary[str, WriterLock] = WeakValueDictionary()
_guard = threading.Lock()


def writer_lock(data_dir: Path) -> WriterLock:
    """Return the lock of the folder, the same one for the whole process."""
    place = os.path.realpath(data_dir)
    with _guard:
        lock = _locks.get(place)
        if lock is None:
            lock = _locks[place] = WriterLock(Path(place))
        return lock
