"""Work in the background gives way to what somebody waits for.

A sync and a search in one process share its interpreter and its processors. So a thread of a sync stops between two
small pieces of work (a file, a passage, a text to embed) while a search runs. It does so for a limited share of its
time: however many search, a sync goes on at a quarter of its speed at least.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_WAIT_SHARE = 3.0
"""How long a thread may wait for each second that it worked."""
_MOST_S = 0.25
"""What it may save up: longer than a search takes, and short enough that nobody takes a sync for stuck."""

_behind: ContextVar[bool] = ContextVar("lilbee_background", default=False)


class _Foreground:
    """How many wait for something."""

    def __init__(self) -> None:
        self.active = 0
        self.changed = threading.Condition()

    def enter(self) -> None:
        with self.changed:
            self.active += 1

    def leave(self) -> None:
        with self.changed:
            self.active -= 1
            if not self.active:
                self.changed.notify_all()

    def wait(self, seconds: float) -> None:
        with self.changed:
            self.changed.wait_for(lambda: not self.active, seconds)


class _Turn(threading.local):
    """What one thread may still wait."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.allowed = _MOST_S


_foreground = _Foreground()
_turn = _Turn()


@contextmanager
def foreground() -> Generator[None]:
    """Let work in the background wait until the block ends; in such work itself, do nothing."""
    if _behind.get():
        yield
        return
    _foreground.enter()
    try:
        yield
    finally:
        _foreground.leave()


@contextmanager
def background() -> Generator[None]:
    """Do the work of the block, in this thread and in those that take over its context, behind what others wait for."""
    token = _behind.set(True)
    try:
        yield
    finally:
        _behind.reset(token)


def give_way() -> None:
    """Wait until nobody waits for something else, or for as long as this thread may; call it between small pieces."""
    if not _foreground.active or not _behind.get():
        return
    turn, began = _turn, time.monotonic()
    turn.allowed = min(_MOST_S, turn.allowed + _WAIT_SHARE * (began - turn.since))
    _foreground.wait(turn.allowed)
    turn.since = time.monotonic()
    turn.allowed = max(0.0, turn.allowed - (turn.since - began))
