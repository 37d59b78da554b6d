"""A worker process as the pool sees it: start, ask, kill."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from typing import IO, cast

from lilbee_core.extract._wire import Reply, Setup, Task, receive, send

log = logging.getLogger(__name__)

_START_LIMIT_S = 60.0
_PARTING_S = 2.0
_NOISE_BYTES = 8192
# The worker sees the modules that this process sees, whatever its working directory, and none besides.
_BOOT = "import sys; sys.path[:] = sys.argv[1:]; from lilbee_core.extract._worker import main; main()"


class Loss(StrEnum):
    """Why a worker is gone."""

    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    STOPPED = "stopped"
    NOT_STARTED = "not started"


class WorkerLost(Exception):
    """The worker ended before it answered."""

    def __init__(self, loss: Loss, noise: str = "") -> None:
        super().__init__(str(loss))
        self.loss = loss
        self.noise = noise


class WorkerProcess:
    """One child process. One thread asks; others may only call `expired`, `stop` and `memory_mb`."""

    def __init__(self, setup: Setup, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._setup = setup
        self._clock = clock
        self._popen: subprocess.Popen[bytes] | None = None
        self._deadline: float | None = None
        self._reason: Loss | None = None
        self._noise = bytearray()
        self._lock = threading.Lock()
        self._listener: threading.Thread | None = None
        self.files = 0

    @property
    def pid(self) -> int | None:
        """Process id while the process runs."""
        return self._popen.pid if self._popen is not None and self.running else None

    @property
    def running(self) -> bool:
        return self._popen is not None and self._popen.poll() is None

    def start(self) -> None:
        """Start the process and wait until it is up.

        Raises:
            WorkerLost: If it does not come up.
        """
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-P", "-c", _BOOT, *module_path()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=os.path.abspath(os.sep),
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, ValueError) as error:
            raise WorkerLost(Loss.NOT_STARTED, str(error)) from error
        self._listener = threading.Thread(target=self._listen, name="lilbee-extract-noise", daemon=True)
        self._listener.start()
        try:
            self._exchange(self._setup, _START_LIMIT_S)
        except WorkerLost as lost:
            loss = lost.loss if lost.loss is Loss.STOPPED else Loss.NOT_STARTED
            raise WorkerLost(loss, lost.noise) from lost

    def ask(self, task: Task, *, timeout_s: float) -> Reply:
        """Have one file read.

        Raises:
            WorkerLost: If the worker crashed, took too long, or was stopped.
        """
        self.files += 1
        return self._exchange(task, timeout_s)

    def _exchange(self, message: object, timeout_s: float) -> Reply:
        popen = self._popen
        if popen is None or popen.stdin is None or popen.stdout is None:
            raise WorkerLost(Loss.STOPPED)
        self._deadline = self._clock() + timeout_s
        try:
            send(popen.stdin, message)
            return cast("Reply", receive(popen.stdout))
        except (EOFError, OSError, ValueError) as error:
            raise self._lost() from error
        finally:
            self._deadline = None

    def _lost(self) -> WorkerLost:
        self._kill()
        noise = bytes(self._noise).decode("utf-8", "replace")
        if self._reason is not None:
            return WorkerLost(self._reason, noise)
        # Native code aborts when an allocation fails; Python has no say in it.
        loss = Loss.MEMORY if "memory allocation of" in noise else Loss.CRASH
        return WorkerLost(loss, noise)

    def expire(self, *, memory_mb: int | None) -> None:
        """Kill the process when its file takes too long, or (where `memory_mb` is given) too much memory."""
        deadline = self._deadline
        if deadline is None:
            return
        if self._clock() > deadline:
            self._end(Loss.TIMEOUT)
        elif memory_mb is not None and self.memory_mb() > memory_mb:
            self._end(Loss.MEMORY)

    def memory_mb(self) -> float:
        """Resident memory of the process."""
        import psutil

        if self._popen is None:
            return 0.0
        try:
            return float(psutil.Process(self._popen.pid).memory_info().rss) / 1024**2
        except psutil.Error:
            return 0.0

    def stop(self) -> None:
        """End the process at once; a file that it reads is given up."""
        self._end(Loss.STOPPED)

    def _end(self, reason: Loss) -> None:
        with self._lock:
            self._reason = self._reason or reason
        self._kill()

    def _kill(self) -> None:
        popen = self._popen
        if popen is None:
            return
        with self._lock:
            if popen.returncode is None:
                _kill_group(popen)
        with contextlib.suppress(subprocess.TimeoutExpired):
            popen.wait(timeout=5)
        if self._listener is not None:
            self._listener.join(timeout=1)

    def close(self) -> None:
        """End the process, in peace if it reads nothing, and close its pipes."""
        if self._popen is not None and self._deadline is None and self._reason is None:
            _close_quietly(self._popen.stdin)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._popen.wait(timeout=_PARTING_S)
        self._end(Loss.STOPPED)
        if self._popen is not None:
            for stream in (self._popen.stdin, self._popen.stdout, self._popen.stderr):
                _close_quietly(stream)
        self._popen = None

    def _listen(self) -> None:
        stream = self._popen.stderr if self._popen else None
        if stream is None:
            return
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(stream.fileno(), 4096):
                self._noise += chunk
                del self._noise[:-_NOISE_BYTES]


def _kill_group(popen: subprocess.Popen[bytes]) -> None:
    if sys.platform == "win32":
        popen.kill()
        return
    # The worker leads a group of its own, so that what it started ends with it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(popen.pid, signal.SIGKILL)


def _close_quietly(stream: IO[bytes] | None) -> None:
    if stream is not None:
        with contextlib.suppress(OSError, ValueError):
            stream.close()


def module_path() -> list[str]:
    """Return this process's module search path with the working directory, where it counts, by its full name."""
    try:
        here: str | None = os.getcwd()
    except OSError:
        here = None
    resolved = [os.path.join(here, entry) if here and not os.path.isabs(entry) else entry for entry in sys.path]
    return [entry for entry in resolved if os.path.isabs(entry)]
