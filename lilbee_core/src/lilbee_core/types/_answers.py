"""Answers, citations, messages and model references."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from enum import StrEnum

from lilbee_core.types._documents import ChunkId, DocumentId, Location, Span
from lilbee_core.types._search import SearchResult


class Verdict(StrEnum):
    """What the check of a citation against its chunk found.

    ``unchecked`` is a statement in another language than its passage: its words can tell nothing, its numbers agree.
    """

    SUPPORTED = "supported"
    MISATTRIBUTED = "misattributed"
    STITCHED = "stitched"
    FABRICATED = "fabricated"
    UNCHECKED = "unchecked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A mark in an answer, tied to a verbatim quote of a chunk.

    `answer_span` is where the supported statement stands in the answer, `quote_span` where the quote
    stands in the chunk's text; it is None where the quote runs from one chunk into the next. Where a page of
    the wiki is cited, `sources` are the passages of documents that bear out what it says there.
    """

    marker: int
    chunk_id: ChunkId
    document_id: DocumentId
    collection: str
    path: str
    quote: str
    location: Location = Location()
    answer_span: Span | None = None
    quote_span: Span | None = None
    verdict: Verdict = Verdict.SUPPORTED
    stale: bool = False
    url: str | None = None
    sources: tuple[Citation, ...] = ()

    @property
    def line_start(self) -> int | None:
        return self.location.line_start

    @property
    def line_end(self) -> int | None:
        return self.location.line_end

    @property
    def page_start(self) -> int | None:
        return self.location.page_start

    def to_dict(self) -> dict[str, object]:
        return {
            "marker": self.marker,
            "document_id": self.document_id,
            "chunk_id": self.chunk_id,
            "collection": self.collection,
            "path": self.path,
            "line_start": self.location.line_start,
            "line_end": self.location.line_end,
            "page_start": self.location.page_start,
            "page_end": self.location.page_end,
            "label": self.location.label,
            "member": self.location.member,
            "quote": self.quote,
            "verdict": str(self.verdict),
            "stale": self.stale,
            "url": self.url,
            **({"sources": [one.to_dict() for one in self.sources]} if self.sources else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer whose every citation can be checked. `model` is None for an extractive answer.

    `broken_off` says why the chat model did not come to an end; the text is what it had said by then.
    """

    question: str
    text: str
    citations: tuple[Citation, ...]
    found: bool
    model: str | None = None
    rejected: tuple[Citation, ...] = ()
    warnings: tuple[str, ...] = ()
    trace: SearchResult | None = None
    seconds: float = 0.0
    broken_off: str | None = None

    @property
    def answer(self) -> str:
        """The answer's text (the wire name of `text`)."""
        return self.text

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, object]:
        return {
            "question": self.question,
            "answer": self.text,
            "found": self.found,
            "citations": [one.to_dict() for one in self.citations],
            "rejected": [one.to_dict() for one in self.rejected],
            "model": self.model,
            "warnings": list(self.warnings),
            "broken_off": self.broken_off,
            "seconds": self.seconds,
        }

    def _repr_html_(self) -> str:
        from lilbee_core.types._html import answer_html

        return answer_html(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from lilbee_core.types._html import answer_bundle

        return answer_bundle(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """Something that a chat model may call. `schema` is the JSON schema of its arguments, as text."""

    name: str
    description: str
    schema: str = '{"type": "object", "properties": {}}'


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that a chat model asks for. `arguments` is JSON, as the model wrote it."""

    id: str
    name: str
    arguments: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one reply. `passing_tokens` of the prompt were sent for this turn alone: passages, results of tools.

    Where the server does not count, the numbers are `estimated`.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    passing_tokens: int = 0
    estimated: bool = False

    @property
    def lasting_tokens(self) -> int:
        """What the next turn starts from."""
        return max(0, self.prompt_tokens - self.passing_tokens) + self.completion_tokens

    def to_dict(self) -> dict[str, object]:
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "passing_tokens": self.passing_tokens,
            "estimated": self.estimated,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A turn of a request. `role` is ``system``, ``user``, ``assistant`` or ``tool``.

    A `pinned` one stays when old turns leave a request that would not fit the model.
    """

    role: str
    content: str
    reasoning: str = ""
    tool_call_id: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    images: tuple[bytes, ...] = ()
    pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Delta:
    """A piece of a streamed reply.

    `kind` is ``text``, ``reasoning``, ``citation``, ``status``, ``done``, or, from a chat model, ``tool_call`` and
    ``usage``. The last delta of an answer is ``done`` and carries the whole `answer`.
    """

    kind: str
    text: str = ""
    citation: Citation | None = None
    answer: Answer | None = None
    tool_call: ToolCall | None = None
    usage: Usage | None = None


def closable(deltas: Iterator[Delta]) -> Generator[Delta]:
    """Give any iterator of a reply a `close`, passed on where it has one: closing it ends the request."""
    try:
        yield from deltas
    finally:
        close = getattr(deltas, "close", None)
        if close is not None:
            close()


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    """Sampling options of a chat request; None leaves the server's default."""

    temperature: float | None = 0.0
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    json_schema: str | None = None
    tools: tuple[Tool, ...] = ()
    usage: bool = False
    """Whether the server is asked to count the tokens."""


@dataclass(frozen=True, slots=True)
class ModelRef:
    """A model by provider and name, such as ``ollama/qwen3:0.6b`` or ``builtin/all-MiniLM-L6-v2``."""

    provider: str
    name: str

    @classmethod
    def parse(cls, text: str) -> ModelRef:
        """Split ``provider/name``; a path or ``org/repo/file.gguf`` belongs to the provider ``gguf``.

        Raises:
            ValueError: If `text` names no provider.
        """
        value = text.strip()
        if value.lower().endswith(".gguf"):
            return cls("gguf", value)
        provider, slash, name = value.partition("/")
        if not slash or not provider or not name:
            raise ValueError(f"{text!r} is not a model reference: write provider/name, for example ollama/qwen3:0.6b")
        return cls(provider.lower(), name)

    def __str__(self) -> str:
        return self.name if self.provider == "gguf" else f"{self.provider}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDescription:
    """What is known of a model: its roles, and what it reads."""

    ref: ModelRef
    roles: frozenset[str] = frozenset()
    dimension: int | None = None
    max_tokens: int | None = None
    languages: tuple[str, ...] = ()
    size_bytes: int | None = None
    managed: bool = False
