"""A reply while it is written, sent to a browser as it grows: rendered whole, at most ten times a second."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from litestar.response import ServerSentEvent
from litestar.response.sse import ServerSentEventMessage

from lilbee_core import LilbeeError
from lilbee_core.types import AssembledRequest
from lilbee_server.generation import Generation
from lilbee_server.streams import HEARTBEAT_S
from lilbee_server.web.shown.talk import Turn, Writing
from lilbee_server.web.views import HEADERS, Views

EVERY_S = 0.1
"""How long a browser waits at least from one picture of a reply to the next."""
_MOST_SHARE = 4
"""A reply that takes long to render is rendered less often: so many times as long passes between two."""
_RETRY_MS = 1000

Request = Callable[[], AssembledRequest | None]


def reply_html(views: Views, turn: Turn) -> str:
    """Return a reply as it stands in the page; a kept one and the last picture of one that was written are the same."""
    return views.whole("reply.html", {"turn": turn})


def streamed(frames: AsyncIterator[ServerSentEventMessage]) -> ServerSentEvent:
    """Return pictures of a reply as an answer that goes on."""
    return ServerSentEvent(frames, headers={**HEADERS, "X-Accel-Buffering": "no"})


async def frames(
    views: Views,
    generation: Generation,
    *,
    whole: Callable[[], Turn | None],
    request: Request = lambda: None,
    seen: int = -1,
    every_s: float = EVERY_S,
    heartbeat_s: float = HEARTBEAT_S,
) -> AsyncIterator[ServerSentEventMessage]:
    """Yield pictures of a reply until it has ended, then ``done``.

    The id of each counts the pieces that it is made of: a browser that was cut off, and has `seen` as many, is sent the
    next one. The last picture is that of the `whole` reply as it is kept.
    """
    writing, taken = Writing(), 0
    if seen > len(generation.since(0)):  # of another reply
        seen = -1
    yield ServerSentEventMessage(retry=_RETRY_MS, data=None)
    while True:
        over, fresh = generation.is_over, generation.since(taken)
        writing.take(fresh)
        taken += len(fresh)
        if over and not generation.since(taken):
            break
        began = time.monotonic()
        if taken > seen:
            turn = writing.turn(seconds=generation.seconds, request=request())
            yield ServerSentEventMessage(id=taken, event="frame", data=await asyncio.to_thread(reply_html, views, turn))
            seen = taken
        await asyncio.sleep(max(every_s, _MOST_SHARE * (time.monotonic() - began)))
        if not await generation.more(taken, timeout_s=heartbeat_s):
            yield ServerSentEventMessage(comment="still at work", data=None)
    end = await asyncio.to_thread(_end, views, writing, generation, whole)
    yield ServerSentEventMessage(id=taken, event="frame", data=end)
    yield ServerSentEventMessage(id=taken, event="done", data="")


def _end(views: Views, writing: Writing, generation: Generation, whole: Callable[[], Turn | None]) -> str:
    try:
        turn = whole()
    except LilbeeError:  # the conversation is gone
        turn = None
    if turn is None:
        turn = writing.cut_off(seconds=generation.seconds)
    return reply_html(views, turn)


def told_of(error: BaseException | None) -> tuple[str, str]:
    """Return what to tell of an error that ended a reply, and what to do about it; blank if there is none."""
    if error is None:
        return "", ""
    if isinstance(error, LilbeeError):
        return error.message, error.hint
    return f"Something went wrong inside lilbee: {type(error).__name__}.", "Please report it, with the server's log."
