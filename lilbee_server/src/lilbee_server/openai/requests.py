"""Requests of OpenAI clients as values of the library."""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any, cast

from lilbee_core.errors import InvalidArgument
from lilbee_core.types import ChatOptions, Message, Tool, ToolCall
from lilbee_server.openai.bodies import ChatCompletion, ChatMessage, Embeddings, Rerank, ToolBody

_MOST_TEXTS = 2048


def messages_of(body: ChatCompletion) -> tuple[Message, ...]:
    """Return the messages of a conversation.

    Raises:
        InvalidArgument: If there are none, or one cannot be used.
    """
    if not body.messages:
        raise InvalidArgument("messages is empty", hint="Send at least one message.")
    return tuple(_message(one, at) for at, one in enumerate(body.messages))


def options_of(body: ChatCompletion) -> ChatOptions:
    """Return the options of a conversation.

    Raises:
        InvalidArgument: If one cannot be used.
    """
    if body.n not in (None, 1):
        raise InvalidArgument(f"n must be 1, got {body.n}", hint="Ask once for each reply.")
    tokens = body.max_completion_tokens or body.max_tokens
    if tokens is not None and tokens < 1:
        raise InvalidArgument(f"max_tokens must be at least 1, got {tokens}", hint="Leave it out, or raise it.")
    return ChatOptions(
        temperature=body.temperature,
        max_tokens=tokens,
        stop=(body.stop,) if isinstance(body.stop, str) else tuple(body.stop or ()),
        json_schema=_json_schema(body.response_format),
        tools=_tools(body.tools or [], body.tool_choice),
        usage=True,
    )


def texts_of(body: Embeddings) -> list[str]:
    """Return the texts to make vectors of.

    Raises:
        InvalidArgument: If there are none, too many, or tokens instead.
    """
    texts: list[Any] = [body.input] if isinstance(body.input, str) else body.input
    if not texts or len(texts) > _MOST_TEXTS:
        raise InvalidArgument(f"input has {len(texts)} texts", hint=f"Send 1 to {_MOST_TEXTS}.")
    for at, text in enumerate(texts):
        if not isinstance(text, str) or not text:
            raise InvalidArgument(f"input[{at}] is no text", hint="Send texts that are not empty, no tokens.")
    return cast("list[str]", texts)


def documents_of(body: Rerank) -> list[str]:
    """Return the texts to put in order.

    Raises:
        InvalidArgument: If there are none, too many, or no texts.
    """
    if not body.documents or len(body.documents) > _MOST_TEXTS:
        raise InvalidArgument(f"documents has {len(body.documents)} texts", hint=f"Send 1 to {_MOST_TEXTS}.")
    if not body.query.strip():
        raise InvalidArgument("query is empty", hint="Say what is looked for.")
    texts = [one if isinstance(one, str) else one.get("text") for one in body.documents]
    for at, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidArgument(f"documents[{at}] is no text", hint='Send texts, or objects as {"text": "…"}.')
    return cast("list[str]", texts)


def _message(body: ChatMessage, at: int) -> Message:
    text, images = _content(body, at)
    calls = tuple(
        ToolCall(id=one.id, name=one.function.name, arguments=one.function.arguments) for one in body.tool_calls or ()
    )
    role = "system" if body.role == "developer" else body.role
    if role == "tool" and not body.tool_call_id:
        raise InvalidArgument(f"messages[{at}] names no tool_call_id", hint="Say which call it is the result of.")
    return Message(role=role, content=text, tool_call_id=body.tool_call_id, tool_calls=calls, images=images)


def _content(body: ChatMessage, at: int) -> tuple[str, tuple[bytes, ...]]:
    if body.content is None or isinstance(body.content, str):
        return body.content or "", ()
    texts: list[str] = []
    images: list[bytes] = []
    for part in body.content:
        kind, url = part.get("type"), part.get("image_url")
        if kind == "text" and isinstance(part.get("text"), str):
            texts.append(cast("str", part["text"]))
        elif kind == "image_url" and isinstance(url, dict):
            images.append(_image(str(cast("dict[str, object]", url).get("url", "")), at))
        else:
            raise InvalidArgument(f"messages[{at}] has a part of type {kind!r}", hint="Send text and image_url.")
    return "\n".join(texts), tuple(images)


def _image(url: str, at: int) -> bytes:
    """Read an image out of its address: nothing is fetched, which would let requests reach into the network."""
    head, comma, data = url.partition(",")
    if not comma or not head.startswith("data:image/") or not head.endswith(";base64"):
        raise InvalidArgument(f"messages[{at}] has an image that is not in the request", hint="Send a data: address.")
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArgument(f"the image of messages[{at}] is not base64", hint="Encode it.") from error


def _tools(bodies: list[ToolBody], choice: str | dict[str, Any] | None) -> tuple[Tool, ...]:
    """Return the tools that may be called; where one is chosen, that one alone is offered."""
    if choice == "none":
        return ()
    named = _part(choice, "function").get("name") if isinstance(choice, dict) else None
    tools = tuple(
        Tool(
            name=one.function.name,
            description=one.function.description or "",
            schema=json.dumps(one.function.parameters or {"type": "object", "properties": {}}),
        )
        for one in bodies
        if named is None or one.function.name == named
    )
    if named is not None and not tools:
        raise InvalidArgument(f"tool_choice names {named!r}, which is not among tools", hint="Choose one of tools.")
    return tools


def _part(whole: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a part that is an object, an empty one where it is not there.

    Raises:
        InvalidArgument: If it is something else.
    """
    part: object = whole.get(name) or {}
    if not isinstance(part, dict):
        raise InvalidArgument(f"{name} is no object, but {part!r}", hint=f"Send {name} as an object.")
    return cast("dict[str, Any]", part)


def _json_schema(form: dict[str, Any] | None) -> str | None:
    kind = (form or {}).get("type", "text")
    if kind == "text":
        return None
    if kind == "json_object":
        return '{"type": "object"}'
    schema = _part(form or {}, "json_schema").get("schema")
    if kind != "json_schema" or not isinstance(schema, dict):
        raise InvalidArgument(f"response_format is of type {kind!r}", hint="Use text, json_object or json_schema.")
    return json.dumps(schema)
