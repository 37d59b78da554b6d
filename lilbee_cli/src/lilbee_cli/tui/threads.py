"""Work beside the screen: in threads of its own, with what comes of it handed back to the screen's."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from textual.message import Message
from textual.message_pump import MessagePump

T = TypeVar("T")


class Deliver(Message, bubble=False):
    """Carries a call into the thread of the screen."""

    def __init__(self, apply: Callable[[], None]) -> None:
        super().__init__()
        self.apply = apply


def hand_over(to: MessagePump, apply: Callable[[], None]) -> None:
    """Have `apply` called in the thread of the screen; where that has ended, nobody is left to see it."""
    try:
        to.post_message(Deliver(apply))
    except RuntimeError:  # the loop is closed
        return


@dataclass(frozen=True, slots=True)
class Request:
    """Something to work out, and who gets what came of it."""

    work: Callable[[], Any]
    then: Callable[[Any], None]
    failed: Callable[[Exception], None]


class Latest:
    """Works on the newest request. One that is overtaken while it waits never runs; its result, if it ran, is dropped.

    The thread is started by the first request and is a daemon: what hangs must not keep the program from ending.
    """

    def __init__(self, to: MessagePump, name: str) -> None:
        self._to = to
        self._name = name
        self._changed = threading.Condition()
        self._next: Request | None = None
        self._thread: threading.Thread | None = None
        self._closed = False
        self._busy = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing runs or waits."""
        with self._changed:
            return not self._busy and self._next is None

    def run(self, work: Callable[[], T], then: Callable[[T], None], failed: Callable[[Exception], None]) -> None:
        """Work this out, in place of whatever waits."""
        with self._changed:
            self._next = Request(work, then, failed)
            if self._thread is None and not self._closed:
                self._thread = threading.Thread(target=self._loop, name=f"lilbee-{self._name}", daemon=True)
                self._thread.start()
            self._changed.notify()

    def forget(self) -> None:
        """Drop what waits, and the result of what runs."""
        self.run(lambda: None, lambda _: None, lambda _: None)

    def close(self) -> None:
        """Take no more requests. What runs is left to end by itself."""
        with self._changed:
            self._closed = True
            self._next = None
            self._changed.notify()

    def _loop(self) -> None:
        while True:
            with self._changed:
                self._busy = False
                self._changed.wait_for(lambda: self._next is not None or self._closed)
                request, self._next = self._next, None
                self._busy = request is not None
            if request is None:
                return
            self._answer(request)

    def _answer(self, request: Request) -> None:
        try:
            result = request.work()
        except Exception as error:  # noqa: BLE001 - told to the user by whoever asked
            self._tell(partial(request.failed, error))
        else:
            self._tell(partial(request.then, result))

    def _tell(self, apply: Callable[[], None]) -> None:
        hand_over(self._to, lambda: None if self._overtaken else apply())

    @property
    def _overtaken(self) -> bool:
        with self._changed:
            return self._closed or self._next is not None
