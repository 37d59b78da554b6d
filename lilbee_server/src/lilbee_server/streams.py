"""Events of a job, and pieces of a reply, as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from litestar.response.sse import ServerSentEventMessage

from lilbee_core.errors import LilbeeError
from lilbee_core.events import Event
from lilbee_core.tokens import Grant
from lilbee_core.types import Delta
from lilbee_server.feeds import Feeds
from lilbee_server.generation import Generation

if TYPE_CHECKING:
    from lilbee_core.jobs import Job

HEARTBEAT_S = 10.0
"""How long a stream is silent at most: what lies between a client and the server closes silent connections."""
PATIENCE_S = 5.0
"""How long a stream waits for its first word before it begins: so long an error is told by a status."""


def _as_it_is(event: Event) -> tuple[str, dict[str, object]]:
    return event.name, event.to_dict()


async def job_events(
    feeds: Feeds,
    job: Job,
    *,
    seen: int = 0,
    heartbeat_s: float = HEARTBEAT_S,
    tell: Callable[[Event], tuple[str, dict[str, object]] | None] = _as_it_is,
) -> AsyncIterator[ServerSentEventMessage]:
    """Yield the events of a job after the first `seen`, a comment where nothing happens, and its record at the end.

    The id of each message counts the events, so that a client that was cut off goes on where it was. `tell` words an
    event as a name and what goes with it, None leaves it out.
    """
    with feeds.of(job) as feed:
        async for told in feed.follow(seen, heartbeat_s=heartbeat_s):
            if told is None:
                yield ServerSentEventMessage(comment="still at work", data=None)
            else:
                number, event = told
                worded = tell(event)
                if worded is not None:
                    yield ServerSentEventMessage(id=number, event=worded[0], data=_json(worded[1]))
    record = await asyncio.to_thread(job.to_dict)
    yield ServerSentEventMessage(event="JobFinished", data=_json(record))


async def reply_events(
    generation: Generation,
    grant: Grant,
    *,
    seen: int = 0,
    ends_with_client: bool = False,
    heartbeat_s: float = HEARTBEAT_S,
) -> AsyncIterator[ServerSentEventMessage]:
    """Yield a reply piece by piece after the first `seen`, a comment where nothing comes, `error` where it fails.

    The id of each message counts the pieces. A reply whose end `ends_with_client` is not written on for nobody.
    """
    try:
        async for number, delta in generation.follow(seen, heartbeat_s=heartbeat_s):
            if delta is None:
                yield ServerSentEventMessage(comment="still at work", data=None)
            else:
                yield ServerSentEventMessage(id=number, event=delta.kind, data=_json(_piece(delta, grant)))
    except LilbeeError as error:
        yield ServerSentEventMessage(event="error", data=_json(error.to_dict()))
    except Exception as error:  # noqa: BLE001 - the status is out already; the log has the traceback
        told = LilbeeError(f"something went wrong inside lilbee: {type(error).__name__}", code="internal")
        yield ServerSentEventMessage(event="error", data=_json(told.to_dict()))
    finally:
        if ends_with_client:
            generation.stop()


def _piece(delta: Delta, grant: Grant) -> dict[str, object]:
    if delta.answer is not None:
        return grant.shown(delta.answer.to_dict())
    if delta.citation is not None:
        return delta.citation.to_dict()
    if delta.usage is not None:
        return delta.usage.to_dict()
    if delta.tool_call is not None:
        return {"name": delta.tool_call.name, "arguments": delta.tool_call.arguments}
    return {"text": delta.text}


def _json(value: dict[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False)
