"""How many documents to read at once, by measurement: climbs while that brings pages, gives way where it harms.

A hill climb on smoothed pages per second, with safety before everything else. What differs between the two profiles is
how fast they climb, never how far they go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

BACK_OFF = 0.5
GPU_SATURATED = 97.0
CPU_SOFT, CPU_CRITICAL = 90.0, 97.0
FREE_RAM_SOFT, FREE_RAM_LEAST = 20.0, 10.0
GPU_WARM, GPU_HOT = 80.0, 85.0
MOST = 512
_SURE = 4
"""Samples at one limit from which small changes count."""
_HOLDS = 2
"""Cool-downs that a limit is held before the pages per second of then are what a climb is measured against."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How fast a limit climbs.

    `smoothing` is the weight of the newest measurement, `dead_band` the share of pages per second that counts as no
    change, `latency_veto` how many times its least time a page may take before climbing ends.
    """

    name: str
    interval_s: float
    smoothing: float
    step: Callable[[int], int]
    dead_band: float
    latency_veto: float
    cool_down: int


CONSERVATIVE = Profile(
    name="adaptive-conservative",
    interval_s=5.0,
    smoothing=0.3,
    step=lambda limit: 1,
    dead_band=0.05,
    latency_veto=1.5,
    cool_down=3,
)
AGGRESSIVE = Profile(
    name="adaptive-aggressive",
    interval_s=2.0,
    smoothing=0.5,
    step=lambda limit: 1 + math.isqrt(limit) // 4,
    dead_band=0.03,
    latency_veto=2.0,
    cool_down=2,
)
PROFILES = {one.name: one for one in (CONSERVATIVE, AGGRESSIVE)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What was measured in an interval; percentages and degrees Celsius, None where nothing measures them."""

    pages_per_s: float
    in_flight: int
    cpu: float | None = None
    free_ram: float | None = None
    gpu: float | None = None
    gpu_celsius: float | None = None


class Move(StrEnum):
    """What an interval led to."""

    BACK_OFF = "backed off"
    DOWN = "stepped down"
    HOLD = "held"
    UP = "stepped up"
    KNEE = "held at the knee"


class Climber:
    """Decides on a limit, one sample after the other. Not for use by several threads at once."""

    def __init__(self, profile: Profile, *, start: int, least: int = 1, most: int = MOST) -> None:
        if not 1 <= least <= start <= most:
            raise ValueError(f"1 <= least <= start <= most does not hold: {least}, {start}, {most}")
        self.limit = start
        self._profile = profile
        self._least, self._most = least, most
        self._rate: float | None = None
        self._reference = 0.0
        self._residence_s = math.inf
        self._cooling = 0
        self._held = self._samples = 0

    def take(self, sample: Sample) -> Move:
        """Take what was measured, and change the limit by it."""
        rate = self._smoothed(sample.pages_per_s)
        inflated = self._is_inflated(sample.in_flight, rate)
        if _is_critical(sample):
            # What was reached before the trouble is no measure for the climb after it.
            self._set(max(self._least, int(self.limit * BACK_OFF)), 0.0)
            self._cooling = self._profile.cool_down
            return Move.BACK_OFF
        if _at_least(sample.gpu, GPU_SATURATED) and rate < self._reference * (1 - self._profile.dead_band):
            self._set(max(self._least, self.limit - self._profile.step(self.limit)), rate)
            return Move.DOWN
        if self._cooling:
            self._cooling -= 1
            return Move.HOLD
        if _is_pressed(sample) or inflated or sample.in_flight < self.limit:
            return Move.HOLD
        if rate > self._reference * (1 + self._threshold()):
            self._set(min(self._most, self.limit + self._profile.step(self.limit)), rate)
            return Move.UP
        return self._hold_at_knee(rate)

    def _smoothed(self, pages_per_s: float) -> float:
        """Return the pages per second at this limit. What was measured at the last one would lag behind a step."""
        share = self._profile.smoothing
        known = self._rate
        self._rate = pages_per_s if known is None else share * pages_per_s + (1 - share) * known
        self._samples += 1
        return self._rate

    def _is_inflated(self, in_flight: int, rate: float) -> bool:
        """Say whether a page takes longer than it need, by Little's law: what is under way through pages per second."""
        if rate <= 0 or in_flight < 1:
            return False
        residence_s = in_flight / rate
        self._residence_s = min(self._residence_s, residence_s)
        return residence_s > self._profile.latency_veto * self._residence_s

    def _threshold(self) -> float:
        """Return what counts as an improvement: the dead band, or half of what a step can bring.

        One document more of 40 brings 2.5 % at the best: held against 5 %, a climb would end far below the knee. So
        small a change has to last, or it may be chance.
        """
        if self._samples < _SURE:
            return self._profile.dead_band
        return min(self._profile.dead_band, self._profile.step(self.limit) / self.limit / 2)

    def _set(self, limit: int, rate: float) -> None:
        if limit != self.limit:
            self._rate, self._samples = None, 0
        self.limit, self._reference, self._held = limit, rate, 0

    def _hold_at_knee(self, rate: float) -> Move:
        self._held += 1
        if self._held > _HOLDS * self._profile.cool_down:
            # Pages may have become heavier or lighter: what was reached with others says nothing of these.
            self._reference, self._held = rate, 0
        return Move.KNEE


def _at_least(value: float | None, limit: float) -> bool:
    return value is not None and value >= limit


def _below(value: float | None, limit: float) -> bool:
    return value is not None and value < limit


def _is_critical(sample: Sample) -> bool:
    return (
        _at_least(sample.cpu, CPU_CRITICAL)
        or _below(sample.free_ram, FREE_RAM_LEAST)
        or _at_least(sample.gpu_celsius, GPU_HOT)
    )


def _is_pressed(sample: Sample) -> bool:
    return (
        _at_least(sample.cpu, CPU_SOFT)
        or _below(sample.free_ram, FREE_RAM_SOFT)
        or _at_least(sample.gpu_celsius, GPU_WARM)
    )
