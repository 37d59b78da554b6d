"""Three steps side by side: read and cut, embed, write. The caller's thread writes.

Queues between the steps are bounded by documents and by characters, so memory stays flat however
many files there are. A batch ends after so many documents, characters or seconds.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from lilbee_core.ingest._prepare import Prepared
from lilbee_core.ingest._vectors import VectorSource
from lilbee_core.protocols import IndexedDocument

T = TypeVar("T")
_POLL_S = 0.2
_PATIENCE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """When a batch is full."""

    documents: int = 64
    seconds: float = 5.0
    chars: int = 8_000_000
    in_flight_chars: int = 64_000_000


@dataclass(slots=True)
class _Failed:
    error: BaseException


@dataclass(slots=True)
class _Budget:
    """Characters that may be in flight. One document larger than the limit passes when nothing else does."""

    limit: int
    used: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, weight: int, stopped: threading.Event) -> bool:
        with self.changed:
            while self.used and self.used + weight > self.limit:
                if stopped.is_set():
                    return False
                self.changed.wait(_POLL_S)
            self.used += weight
            return True

    def give(self, weight: int) -> None:
        with self.changed:
            self.used -= weight
            self.changed.notify_all()


_Batch = tuple[list[Prepared], list[IndexedDocument]]


class Pipeline:
    """Runs `produce` in a thread and embeds in another; `batches()` yields what is ready to write."""

    def __init__(
        self, produce: Callable[[Callable[[Prepared], bool]], None], vectors: VectorSource, limits: BatchLimits
    ) -> None:
        self._produce = produce
        self._vectors = vectors
        self._limits = limits
        self._stopped = threading.Event()
        self._budget = _Budget(limits.in_flight_chars)
        self._prepared: queue.Queue[Prepared | _Failed | None] = queue.Queue(2 * limits.documents)
        self._ready: queue.Queue[_Batch | _Failed | None] = queue.Queue(1)

    def stop(self) -> None:
        """Ask for an end at the next document; what is already prepared is still yielded."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        """Whether an end was asked for."""
        return self._stopped.is_set()

    def batches(self) -> Iterator[tuple[list[Prepared], list[IndexedDocument]]]:
        """Yield batches, as prepared and as they are stored, until all documents are through.

        Raises:
            Exception: What the producer raised, after everything before it was yielded.
        """
        threads = [
            threading.Thread(target=self._read, name="lilbee-read", daemon=True),
            threading.Thread(target=self._embed, name="lilbee-embed", daemon=True),
        ]
        for thread in threads:
            thread.start()
        finished = False
        try:
            while (item := self._get(self._ready)) is not None:
                if isinstance(item, _Failed):
                    raise item.error
                yield item
                self._budget.give(sum(one.weight for one in item[0]))
            finished = True
        finally:
            self._stopped.set()
            if not finished:
                self._drain(threads)
            for thread in threads:
                # A reader that waits for a slow file is left to end by itself: it is a daemon and writes nothing.
                thread.join(None if finished else _PATIENCE_S)

    def _read(self) -> None:
        try:
            self._produce(self._offer)
        except BaseException as error:  # noqa: BLE001 - raised again in the writer's thread
            self._prepared.put(_Failed(error))
        finally:
            self._prepared.put(None)

    def _offer(self, one: Prepared) -> bool:
        """Hand a document on; False means that the producer should stop."""
        if self._stopped.is_set() or not self._budget.take(one.weight, self._stopped):
            return False
        while not self._stopped.is_set():
            try:
                self._prepared.put(one, timeout=_POLL_S)
            except queue.Full:
                continue
            return True
        self._budget.give(one.weight)
        return False

    def _embed(self) -> None:
        try:
            self._collect()
        except BaseException as error:  # noqa: BLE001 - raised again in the writer's thread
            self._stopped.set()
            self._ready.put(_Failed(error))
        finally:
            self._ready.put(None)

    def _collect(self) -> None:
        batch: list[Prepared] = []
        deadline = 0.0
        while True:
            item = self._next(deadline if batch else None)
            if isinstance(item, Prepared):
                deadline = deadline if batch else time.monotonic() + self._limits.seconds
                batch.append(item)
            if batch and (not isinstance(item, Prepared) or self._full(batch) or time.monotonic() >= deadline):
                self._ready.put((batch, self._vectors.complete(batch)))
                batch = []
            if isinstance(item, _Failed):
                self._ready.put(item)
                return
            if item is None:
                return

    def _next(self, deadline: float | None) -> Prepared | _Failed | bool | None:
        """Return the next item; True when the deadline passed without one."""
        if deadline is None:
            return self._get(self._prepared)
        try:
            return self._prepared.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return True

    def _full(self, batch: list[Prepared]) -> bool:
        if len(batch) >= self._limits.documents:
            return True
        return sum(len(one.text.text) for one in batch) >= self._limits.chars

    @staticmethod
    def _get(source: queue.Queue[T]) -> T:
        # A timeout keeps the waiting thread open to Ctrl-C on every system.
        while True:
            try:
                return source.get(timeout=_POLL_S)
            except queue.Empty:
                continue

    def _drain(self, threads: list[threading.Thread]) -> None:
        """Empty the queues so that blocked threads can end."""
        end = time.monotonic() + _PATIENCE_S
        while any(thread.is_alive() for thread in threads) and time.monotonic() < end:
            for source in (self._prepared, self._ready):
                try:
                    source.get(timeout=0.01)
                except queue.Empty:
                    continue
