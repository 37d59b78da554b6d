"""The thread that looks after the servers of a fleet."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

log = logging.getLogger(__name__)

PERIOD_S = 1.0


class Monitor:
    """Calls a function about once a second until it is closed. A failure is logged and does not end it."""

    def __init__(self, tick: Callable[[], None], *, period_s: float = PERIOD_S) -> None:
        self._tick = tick
        self._period_s = period_s
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Begin, if it has not begun."""
        with self._lock:
            if self._thread is None and not self._over.is_set():
                self._thread = threading.Thread(target=self._run, name="lilbee-fleet-monitor", daemon=True)
                self._thread.start()

    def close(self) -> None:
        """End it; a call that is under way comes to its end."""
        self._over.set()
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None and thread is not threading.current_thread():
            thread.join()

    def _run(self) -> None:
        while not self._over.wait(self._period_s):
            try:
                self._tick()
            except Exception:
                log.exception("looking after the model servers failed")
