"""Three steps side by side: read and cut, embed, write. The caller's thread writes.

What lies between the steps is bounded by its size, so memory stays flat however many files there are. A batch ends
after so many documents, characters, chunks or seconds. A document too big for one batch comes alone, in parts.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from types import TracebackType
from typing import TypeAlias, TypeVar

from lilbee_core.background import background, give_way
from lilbee_core.ingest._prepare import Prepared
from lilbee_core.ingest._vectors import VectorSource
from lilbee_core.protocols import IndexedDocument

T = TypeVar("T")
_POLL_S, _BRIEF_S = 0.1, 0.02
_PATIENCE_S = 3.0
"""How long a cancelled pipeline is given to hand over what is under way."""
_NICENESS = 5
"""Who searches meanwhile gets three times the share of the processor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchLimits:
    """When a batch is full, and how much may be under way."""

    documents: int = 64
    seconds: float = 5.0
    chars: int = 4_000_000
    part_chunks: int = 2048
    in_flight_bytes: int = 96_000_000


@dataclass(frozen=True, slots=True)
class Broken:
    """A big document that failed after some of its parts were handed on."""

    one: Prepared
    error: Exception


Item: TypeAlias = "Prepared | Broken"
Offer: TypeAlias = Callable[[Item], bool]


@dataclass(frozen=True, slots=True)
class Batch:
    """What is written in one go: whole documents, or one part of a big one, or the news that the rest is missing."""

    prepared: tuple[Prepared, ...]
    documents: tuple[IndexedDocument, ...]
    broken: Broken | None = None

    @property
    def is_part(self) -> bool:
        """Whether this is a part of a document."""
        return self.broken is not None or not self.prepared[0].whole


@dataclass(slots=True)
class _Failed:
    error: BaseException


@dataclass(slots=True)
class _Budget:
    """Bytes that may be under way. One document larger than the limit passes when nothing else does."""

    limit: int
    used: int = 0
    wanted: bool = False
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, weight: int, stopped: Callable[[], bool]) -> bool:
        with self.changed:
            while self.used and self.used + weight > self.limit:
                if stopped():
                    return False
                self.wanted = True
                self.changed.wait(_POLL_S)
            self.wanted = False
            self.used += weight
            return True

    def is_held_by(self, weight: int) -> bool:
        """Whether somebody waits for what is used up by so much alone."""
        return self.wanted and self.used <= weight

    def give(self, weight: int) -> None:
        with self.changed:
            self.used -= weight
            self.changed.notify_all()


class Pipeline:
    """Runs `produce` in a thread and embeds in another; `batches()` yields what is ready to write.

    Use it in a ``with`` statement: leaving the block ends both threads. Once `cancelled` is true, what was
    prepared by then is still yielded, and a producer that is stuck is left behind; it writes nothing.
    """

    def __init__(
        self,
        produce: Callable[[Offer], None],
        vectors: VectorSource,
        limits: BatchLimits,
        *,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._produce = produce
        self._vectors = vectors
        self._limits = limits
        self._cancelled = cancelled
        self._stop = threading.Event()
        self._patience_s = _PATIENCE_S
        self._budget = _Budget(limits.in_flight_bytes)
        self._prepared: queue.Queue[Item | _Failed | None] = queue.Queue(2 * limits.documents)
        self._ready: queue.Queue[Batch | _Failed | None] = queue.Queue(1)
        self._threads = [
            threading.Thread(target=self._read, name="lilbee-read", daemon=True),
            threading.Thread(target=self._embed, name="lilbee-embed", daemon=True),
        ]

    def __enter__(self) -> Pipeline:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        end = time.monotonic() + self._patience_s
        while any(thread.is_alive() for thread in self._threads) and time.monotonic() < end:
            # Emptying the queues lets a thread go on that waits to put something.
            for source in (self._prepared, self._ready):
                try:
                    source.get(timeout=0.01)
                except queue.Empty:
                    continue

    @property
    def stopped(self) -> bool:
        """Whether the threads should end at the next document."""
        return self._stop.is_set() or self._cancelled()

    def batches(self) -> Iterator[Batch]:
        """Yield batches until all documents are through.

        Raises:
            Exception: What the producer raised, after everything before it was yielded.
        """
        deadline: float | None = None
        while True:
            try:
                # A timeout keeps the waiting thread open to Ctrl-C on every system.
                item = self._ready.get(timeout=_POLL_S)
            except queue.Empty:
                if deadline is None and self._cancelled():
                    deadline = time.monotonic() + _PATIENCE_S
                if deadline is not None and time.monotonic() > deadline:
                    self._patience_s = 0.0
                    return
                continue
            if item is None:
                return
            if isinstance(item, _Failed):
                raise item.error
            give_way()
            yield item
            self._budget.give(sum(one.weight for one in item.prepared))

    # ------------------------------------------------------------------ reading

    @background()
    def _read(self) -> None:
        _step_back()
        try:
            self._produce(self._offer)
        except BaseException as error:  # noqa: BLE001 - raised again in the writer's thread
            self._put(self._prepared, _Failed(error))
        finally:
            self._put(self._prepared, None)

    def _offer(self, one: Item) -> bool:
        """Hand a document on; False means that the producer should stop."""
        give_way()
        weight = one.weight if isinstance(one, Prepared) else 0
        if self.stopped or not self._budget.take(weight, lambda: self.stopped):
            return False
        if self._put(self._prepared, one):
            return True
        self._budget.give(weight)
        return False

    def _put(self, target: queue.Queue[T], item: T) -> bool:
        """Put an item as soon as there is room; nobody waits for it any more once the pipeline was left."""
        while not self._stop.is_set():
            try:
                target.put(item, timeout=_POLL_S)
            except queue.Full:
                continue
            return True
        return False

    # ------------------------------------------------------------------ embedding

    @background()
    def _embed(self) -> None:
        _step_back()
        try:
            self._collect()
        except BaseException as error:  # noqa: BLE001 - raised again in the writer's thread
            self._put(self._ready, _Failed(error))
        finally:
            self._put(self._ready, None)

    def _collect(self) -> None:
        batch: list[Prepared] = []
        deadline = 0.0
        while True:
            item = self._next(deadline if batch else None, sum(one.weight for one in batch))
            if isinstance(item, Prepared) and item.whole:
                deadline = deadline if batch else time.monotonic() + self._limits.seconds
                batch.append(item)
                if not self._full(batch) and time.monotonic() < deadline:
                    continue
                item = True
            if batch:
                self._put(self._ready, Batch(tuple(batch), tuple(self._vectors.complete(batch))))
                batch = []
            if isinstance(item, Prepared):
                self._put(self._ready, Batch((item,), tuple(self._vectors.pieces(item))))
            elif isinstance(item, Broken):
                self._put(self._ready, Batch((), (), broken=item))
            elif isinstance(item, _Failed):
                self._put(self._ready, item)
                return
            elif item is None or self._stop.is_set():
                return

    def _next(self, deadline: float | None, held: int) -> Item | _Failed | bool | None:
        """Return the next item; True when the batch should wait for none: it is time, or it fills the budget itself."""
        while not self._stop.is_set():
            wait = _POLL_S if deadline is None else min(_BRIEF_S, max(0.0, deadline - time.monotonic()))
            try:
                return self._prepared.get(timeout=wait)
            except queue.Empty:
                if deadline is None:
                    continue
                if time.monotonic() >= deadline or self._cancelled() or self._budget.is_held_by(held):
                    return True
        return None

    def _full(self, batch: list[Prepared]) -> bool:
        return (
            len(batch) >= self._limits.documents
            or sum(len(one.chunks) for one in batch) >= self._vectors.batch_chunks
            or sum(len(one.text.text) for one in batch) >= self._limits.chars
        )


def _step_back() -> None:
    """Let others go first from here on in this thread, and in threads and processes that it starts.

    Only Linux gives a thread a priority of its own.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            thread = threading.get_native_id()
            os.setpriority(os.PRIO_PROCESS, thread, os.getpriority(os.PRIO_PROCESS, thread) + _NICENESS)
