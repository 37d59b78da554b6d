"""The admission gate: how many documents are being read at once, fixed or found by measurement."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from lilbee_core.ingest._climbing import PROFILES, Climber, Move, Sample
from lilbee_core.ingest._sensors import Sensor, SystemSensor

if TYPE_CHECKING:
    from lilbee_core.protocols import Clock

log = logging.getLogger(__name__)


class StaticGate:
    """Lets a fixed number of documents in, or as many pages as the model servers take at once if that is more."""

    def __init__(self, limit: int, *, slots: Callable[[], int] = lambda: 0) -> None:
        """Take the number; `slots` says what servers take at once, 0 while that is not known."""
        if limit < 1:
            raise ValueError(f"the limit must be positive, got {limit}")
        self._limit = limit
        self._slots = slots

    @property
    def limit(self) -> int:
        """How many documents may be under way."""
        return max(self._limit, self._slots())

    def under_way(self, count: int) -> None:
        """Hear how many documents are under way."""

    def page_done(self) -> None:
        """Hear of a page that was recognized."""

    @contextmanager
    def open(self) -> Generator[None]:
        """Hold the gate open while documents are read."""
        yield


class AdaptiveGate(StaticGate):
    """A gate whose limit follows what the machine makes of it, once pages are read on cards. Threads may share it.

    A thread measures while the gate is open. Whatever goes wrong with that costs only the measurement.
    """

    def __init__(
        self,
        mode: str,
        limit: int,
        *,
        on_cards: Callable[[], bool],
        slots: Callable[[], int] = lambda: 0,
        sensor: Sensor | None = None,
        clock: Clock,
    ) -> None:
        """Take the profile by its name; `on_cards` says whether pages are read by servers on cards."""
        super().__init__(limit, slots=slots)
        self._profile = PROFILES[mode]
        self._on_cards = on_cards
        self._sensor = sensor or SystemSensor()
        self._clock = clock
        self._lock = threading.Lock()
        self._climber: Climber | None = None
        self._count = 0
        self._pages = 0
        self._measured_at: float | None = None
        self._told = False

    @property
    def limit(self) -> int:
        """How many documents may be under way now."""
        climber = self._climber
        return super().limit if climber is None else climber.limit

    def under_way(self, count: int) -> None:
        """Hear how many documents are under way."""
        self._count = count

    def page_done(self) -> None:
        """Count a page."""
        with self._lock:
            self._pages += 1

    @contextmanager
    def open(self) -> Generator[None]:
        """Measure while documents are read."""
        closed = threading.Event()
        thread = threading.Thread(target=self._watch, args=(closed,), name="lilbee-ingest-gate", daemon=True)
        thread.start()
        try:
            yield
        finally:
            closed.set()
            thread.join(self._profile.interval_s)

    def measure(self) -> Move | None:
        """Measure once and set the limit; None where nothing could be measured or no card is at work."""
        try:
            return self._measure()
        except Exception as error:  # noqa: BLE001 - the gate only advises an ingest, and must never end it
            log.log(logging.DEBUG if self._told else logging.WARNING, "the machine could not be measured: %r", error)
            self._told = True
            return None

    def _watch(self, closed: threading.Event) -> None:
        while not closed.wait(self._profile.interval_s):
            self.measure()

    def _measure(self) -> Move | None:
        if not self._on_cards():
            return None
        now = self._clock.monotonic()
        with self._lock:
            pages, self._pages = self._pages, 0
        since, self._measured_at = self._measured_at, now
        reading = self._sensor.read()
        if since is None or now <= since:
            return None  # nothing is known yet of how long these pages took
        if self._climber is None:
            self._climber = Climber(self._profile, start=super().limit)
        sample = Sample(
            pages_per_s=pages / (now - since),
            in_flight=self._count,
            cpu=reading.cpu,
            free_ram=reading.free_ram,
            gpu=reading.gpu,
            gpu_celsius=reading.gpu_celsius,
        )
        move = self._climber.take(sample)
        log.debug("%s: %s at %d documents, %.2f pages/s", self._profile.name, move, self.limit, sample.pages_per_s)
        return move
