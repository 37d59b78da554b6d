"""Replies in OpenAI's form."""

from __future__ import annotations

import base64
import json
import secrets
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from litestar.response.sse import ServerSentEventMessage

from lilbee_core.text import tokens_at_most
from lilbee_core.tokens import OWNER, Grant
from lilbee_core.types import Answer, Delta, Message, ToolCall, Usage, Vectors
from lilbee_server.generation import Generation
from lilbee_server.openai.errors import envelope


@dataclass(kw_only=True)
class Completion:
    """A reply as it comes in."""

    model: str
    asked: Sequence[Message]
    grant: Grant = OWNER
    id: str = field(default_factory=lambda: f"chatcmpl-{secrets.token_hex(12)}")
    created: int = field(default_factory=lambda: int(time.time()))
    text: str = ""
    reasoning: str = ""
    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    usage: Usage | None = None
    answer: Answer | None = None

    def take(self, delta: Delta) -> dict[str, Any] | None:
        """Take a piece in, and return what a stream says of it."""
        if delta.kind == "text":
            self.text += delta.text
            return {"content": delta.text}
        if delta.kind == "reasoning":
            self.reasoning += delta.text
            return {"reasoning_content": delta.text}
        if delta.tool_call is not None:
            self.calls.append(delta.tool_call)
            return {"tool_calls": [{"index": len(self.calls) - 1, **_call(delta.tool_call)}]}
        self.usage = delta.usage or self.usage
        self.answer = delta.answer or self.answer
        return None

    @property
    def finish_reason(self) -> str:
        """Why it ended; OpenAI's word for a reply that is not whole is ``length``, whatever the reason."""
        if self.answer is not None and self.answer.broken_off is not None:
            return "length"
        return "tool_calls" if self.calls else "stop"

    def to_dict(self) -> dict[str, Any]:
        """Return the whole reply."""
        message: dict[str, Any] = {"role": "assistant", "content": self._said if not self.calls or self.text else None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [_call(one) for one in self.calls]
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason, "logprobs": None}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.tokens(), **self.sources()}

    @property
    def _said(self) -> str:
        return self.text if self.answer is None else self.answer.text

    def chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        """Return a piece of a stream."""
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**self._head("chat.completion.chunk"), "choices": [choice]}

    def last(self) -> dict[str, Any]:
        """Return the piece that tells the tokens."""
        return {**self._head("chat.completion.chunk"), "choices": [], "usage": self.tokens()}

    def tokens(self) -> dict[str, int]:
        """Return the tokens that were used, an estimate where the model does not count."""
        usage = self.usage or Usage(
            prompt_tokens=sum(tokens_at_most(one.content) for one in self.asked),
            completion_tokens=tokens_at_most(self.text + self.reasoning),
        )
        total = usage.prompt_tokens + usage.completion_tokens
        return {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": total,
        }

    def sources(self) -> dict[str, Any]:
        """Return what an answer from the documents rests on, beside what the form knows."""
        if self.answer is None:
            return {}
        told = self.grant.shown(self.answer.to_dict())
        return {"lilbee": {name: told[name] for name in ("found", "citations", "rejected", "warnings", "broken_off")}}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}


async def whole(generation: Generation, completion: Completion) -> dict[str, Any]:
    """Wait for a reply and return it."""
    async for _, delta in generation.follow():
        if delta is not None:
            completion.take(delta)
    return completion.to_dict()


async def streamed(
    generation: Generation, completion: Completion, *, with_usage: bool, heartbeat_s: float
) -> AsyncIterator[ServerSentEventMessage]:
    """Yield a reply piece by piece. Who leaves ends it."""
    try:
        yield _data(completion.chunk({"role": "assistant", "content": ""}))
        async for _, delta in generation.follow(heartbeat_s=heartbeat_s):
            if delta is None:
                yield ServerSentEventMessage(comment="still at work", data=None)
            elif (said := completion.take(delta)) is not None:
                yield _data(completion.chunk(said))
        yield _data({**completion.chunk({}, completion.finish_reason), **completion.sources()})
        if with_usage:
            yield _data(completion.last())
        yield ServerSentEventMessage(data="[DONE]")
    except Exception as error:  # noqa: BLE001 - the status is out already: what is wrong is told in the stream
        yield _data(envelope(error)[1])
    finally:
        generation.stop()


def vectors_reply(vectors: Vectors, *, model: str, as_base64: bool, tokens: int) -> dict[str, Any]:
    """Return vectors in OpenAI's form."""
    data = [
        {
            "object": "embedding",
            "index": at,
            "embedding": base64.b64encode(row.astype("<f4").tobytes()).decode() if as_base64 else row.tolist(),
        }
        for at, row in enumerate(vectors)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return {"object": "list", "data": data, "model": model, "usage": usage}


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}


def _data(value: dict[str, Any]) -> ServerSentEventMessage:
    return ServerSentEventMessage(data=json.dumps(value, ensure_ascii=False))
