"""Runs commands and measures all that they start: time on the clock, CPU seconds, memory."""

from __future__ import annotations

import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

MB = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What a command took. `peak_mb` is the most that all of its processes held at one moment (resident)."""

    command: tuple[str, ...]
    returncode: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    out: str
    err: str


class TreeWatch:
    """Looks at a process and its descendants every now and then, from a thread of its own.

    The CPU time of a process that ended and was waited for is known to its parent; what a lost one used is known up
    to the last look.
    """

    def __init__(self, pid: int, *, every_s: float, without: Callable[[psutil.Process], bool] | None = None) -> None:
        self._root = psutil.Process(pid)
        self._every_s = every_s
        self._without = without
        self._stop = threading.Event()
        self._cpu: dict[int, float] = {}
        self._peak = 0
        self._thread = threading.Thread(target=self._work, name="bench-watch", daemon=True)

    def __enter__(self) -> TreeWatch:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._stop.set()
        self._thread.join()

    @property
    def seen_cpu_s(self) -> float:
        """CPU seconds of all processes that were seen, as far as they were seen."""
        return sum(self._cpu.values())

    def take_peak_mb(self) -> float:
        """Return the peak since the last call."""
        peak, self._peak = self._peak, 0
        return peak / MB

    def _work(self) -> None:
        while not self._stop.wait(self._every_s):
            try:
                processes = [self._root, *self._root.children(recursive=True)]
            except psutil.Error:
                return
            self._peak = max(self._peak, sum(map(self._look, processes)))

    def _look(self, process: psutil.Process) -> int:
        try:
            if self._without is not None and self._without(process):
                return 0
            with process.oneshot():
                times = process.cpu_times()
                self._cpu[process.pid] = times.user + times.system
                return int(process.memory_info().rss)
        except psutil.Error:
            return 0


class CommandFailed(AssertionError):
    """A measured command did not do its work, so that its times mean nothing."""


def run(
    command: Sequence[str | Path],
    *,
    env: Mapping[str, str],
    cwd: Path | None = None,
    every_s: float = 0.05,
    check: bool = True,
) -> Run:
    """Run a command to its end and measure it with everything that it starts.

    Raises:
        CommandFailed: If it fails, unless `check` is false.
    """
    words = tuple(map(str, command))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        began = time.perf_counter()
        process = subprocess.Popen(words, env=dict(env), cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        with TreeWatch(process.pid, every_s=every_s) as watch:
            _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        texts = [_text_of(file) for file in (out, err)]
    if check and process.returncode:
        raise CommandFailed(
            f"{' '.join(words)} ended with {process.returncode}:\n{texts[0][-500:]}\n{texts[1][-2000:]}"
        )
    return Run(
        command=words,
        returncode=process.returncode,
        wall_s=wall_s,
        cpu_s=max(usage.ru_utime + usage.ru_stime, watch.seen_cpu_s),
        peak_mb=watch.take_peak_mb(),
        out=texts[0],
        err=texts[1],
    )


def fastest(runs: Sequence[Run]) -> Run:
    """Return the run that the rest of the machine disturbed least."""
    return min(runs, key=lambda one: one.wall_s)


def alternating(commands: Mapping[str, Callable[[], Run]], times: int) -> dict[str, Run]:
    """Run every command `times` times in turn, so that all see the same neighbors; return the fastest of each."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(times):
        for name, command in commands.items():
            runs[name].append(command())
    return {name: fastest(found) for name, found in runs.items()}


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie."""
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


def median(values: Sequence[float]) -> float:
    """Return the middle value."""
    return statistics.median(values)


def folder_bytes(folder: Path) -> int:
    """Return the bytes of all files below a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir())


def _text_of(file: object) -> str:
    file.seek(0)  # type: ignore[attr-defined]
    return file.read().decode("utf-8", "replace")  # type: ignore[attr-defined,no-any-return]
