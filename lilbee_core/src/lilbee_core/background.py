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
"""How long work may wait for each second that it went on."""
_MOST_S = 0.25
"""What it may save up: longer than a search takes, and short enough that nobody takes a sync for stuck."""


class _Turn:
    """What the threads that do one piece of work may still wait, and since when they have worked."""

    def __init__(self) -> None:
        self.since = time.monotonic()
        self.allowed = _MOST_S


class _Foreground:
    """How many wait for something."""

    def __init__(self) -> None:
        self.active = 0
        self._changed = threading.Condition()

    def enter(self) -> None:
        with self._changed:
            self.active += 1

    def leave(self) -> None:
        with self._changed:
            self.active -= 1
            if not self.active:
                self._changed.notify_all()

    def wait(self, turn: _Turn) -> None:
        with self._changed:
            began = time.monotonic()
            turn.allowed = min(_MOST_S, turn.allowed + _WAIT_SHARE * (began - turn.since))
            turn.since = began
            self._changed.wait_for(lambda: not self.active, turn.allowed)
            turn.since = time.monotonic()
            turn.allowed = max(0.0, turn.allowed - (turn.since - began))


_foreground = _Foreground()
_turn: ContextVar[_Turn | None] = ContextVar("lilbee_background", default=None)


@contextmanager
def foreground() -> Generator[None]:
    """Let work in the background wait until the block ends; in such work itself, do nothing."""
    if _turn.get() is not None:
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
    token = _turn.set(_Turn())
    try:
        yield
    finally:
        _turn.reset(token)


def give_way() -> None:
    """Wait until nobody waits for something else, or for as long as this work may; call it between small pieces."""
    turn = _turn.get() if _foreground.active else None
    if turn is not None:
        _foreground.wait(turn)
