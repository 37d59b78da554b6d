"""Conversations over the documents. A reply is written to its end, whoever leaves, unless it is stopped."""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

from litestar import Response, Router, delete, get, patch, post
from litestar.datastructures import State
from litestar.params import HeaderParameter, JSONBody, PathParameter, QueryParameter
from litestar.response import ServerSentEvent

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.tokens import OWNER
from lilbee_core.types import Compaction, ConversationInfo, ConversationMessage, GivenFile
from lilbee_server import talking
from lilbee_server.bodies import Body
from lilbee_server.describe import BYTES, EVENTS, FILE
from lilbee_server.generation import Generation
from lilbee_server.library import library_of, replies_of
from lilbee_server.streams import PATIENCE_S, reply_events

if TYPE_CHECKING:
    from lilbee_core.conversations import Conversation

TALK = "lilbee_core.conversations:Conversation"
_SHOWN = frozenset({"image/png", "image/jpeg"})
REPLY = {"conversation": str, "reply": ConversationMessage}
Id = Annotated[str, PathParameter(description="The conversation: its id, the beginning of it, or its title.")]
Last = Annotated[int | None, HeaderParameter(name="Last-Event-ID", description="Where to go on.")]


class New(Body):
    """A conversation to begin; `collections` are those it searches, `scope` is raw, wiki, both or none."""

    title: str = ""
    collections: tuple[str, ...] = ()
    scope: str = "raw"


class Handed(Body):
    """Something handed over with a message: a document of the library, or a file with its content in base64."""

    document: str | None = None
    name: str | None = None
    content: str | None = None


class Sent(Body):
    """A message."""

    message: str
    attachments: tuple[Handed, ...] = ()


class Chat(Sent):
    """A message, in a conversation, or in a new one that is made for it."""

    conversation: str | None = None
    collections: tuple[str, ...] = ()
    scope: str = "raw"


class Back(Body):
    """How far to go back: so many messages of the user, or a message's id."""

    to: int | str = 1


class Title(Body):
    """What to call it."""

    title: str


@get(sync_to_thread=True, opt={"gives": {"conversations": [ConversationInfo]}})
def list_(
    state: State, search: Annotated[str, QueryParameter(description="Words of the title.")] = ""
) -> dict[str, Any]:
    """Return the conversations, the latest first."""
    return {"conversations": [one.to_dict() for one in library_of(state).conversations.list(search)]}


@post(status_code=201, sync_to_thread=True, opt={"gives": TALK})
def create(state: State, data: JSONBody[New]) -> dict[str, Any]:
    """Begin a conversation. It is kept from its first message on; send that to `/api/chat` with the same fields."""
    made = library_of(state).conversations.create(data.title, collections=data.collections, scope=data.scope)
    replies_of(state).drafts[made.id] = made
    return made.to_dict()


@get("/{ref:str}", sync_to_thread=True, opt={"gives": TALK})
def show(state: State, ref: Id) -> dict[str, Any]:
    """Return a conversation with its messages."""
    return _require(state, ref).to_dict()


@patch("/{ref:str}", sync_to_thread=True, opt={"gives": ConversationInfo})
def rename(state: State, ref: Id, data: JSONBody[Title]) -> dict[str, Any]:
    """Give a conversation another title."""
    return _require(state, ref).rename(data.title).to_dict()


@delete("/{ref:str}", status_code=200, sync_to_thread=True, opt={"gives": {"id": str, "deleted": bool}})
def remove(state: State, ref: Id) -> dict[str, Any]:
    """Delete a conversation with its messages."""
    found = _require(state, ref)
    return {"id": found.id, "deleted": talking.delete(library_of(state), replies_of(state), found)}


@post("/{ref:str}/send", status_code=200, opt={"gives": REPLY})
async def send(state: State, ref: Id, data: JSONBody[Sent]) -> dict[str, Any]:
    """Send a message and return the reply."""
    found = await asyncio.to_thread(_require, state, ref)
    return await _reply(found, await _sending(state, found, data))


@post("/{ref:str}/send/stream", status_code=200, opt={"gives": EVENTS})
async def send_stream(state: State, ref: Id, data: JSONBody[Sent]) -> ServerSentEvent:
    """Send a message and stream the reply. Whoever leaves comes back with `GET …/stream`."""
    found = await asyncio.to_thread(_require, state, ref)
    return await _stream(await _sending(state, found, data))


@get("/{ref:str}/stream", opt={"gives": EVENTS})
async def follow(state: State, ref: Id, last: Last = None) -> ServerSentEvent:
    """Stream the reply that is being written, or was written last, from its beginning or after `Last-Event-ID`."""
    found = await asyncio.to_thread(_require, state, ref)
    generation = replies_of(state).require(found.id)
    return ServerSentEvent(reply_events(generation, OWNER, seen=max(0, last or 0)))


@post("/{ref:str}/stop", status_code=200, opt={"gives": TALK})
async def stop(state: State, ref: Id) -> dict[str, Any]:
    """End the reply that is being written; what arrived stays."""
    found = await asyncio.to_thread(_require, state, ref)
    await talking.stop(replies_of(state), found)
    return await asyncio.to_thread(found.to_dict)


@post("/{ref:str}/regenerate", status_code=200, opt={"gives": REPLY})
async def regenerate(state: State, ref: Id) -> dict[str, Any]:
    """Have the last message answered anew."""
    found = await asyncio.to_thread(_require, state, ref)
    return await _reply(found, await talking.regenerate(replies_of(state), found))


@post("/{ref:str}/regenerate/stream", status_code=200, opt={"gives": EVENTS})
async def regenerate_stream(state: State, ref: Id) -> ServerSentEvent:
    """Have the last message answered anew, as a stream."""
    found = await asyncio.to_thread(_require, state, ref)
    return await _stream(await talking.regenerate(replies_of(state), found))


@post("/{ref:str}/rewind", status_code=200, opt={"gives": {"removed": [ConversationMessage]}})
async def rewind(state: State, ref: Id, data: JSONBody[Back]) -> dict[str, Any]:
    """Take messages back, with all that followed."""
    found = await asyncio.to_thread(_require, state, ref)
    gone = await talking.rewind(replies_of(state), found, data.to)
    return {"removed": [one.to_dict() for one in gone]}


@post("/{ref:str}/compact", status_code=200, opt={"gives": {"compaction": Compaction | None}})
async def compact(state: State, ref: Id) -> dict[str, Any]:
    """Summarize earlier turns now; null if there is nothing to sum up."""
    found = await asyncio.to_thread(_require, state, ref)
    made = await talking.compact(replies_of(state), found)
    return {"compaction": made.to_dict() if made is not None else None}


@get("/{ref:str}/export", sync_to_thread=True, opt={"gives": FILE})
def export(
    state: State,
    ref: Id,
    format: Annotated[str, QueryParameter(description="markdown or json.")] = "markdown",  # noqa: A002
) -> Response[bytes]:
    """Return the transcript as a file."""
    made = talking.exported(_require(state, ref), format)
    return Response(made.body, media_type=made.media_type, headers=made.headers)


@get("/{ref:str}/messages/{message:str}/attachments/{number:int}", sync_to_thread=True, opt={"gives": BYTES})
def attachment(
    state: State,
    ref: Id,
    message: Annotated[str, PathParameter(description="The message's id.")],
    number: Annotated[int, PathParameter(description="Which of its attachments: 1 is the first.")],
) -> Response[bytes]:
    """Return what was attached to a message as a file. Browsers show PNG and JPEG images, and save all else."""
    found = _require(state, ref).attachment(message, number)
    how, kind = (
        ("inline", found.media_type) if found.media_type in _SHOWN else ("attachment", "application/octet-stream")
    )
    name = f"{how}; filename*=UTF-8''{quote(found.name, safe='')}"
    return Response(found.content, media_type=kind, headers={"Content-Disposition": name})


@post("/api/chat", status_code=200, opt={"gives": REPLY})
async def chat(state: State, data: JSONBody[Chat]) -> dict[str, Any]:
    """Send a message in a conversation, or in a new one, and return the reply with the conversation's id."""
    found = await asyncio.to_thread(_talked_in, state, data)
    return await _reply(found, await _sending(state, found, data))


@post("/api/chat/stream", status_code=200, opt={"gives": EVENTS})
async def chat_stream(state: State, data: JSONBody[Chat]) -> ServerSentEvent:
    """As `/api/chat`, as a stream; its header `X-Conversation` names the conversation."""
    found = await asyncio.to_thread(_talked_in, state, data)
    return await _stream(await _sending(state, found, data), headers={"X-Conversation": found.id})


# ---------------------------------------------------------------------- inside


def _require(state: State, ref: str) -> Conversation:
    return talking.require(library_of(state), replies_of(state), ref)


def _talked_in(state: State, data: Chat) -> Conversation:
    if data.conversation is not None:
        return _require(state, data.conversation)
    return library_of(state).conversations.create(collections=data.collections, scope=data.scope)


async def _sending(state: State, found: Conversation, data: Sent) -> Generation:
    """Keep the message, and have it answered."""
    given = lambda: [_attached(library_of(state), one) for one in data.attachments]  # noqa: E731
    return await talking.send(replies_of(state), found, data.message, given)


def _attached(library: Lilbee, given: Handed) -> talking.Attached:
    """Return what was handed over."""
    if given.document is not None and given.name is None and given.content is None:
        return talking.document(library, given.document)
    if given.document is not None or given.name is None or given.content is None:
        raise InvalidArgument(
            "an attachment is not clear", hint="Send its document, or its name and its content in base64."
        )
    try:
        return GivenFile(name=given.name, content=base64.b64decode(given.content, validate=True))
    except ValueError as error:
        raise InvalidArgument(f"the content of {given.name!r} is not base64", hint="Encode it.") from error


async def _reply(found: Conversation, generation: Generation) -> dict[str, Any]:
    async for _ in generation.follow():
        pass
    replies = [one for one in await asyncio.to_thread(lambda: found.messages) if one.role == "assistant"]
    return {"conversation": found.id, "reply": replies[-1].to_dict()}


async def _stream(generation: Generation, headers: dict[str, str] | None = None) -> ServerSentEvent:
    await generation.begun(PATIENCE_S)
    return ServerSentEvent(reply_events(generation, OWNER), headers=headers)


router = Router(
    "/api/conversations",
    route_handlers=[
        list_, create, show, rename, remove, send, send_stream, follow, stop, regenerate, regenerate_stream, rewind,
        compact, export, attachment,
    ],
)  # fmt: skip
