"""A token that cancels."""

from __future__ import annotations

import threading

from lilbee_core.errors import Cancelled


class CancelSwitch:
    """Cancels work from another thread: give it to a verb, then call `cancel`."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to end at its next safe point."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether an end was asked for."""
        return self._event.is_set()

    def check(self) -> None:
        if self._event.is_set():
            raise Cancelled("cancelled on request", hint="Run it again to go on.")
