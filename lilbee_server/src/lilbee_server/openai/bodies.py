"""What requests say. Fields that are not here are left alone: clients send many that make no difference."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionCall:
    """A function with its arguments, as the model wrote them."""

    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CallBody:
    """A call that the assistant asked for."""

    id: str
    function: FunctionCall
    type: str = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message; `content` is a text, or parts of text and images."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[CallBody] | None = None
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionBody:
    """A function that the model may call."""

    name: str
    description: str | None = None
    parameters: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolBody:
    """A tool that the model may use."""

    function: FunctionBody
    type: Literal["function"] = "function"


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamOptions:
    """How a stream ends."""

    include_usage: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatCompletion:
    """A conversation to go on with."""

    model: str
    messages: list[ChatMessage]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    stop: str | list[str] | None = None
    n: int | None = None
    tools: list[ToolBody] | None = None
    tool_choice: str | dict[str, Any] | None = None
    response_format: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Embeddings:
    """Texts to make vectors of. `input_type` ``query`` makes those that a search would use."""

    input: str | list[Any]
    model: str | None = None
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: int | None = None
    input_type: Literal["query", "document"] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rerank:
    """Texts to put in the order of their relevance."""

    query: str
    documents: list[str | dict[str, Any]] = field(default_factory=list[str | dict[str, Any]])
    model: str | None = None
    top_n: int | None = None
    return_documents: bool = False
