"""What long work reports while it runs, as frozen values given to an `EventSink`.

A sink is a plain callable. Progress bars, server-sent events and MCP progress are three sinks; one
that raises is logged once and dropped.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TypeAlias

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events."""

    @property
    def name(self) -> str:
        """The event's kind, as front ends name it (``DocumentIndexed``)."""
        return type(self).__name__

    def to_dict(self) -> dict[str, object]:
        return {"event": self.name, **{one.name: getattr(self, one.name) for one in fields(self)}}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncStarted(Event):
    """A sync begins."""

    collections: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPlanned(Event):
    """The walk is over: this many files will be read."""

    to_read: int
    unchanged: int
    removed: int
    moved: int
    bytes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentIndexed(Event):
    """A document is in the index and searchable."""

    collection: str
    path: str
    chunks: int
    updated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSkipped(Event):
    """A file was left out, and why."""

    collection: str
    path: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFailed(Event):
    """A file could not be read, and why."""

    collection: str
    path: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRemoved(Event):
    """A document left the index."""

    collection: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentMoved(Event):
    """A document keeps its identity under a new path."""

    collection: str
    path: str
    old_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress(Event):
    """How far a job is. `total` is None while unknown; `unit` is ``files``, ``chunks``, ``pages`` or ``bytes``."""

    phase: str
    done: int
    total: int | None = None
    unit: str = "files"


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchCommitted(Event):
    """A batch of documents became durable and searchable."""

    documents: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UpkeepFinished(Event):
    """The store compacted itself or rebuilt its indexes."""

    seconds: float
    actions: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncFinished(Event):
    """A sync ended; the report has the details."""

    added: int
    updated: int
    removed: int
    failed: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchStarted(Event):
    """Changes of these collections are noticed from now on; in those that are `polled`, by looking now and then."""

    collections: tuple[str, ...]
    polled: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangesSeen(Event):
    """Files changed, and it has been quiet since: a sync of these collections follows."""

    collections: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchFailed(Event):
    """Watching met with an error, and goes on. It is tried again after `retry_s`; without, when something changes."""

    code: str
    reason: str
    hint: str
    retry_s: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlStarted(Event):
    """A crawl begins, or goes on where it was stopped."""

    urls: tuple[str, ...]
    resumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFetched(Event):
    """A page of the web was fetched. `state` is ``new``, ``updated``, ``unchanged`` or ``duplicate``."""

    url: str
    path: str
    state: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSkipped(Event):
    """A page was left out, and why."""

    url: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PageFailed(Event):
    """A page could not be had, and why."""

    url: str
    code: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlFinished(Event):
    """A crawl ended; the report has the details."""

    new: int
    updated: int
    unchanged: int
    failed: int
    seconds: float
    cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFinished(Event):
    """A search stage ended."""

    stage: str
    status: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStarted(Event):
    """A managed model server is ready."""

    role: str
    endpoint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStopped(Event):
    """A managed model server is gone. `reason` is ``closed``, ``idle``, ``swap``, ``reload`` or ``died``."""

    role: str
    server: str
    reason: str = "closed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned(Event):
    """Something the user should know, without ending the work."""

    message: str


EventSink: TypeAlias = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Take an event and do nothing."""


class SafeSink:
    """Hands events to sinks one by one; a sink that raises is logged once and dropped. Thread-safe."""

    def __init__(self, *sinks: EventSink | None) -> None:
        self._sinks: list[EventSink] = [sink for sink in sinks if sink is not None]
        self._lock = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self._lock:
            sinks = list(self._sinks)
        for sink in sinks:
            try:
                sink(event)
            except Exception:
                log.exception("event sink %r failed and is dropped", sink)
                with self._lock:
                    if sink in self._sinks:
                        self._sinks.remove(sink)
