"""The time of this machine."""

from __future__ import annotations

import time
from datetime import datetime


class SystemClock:
    """Real time."""

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
