"""The real time, for tests that compare it with the times of files."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class RealClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
