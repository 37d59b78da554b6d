"""A reply that is written in a thread of its own: who follows it may leave, and others may join."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing, suppress

from lilbee_core.errors import LilbeeError
from lilbee_core.types import Delta, closable

log = logging.getLogger(__name__)


class Generation:
    """Keeps every delta of a reply until it is forgotten, so that whoever joins late gets all of it.

    Args:
        start: Gives the reply; called in the thread.
        on_end: Called in the event loop when the reply has ended, in whatever way.
        on_stop: Called when it is to end, beside that no further piece is taken.
    """

    def __init__(
        self,
        start: Callable[[], Iterator[Delta]],
        *,
        on_end: Callable[[], None] | None = None,
        on_stop: Callable[[], None] | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._changed = asyncio.Event()
        self._deltas: list[Delta] = []
        self._error: BaseException | None = None
        self._over = False
        self._began = time.monotonic()
        self._stopped = threading.Event()
        self._on_end = on_end
        self._on_stop = on_stop
        self._thread = threading.Thread(target=self._write, args=(start,), name="lilbee-reply", daemon=True)
        self._thread.start()

    @property
    def is_over(self) -> bool:
        """Whether nothing more will come."""
        return self._over

    @property
    def is_stopped(self) -> bool:
        """Whether it is to end, or has ended by that: a model that thinks in silence notices at its next word."""
        return self._stopped.is_set()

    @property
    def error(self) -> BaseException | None:
        """What the reply ended with, where that was not its end."""
        return self._error

    @property
    def seconds(self) -> float:
        """How long ago the reply was begun."""
        return time.monotonic() - self._began

    def since(self, seen: int) -> Sequence[Delta]:
        """Return the pieces after the first `seen` that have come so far."""
        return self._deltas[seen:]

    async def more(self, seen: int, *, timeout_s: float) -> bool:
        """Wait until more than `seen` pieces have come, or the reply has ended; False if neither happens in time."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._wait(lambda: len(self._deltas) > seen or self._over)
        except TimeoutError:
            return False
        return True

    def stop(self) -> None:
        """End the reply at its next piece; what arrived stays."""
        self._stopped.set()
        if self._on_stop is not None:
            self._on_stop()

    async def begun(self, timeout_s: float) -> None:
        """Wait for the first piece, at most so long: an error before it can still be told by a status.

        Raises:
            LilbeeError: What kept the reply from beginning.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._wait(lambda: bool(self._deltas) or self._over)
        if self._error is not None and not self._deltas:
            raise self._error

    async def follow(
        self, seen: int = 0, *, heartbeat_s: float | None = None
    ) -> AsyncIterator[tuple[int, Delta | None]]:
        """Yield the deltas after the first `seen` with their numbers, and None where nothing comes for a while.

        Raises:
            LilbeeError: What the reply ended with, after its last piece.
        """
        while True:
            over, fresh = self._over, self._deltas[seen:]
            for delta in fresh:
                seen += 1
                yield seen, delta
            if over and not fresh:
                break
            known = seen
            try:
                async with asyncio.timeout(heartbeat_s):
                    await self._wait(lambda: len(self._deltas) > known or self._over)  # noqa: B023 - awaited here
            except TimeoutError:
                yield seen, None
        if self._error is not None:
            raise self._error

    async def ended(self) -> None:
        """Wait until nothing more will come."""
        await self._wait(lambda: self._over)

    async def _wait(self, until: Callable[[], bool]) -> None:
        while True:
            changed = self._changed
            if until():
                return
            await changed.wait()

    def _write(self, start: Callable[[], Iterator[Delta]]) -> None:
        try:
            with closing(closable(start())) as deltas:
                for delta in deltas:
                    self._deltas.append(delta)
                    self._tell(self._notify)
                    if self._stopped.is_set():
                        break
        except BaseException as error:  # told to those who follow: nobody sees this thread
            if not isinstance(error, LilbeeError):
                log.exception("a reply failed")
            self._error = error
        finally:
            self._over = True
            self._tell(self._end)

    def _tell(self, what: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the server went away meanwhile
            self._loop.call_soon_threadsafe(what)

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _end(self) -> None:
        self._notify()
        if self._on_end is not None:
            self._on_end()
