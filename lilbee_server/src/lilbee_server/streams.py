"""Events of a job as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Protocol

from litestar.response.sse import ServerSentEventMessage

from lilbee_core.events import Event

HEARTBEAT_S = 10.0
"""How long a stream is silent at most: what lies between a client and the server closes silent connections."""
PATIENCE_S = 5.0
"""How long a stream waits for its first word before it begins: so long an error is told by a status."""


class Followed(Protocol):
    """A job, as far as a stream knows it."""

    def since(self, seen: int, *, timeout_s: float | None = None) -> tuple[Sequence[Event], int, bool]: ...

    def to_dict(self) -> dict[str, object]: ...


def job_events(job: Followed, *, seen: int = 0, heartbeat_s: float = HEARTBEAT_S) -> Iterator[ServerSentEventMessage]:
    """Yield the events of a job after the first `seen`, a comment where nothing happens, and its record at the end.

    The id of each message counts the events, so that a client that was cut off goes on where it was.
    """
    over = False
    while not over:
        before = seen
        events, seen, over = job.since(before, timeout_s=heartbeat_s)
        if not events and not over:
            yield ServerSentEventMessage(comment="still at work", data=None)
        for number, event in enumerate(events, start=seen - len(events) + 1):
            yield ServerSentEventMessage(id=number, event=event.name, data=_json(event.to_dict()))
    yield ServerSentEventMessage(event="JobFinished", data=_json(job.to_dict()))


def _json(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
