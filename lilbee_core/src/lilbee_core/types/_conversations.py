"""Conversations: what is kept of them, and what a chat model is sent."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from lilbee_core.types._answers import ChatOptions, Citation, Message, ToolCall, Usage


class ReplyState(StrEnum):
    """How a reply ended. One that is ``partial`` was cut off: by the model, by who asked, or by a crash."""

    DONE = "done"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """Something handed over with a message, copied: it stays as it was, whatever becomes of its source.

    `text` is what was read in it. `file` is where its bytes lie, below the attachments of the library; None where there
    never were any, as of a document of the library.
    """

    name: str
    media_type: str = "text/plain"
    text: str = ""
    source: str = ""
    file: str | None = None
    size: int = 0

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "media_type": self.media_type,
            "source": self.source,
            "size": self.size,
            "chars": len(self.text),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenFile:
    """A file that lies on no disk of this machine: its name, and what is in it."""

    name: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachedFile:
    """What was attached to a message, as a file: its bytes as they came, or the text of a document."""

    name: str
    media_type: str
    content: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationMessage:
    """A message of a conversation as it is kept. `role` is ``user`` or ``assistant``.

    Of an assistant's message: `reply_to` is the message that it answers, `query` what was searched, `tool_calls` what
    the model called. Its `reasoning` and the results of tools are never sent again.
    """

    id: str
    role: str
    content: str
    created_at: str
    reply_to: str | None = None
    state: ReplyState = ReplyState.DONE
    reasoning: str = ""
    reasoning_seconds: float = 0.0
    seconds: float = 0.0
    found: bool | None = None
    model: str | None = None
    query: str = ""
    citations: tuple[Citation, ...] = ()
    rejected: tuple[Citation, ...] = ()
    warnings: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    context_tokens: int | None = None

    @property
    def context_percent(self) -> int | None:
        """How much of what the chat model reads this reply and its request fill; None where that is not known."""
        if self.usage is None or not self.context_tokens:
            return None
        return 100 * (self.usage.prompt_tokens + self.usage.completion_tokens) // self.context_tokens

    @property
    def tokens_per_s(self) -> float | None:
        """How fast the reply was written, from its request on; None where that is not known."""
        if self.usage is None or self.seconds <= 0:
            return None
        return round(self.usage.completion_tokens / self.seconds, 1)

    def to_dict(self) -> dict[str, object]:
        """Return what front ends show."""
        return {
            "id": self.id,
            "role": self.role,
            "content": self.content,
            "created_at": self.created_at,
            "reply_to": self.reply_to,
            "state": str(self.state),
            "reasoning": self.reasoning,
            "reasoning_seconds": self.reasoning_seconds,
            "seconds": self.seconds,
            "found": self.found,
            "model": self.model,
            "query": self.query,
            "citations": [one.to_dict() for one in self.citations],
            "rejected": [one.to_dict() for one in self.rejected],
            "warnings": list(self.warnings),
            "attachments": [one.to_dict() for one in self.attachments],
            "tool_calls": [{"name": one.name, "arguments": one.arguments} for one in self.tool_calls],
            "usage": None if self.usage is None else self.usage.to_dict(),
            "context_tokens": self.context_tokens,
            "context_percent": self.context_percent,
            "tokens_per_s": self.tokens_per_s,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A summary that is sent in place of the messages up to `through_id`. The messages are kept."""

    summary: str
    through_id: str
    created_at: str = ""
    model: str | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            "summary": self.summary,
            "through_id": self.through_id,
            "created_at": self.created_at,
            "model": self.model,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationInfo:
    """A conversation without its messages.

    `collections` are those it searches, none for all; `scope` is ``raw``, ``wiki``, ``both``, or ``none`` to search
    nothing. `prompts` are the texts that this conversation has of its own, by name. One that cannot be read has a
    `problem` and nothing else.
    """

    id: str
    title: str = ""
    titled_by: str = "question"
    created_at: str = ""
    updated_at: str = ""
    messages: int = 0
    collections: tuple[str, ...] = ()
    scope: str = "raw"
    prompts: tuple[tuple[str, str], ...] = ()
    compaction: Compaction | None = None
    problem: str | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "title": self.title,
            "titled_by": self.titled_by,
            "created_at": self.created_at,
            "updated_at": self.updated_at,
            "messages": self.messages,
            "collections": list(self.collections),
            "scope": self.scope,
            "prompts": dict(self.prompts),
            "compaction": None if self.compaction is None else self.compaction.to_dict(),
            "problem": self.problem,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What a question comes with beside the passages: earlier turns, what is remembered, what was handed over.

    A question that is `about_itself` asks nothing of the documents ("shorter, please"): it is answered from the
    earlier turns.
    """

    history: tuple[Message, ...] = ()
    memory: str = ""
    attachments: tuple[Attachment, ...] = ()
    images: tuple[bytes, ...] = ()
    about_itself: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AssembledRequest:
    """Exactly what a chat model is sent, and how it came to be that long.

    `budget` is what may be sent of the `context_tokens` that the model reads; `dropped` turns were too much.
    """

    messages: tuple[Message, ...]
    options: ChatOptions = field(default_factory=ChatOptions)
    context_tokens: int = 0
    budget: int = 0
    tokens: int = 0
    dropped: tuple[Message, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "messages": [_sent(one) for one in self.messages],
            "tools": [{"name": one.name, "description": one.description} for one in self.options.tools],
            "temperature": self.options.temperature,
            "max_tokens": self.options.max_tokens,
            "context_tokens": self.context_tokens,
            "budget": self.budget,
            "tokens": self.tokens,
            "dropped": [_sent(one) for one in self.dropped],
        }


def _sent(message: Message) -> dict[str, object]:
    sent: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        sent["tool_calls"] = [{"name": one.name, "arguments": one.arguments} for one in message.tool_calls]
    if message.tool_call_id is not None:
        sent["tool_call_id"] = message.tool_call_id
    if message.images:
        sent["images"] = len(message.images)
    return sent
