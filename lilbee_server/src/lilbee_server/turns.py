"""One reply at a time: a model that writes two at once takes more than twice as long for both (R258)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from lilbee_core.errors import LilbeeError
from lilbee_core.types import Delta
from lilbee_server.generation import Generation

WAIT_S = 60.0


class Busy(LilbeeError):
    """Others are being answered."""

    default_code = "server.busy"


class Turns:
    """Lets in one after the other, in the order in which they came. Used from one event loop."""

    def __init__(self, wait_s: float = WAIT_S) -> None:
        self._lock = asyncio.Lock()
        self._wait_s = wait_s

    async def generate(
        self, start: Callable[[], Iterator[Delta]], *, on_stop: Callable[[], None] | None = None
    ) -> Generation:
        """Wait for the turn, then begin to write a reply; the turn ends with the reply.

        Raises:
            Busy: If the turn does not come in time.
        """
        try:
            await asyncio.wait_for(self._lock.acquire(), self._wait_s)
        except TimeoutError as error:
            raise Busy(
                f"other replies were being written for {self._wait_s:g} s", hint="Try again in a moment."
            ) from error
        try:
            return Generation(start, on_end=self._lock.release, on_stop=on_stop)
        except BaseException:
            self._lock.release()
            raise
