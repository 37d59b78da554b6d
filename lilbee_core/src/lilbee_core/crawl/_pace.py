"""How fast a site is asked: one request after the other, with a delay that varies, and pauses when it wants one."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from lilbee_core.protocols import Clock

_SLICE_S = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class Manners:
    """The delays of a crawl: between two requests to a site, and after it said that there were too many."""

    mean_delay_s: float = 0.5
    delay_range_s: float = 0.5
    retry: bool = True
    retry_base_min_s: float = 1.0
    retry_base_max_s: float = 3.0
    retry_max_s: float = 30.0
    attempts: int = 3


class Pace:
    """Lets requests to one site pass one after the other. Threads may share it."""

    def __init__(self, manners: Manners, clock: Clock, *, chance: Callable[[], float] = random.random) -> None:
        self._manners = manners
        self._clock = clock
        self._chance = chance
        self._next: dict[str, float] = {}
        self._lock = threading.Lock()

    def wait(self, site: str, check: Callable[[], None], *, at_least_s: float = 0.0) -> None:
        """Wait for the site's next turn. `check` is called meanwhile, and may raise."""
        manners = self._manners
        delay = max(manners.mean_delay_s + self._chance() * manners.delay_range_s, at_least_s)
        with self._lock:
            turn = max(self._clock.monotonic(), self._next.get(site, float("-inf")))
            self._next[site] = turn + delay
        while (left := turn - self._clock.monotonic()) > 0:
            check()
            self._clock.sleep(min(left, _SLICE_S))
        check()

    def hold(self, site: str, seconds: float) -> None:
        """Let no request to a site pass for so long."""
        with self._lock:
            until = self._clock.monotonic() + seconds
            self._next[site] = max(self._next.get(site, until), until)

    def pause_s(self, attempt: int, headers: Mapping[str, str]) -> float | None:
        """Return how long to wait after a try (from 0) that came too early; None when it has to be given up."""
        manners = self._manners
        if not manners.retry or attempt + 1 >= manners.attempts:
            return None
        asked = self._asked_s(headers.get("retry-after", "").strip())
        if asked is not None:
            # Jitter on top, so that all who were sent away do not come back at once.
            return asked + self._chance() if asked <= manners.retry_max_s else None
        base = manners.retry_base_min_s + self._chance() * (manners.retry_base_max_s - manners.retry_base_min_s)
        return float(min(base * 2**attempt, manners.retry_max_s))

    def _asked_s(self, text: str) -> float | None:
        """Return the seconds that ``Retry-After`` asks for, given as a number or as a date."""
        from email.utils import parsedate_to_datetime

        if text.isascii() and text.isdigit():
            return float(text)
        try:
            return max(0.0, (parsedate_to_datetime(text) - self._clock.now()).total_seconds())
        except (TypeError, ValueError, OverflowError):
            return None
