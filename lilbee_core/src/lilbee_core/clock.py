"""The time of this machine."""

from __future__ import annotations

import time
from datetime import datetime


class SystemClock:
    """Time as the machine tells it, in the user's zone."""

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def monotonic(self) -> float:
        # The finer of the two that never go back: on Windows the other one counts in steps of 16 ms.
        return time.perf_counter()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
