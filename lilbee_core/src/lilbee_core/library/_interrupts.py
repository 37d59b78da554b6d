"""Ctrl-C during long work: it ends at a batch edge, and then the interrupt goes on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from lilbee_core.errors import Cancelled
from lilbee_core.protocols import CancelToken


class Interruptible:
    """A token that cancels when the user presses Ctrl-C, and when the caller's own token does."""

    def __init__(self, inner: CancelToken | None) -> None:
        self._inner = inner
        self.interrupted = False

    def check(self) -> None:
        if self.interrupted:
            raise Cancelled("interrupted", hint="Run it again to go on.")
        if self._inner is not None:
            self._inner.check()


@contextmanager
def interruptible(cancel: CancelToken | None) -> Generator[CancelToken]:
    """Give work a token that the first Ctrl-C cancels; once the work has ended, ``KeyboardInterrupt`` is raised.

    A second Ctrl-C does not wait. Only in the main thread, and only where nobody else handles the signal.
    """
    token = Interruptible(cancel)
    if not _is_ours():
        yield token
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        token.interrupted = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, interrupt)
    try:
        yield token
    except Cancelled:
        if not token.interrupted:
            raise
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if token.interrupted:
        raise KeyboardInterrupt


def _is_ours() -> bool:
    return (
        threading.current_thread() is threading.main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    )
