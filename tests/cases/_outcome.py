"""What a step led to."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any

import psutil

from lilbee_core.errors import LilbeeError

_EVERY_S = 0.05


@dataclass(slots=True, kw_only=True)
class Outcome:
    """A value or an error, and what it took."""

    value: Any = None
    error: LilbeeError | None = None
    seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict[str, Any])


class Gauge:
    """Measures time, and the memory of this process and its children above what it was at the start."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.extra_mb = 0.0
        self._done = threading.Event()
        self._process = psutil.Process(os.getpid())

    def __enter__(self) -> Gauge:
        self._started = time.monotonic()
        self._before = self._resident()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.seconds = time.monotonic() - self._started
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_EVERY_S):
            self.extra_mb = max(self.extra_mb, (self._resident() - self._before) / 1e6)

    def _resident(self) -> int:
        total = 0
        for one in (self._process, *self._process.children(recursive=True)):
            try:
                total += one.memory_info().rss
            except psutil.Error:
                continue
        return total
