"""The only place that starts model servers: each in a process group of its own, tied to this process's life."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from concurrent.futures import Future
from pathlib import Path
from queue import SimpleQueue
from typing import IO

from lilbee_core.fleet import _logs
from lilbee_core.protocols import Launch
from lilbee_core.settings import environment

log = logging.getLogger(__name__)

_HIDDEN = ("LILBEE_", "LLAMA_ARG_", "LLAMA_API_KEY", "HF_TOKEN")
"""Variables that a server must not see: our keys, and settings that would change what the plan has decided."""

# Asks the system to kill this process when its parent is gone (which it may be already), then becomes the program. Run
# by a Python of its own: code between fork and exec is not safe in a process with threads.
_TETHER = """
import ctypes, os, sys
ctypes.CDLL(None).prctl(1, 9, 0, 0, 0)
if os.getppid() != int(sys.argv[1]): sys.exit(1)
os.execvp(sys.argv[2], sys.argv[2:])
"""


class SystemLauncher:
    """Starts servers as processes. Threads may share it; `close` it after the processes have ended.

    On Linux a process that does not outlive us is killed by the system when we die, however we die. The system takes
    the thread that started it for its parent, so all are started by one thread that lives as long as the launcher.
    """

    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self._env = env
        self._wanted: SimpleQueue[tuple[Launch, Future[SystemProcess]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self, launch: Launch) -> SystemProcess:
        """Start a process.

        Raises:
            OSError: If the program cannot be run.
        """
        if sys.platform != "linux" or launch.outlives:
            return self._start(launch)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="lilbee-fleet-launcher", daemon=True)
                self._thread.start()
        started: Future[SystemProcess] = Future()
        self._wanted.put((launch, started))
        return started.result()

    def close(self) -> None:
        """End the thread that starts processes; what it started and still runs ends with it."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            self._wanted.put(None)
            thread.join()

    def _serve(self) -> None:
        while (wanted := self._wanted.get()) is not None:
            launch, started = wanted
            try:
                started.set_result(self._start(launch))
            except BaseException as error:  # noqa: BLE001 - whatever it is, the one who asked must hear of it
                started.set_exception(error)

    def _start(self, launch: Launch) -> SystemProcess:
        command = list(launch.command)
        if sys.platform == "linux" and not launch.outlives:
            command = [sys.executable, "-I", "-S", "-c", _TETHER, str(os.getpid()), *command]
        _require_program(launch.command[0])
        with contextlib.ExitStack() as stack:
            output: int | IO[bytes] = subprocess.DEVNULL
            if launch.log_file is not None:
                launch.log_file.parent.mkdir(parents=True, exist_ok=True)
                # Appending, so that the log can be cut while the server writes.
                output = stack.enter_context(launch.log_file.open("ab"))
            popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=os.path.abspath(os.sep),
                env=child_environment(launch.environment, self._env),
                start_new_session=sys.platform != "win32",
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0)
                | getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
        return SystemProcess(popen, launch.log_file)


def _require_program(name: str) -> None:
    """Raise OSError if a program cannot be run, which the process that becomes it could tell its log alone."""
    path = shutil.which(name)
    if path is None:
        number = errno.EACCES if Path(name).is_file() else errno.ENOENT
        raise OSError(number, os.strerror(number), name)


def child_environment(added: tuple[tuple[str, str], ...], env: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return our environment without what a server must not see, and with what its launch adds."""
    ours = {key: value for key, value in environment(env).items() if not key.upper().startswith(_HIDDEN)}
    return {**ours, **dict(added)}


class SystemProcess:
    """A process that we started, and all that it started. Threads may share it."""

    def __init__(self, popen: subprocess.Popen[bytes], log_file: Path | None) -> None:
        self._popen = popen
        self._log_file = log_file
        self._lock = threading.Lock()

    @property
    def pid(self) -> int:
        return self._popen.pid

    def poll(self) -> int | None:
        with self._lock:
            if self._popen.returncode is None and self._has_ended():
                # What it started must not stay behind. As long as it is not waited for, its id is nobody else's.
                self._signal_group(_KILL)
            return self._popen.poll()

    def terminate(self) -> None:
        with self._lock:
            if self._popen.returncode is None:
                self._signal_group(signal.SIGTERM)

    def kill(self) -> None:
        with self._lock:
            if self._popen.returncode is None:
                self._signal_group(_KILL)

    def wait(self, timeout_s: float) -> int | None:
        if self.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                if _CAN_LOOK:
                    _wait_for_end(self._popen.pid, timeout_s)
                else:
                    self._popen.wait(timeout_s)
        return self.poll()

    def log_tail(self, lines: int = 50) -> str:
        return _logs.tail(self._log_file, lines)

    def detach(self) -> None:
        with self._lock:
            # Whoever lets a process run on does not want to be warned of it when its handle goes.
            if self._popen.poll() is None:
                self._popen.returncode = 0

    def _has_ended(self) -> bool:
        return _CAN_LOOK and _has_ended(self._popen.pid)

    def _signal_group(self, number: int) -> None:
        if sys.platform == "win32":
            (self._popen.kill if number == _KILL else self._popen.terminate)()
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._popen.pid, number)


_KILL: int = getattr(signal, "SIGKILL", signal.SIGTERM)
_CAN_LOOK = hasattr(os, "waitid")
"""Whether one can see that a child has ended and leave it its id (not on Windows, nor on macOS before Python 3.13)."""


def _has_ended(pid: int) -> bool:
    if sys.platform == "win32":
        return False
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _wait_for_end(pid: int, timeout_s: float) -> None:
    deadline, step = time.monotonic() + timeout_s, 0.001
    while not _has_ended(pid) and (left := deadline - time.monotonic()) > 0:
        time.sleep(min(step, left))
        step = min(step * 2, 0.05)
