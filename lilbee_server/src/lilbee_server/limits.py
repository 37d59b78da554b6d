"""How much one token, or one address without a token, may ask in a while, and how slowly a request may come in."""

from __future__ import annotations

import asyncio
import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

from litestar.types import Receive, ReceiveMessage

from lilbee_core.errors import LilbeeError

_MOST_NAMES = 10_000
"""So many are remembered; of those before, the ones that asked longest ago may ask as if they never had."""


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float


class Limit:
    """Counts requests by name: after so many in a minute, one more is let in whenever its share of a minute has passed.

    Used from one event loop.

    Args:
        per_minute: How many; 0 is no limit.
        now: A clock, in seconds.
    """

    def __init__(self, per_minute: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._now = now
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def wait_s(self, name: str) -> int:
        """Count a request; return 0 if it is let in, and the seconds after which to try again if it is not."""
        if not self._per_minute:
            return 0
        now = self._now()
        bucket = self._buckets.setdefault(name, _Bucket(self._per_minute, now))
        self._buckets.move_to_end(name)
        if len(self._buckets) > _MOST_NAMES:
            self._buckets.popitem(last=False)
        bucket.left = min(self._per_minute, bucket.left + (now - bucket.at) * self._per_minute / 60)
        bucket.at = now
        if bucket.left < 1:
            return max(1, math.ceil((1 - bucket.left) * 60 / self._per_minute))
        bucket.left -= 1
        return 0


class TooSlow(LilbeeError):
    """A request did not arrive in time."""

    default_code = "server.too_slow"


@dataclass(frozen=True, slots=True)
class Limits:
    """What a server puts up with."""

    requests: Limit
    arrival_s: float

    def receiving(self, receive: Receive) -> Receive:
        """Return what reads a request, and gives up on one whose body does not arrive in time."""
        deadline: float | None = None
        is_here = False

        async def read() -> ReceiveMessage:
            nonlocal deadline, is_here
            if is_here:  # what comes next is that the client leaves, whenever that is
                return await receive()
            deadline = deadline or time.monotonic() + self.arrival_s
            try:
                async with asyncio.timeout(deadline - time.monotonic()):
                    message = await receive()
            except TimeoutError as error:
                told = f"the request did not arrive in {self.arrival_s:g} s"
                raise TooSlow(told, hint="Send it faster, or raise arrival_timeout_s where the server runs.") from error
            is_here = not cast("dict[str, object]", message).get("more_body")
            return message

        return read
