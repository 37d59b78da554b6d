"""Questions, answered from the documents with citations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from litestar import post
from litestar.datastructures import State
from litestar.params import JSONBody
from litestar.response import ServerSentEvent

from lilbee_core.errors import EmptyReply
from lilbee_core.tokens import Grant
from lilbee_core.types import Answer, Delta
from lilbee_server.bodies import Body
from lilbee_server.describe import EVENTS
from lilbee_server.grants import Granted
from lilbee_server.library import library_of, turns_of
from lilbee_server.streams import PATIENCE_S, reply_events


class Question(Body):
    """What to answer, and where to look for it; the settings say what is left out here."""

    question: str
    top_k: int | None = None
    profile: str | None = None
    paths: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()


@post("/api/ask", status_code=200, opt={"scoped": True, "reads": True, "gives": Answer})
async def ask(state: State, grant: Granted, data: JSONBody[Question]) -> dict[str, Any]:
    """Answer a question, every statement cited."""
    generation = await turns_of(state).generate(_start(state, grant, data))
    async for _, delta in generation.follow():
        if delta is not None and delta.answer is not None:
            return grant.shown(delta.answer.to_dict())
    raise EmptyReply("the answer has no end", hint="Ask again.")


@post("/api/ask/stream", status_code=200, opt={"scoped": True, "reads": True, "gives": EVENTS})
async def stream(state: State, grant: Granted, data: JSONBody[Question]) -> ServerSentEvent:
    """Answer a question piece by piece: `text`, `citation`, `status`, and `done` with the whole answer, or `error`."""
    generation = await turns_of(state).generate(_start(state, grant, data))
    await generation.begun(PATIENCE_S)
    return ServerSentEvent(reply_events(generation, grant, ends_with_client=True))


def _start(state: State, grant: Grant, data: Question) -> Callable[[], Iterator[Delta]]:
    library, only = library_of(state), grant.filter(data.collections, data.paths)
    return lambda: library.ask_stream(data.question, top_k=data.top_k, profile=data.profile, filters=only)
