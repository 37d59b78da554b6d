"""Messages of a conversation, and answers, as the page shows them: kept ones, and those that are being written."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from lilbee_core.text import place_name, tokens_at_most
from lilbee_core.types import (
    Answer,
    AssembledRequest,
    Attachment,
    Citation,
    ConversationInfo,
    ConversationMessage,
    Delta,
    ReplyState,
    ToolCall,
    Usage,
    Verdict,
)
from lilbee_server.web.places import read_url
from lilbee_server.web.rendering import Links, Place, to_html
from lilbee_server.web.shown.lists import moment, size
from lilbee_server.web.unfinished import completed

PATH = "/chat"
SHOWN = 40
"""How many messages stand on the page of a conversation at first."""
_BELOW = 2
_VERDICTS = {
    Verdict.SUPPORTED: ("borne out by the passage", "good"),
    Verdict.UNCHECKED: ("in another language than the passage: not checked", "warn"),
    Verdict.MISATTRIBUTED: ("another passage says this", "bad"),
    Verdict.STITCHED: ("put together from several places", "bad"),
    Verdict.FABRICATED: ("no passage says this", "bad"),
}
_SCOPES = {"raw": "the documents", "wiki": "the wiki", "both": "documents and wiki", "none": "nothing"}
_LONGEST_QUOTE = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A citation: where it stands, what it quotes, and what the check of it found."""

    marker: int
    place: str
    href: str
    quote: str
    verdict: str
    tone: str
    stale: bool
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """What was handed over with a message, the number of it, and how much it is."""

    name: str
    number: int
    told: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A message or an answer. `html` is of a reply; what a person wrote is shown as it is, in `text`.

    `grows` while it is being written; then `status` says what is being done.
    """

    id: str = ""
    mine: bool = False
    text: str = ""
    html: str = ""
    at: str = ""
    attachments: tuple[Handed, ...] = ()
    thought: str = ""
    thought_s: float = 0.0
    query: str = ""
    found: bool | None = None
    is_partial: bool = False
    sources: tuple[Source, ...] = ()
    left_out: tuple[Source, ...] = ()
    warnings: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    metrics: str = ""
    grows: bool = False
    status: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A conversation in the list of them."""

    id: str
    title: str
    at: str
    messages: int
    is_running: bool = False
    is_unseen: bool = False
    problem: str = ""

    @property
    def url(self) -> str:
        return f"{PATH}/{self.id}"


def listed(info: ConversationInfo, *, running: bool, unseen: bool) -> Listed:
    """Return a conversation for the list."""
    return Listed(
        id=info.id,
        title=title_of(info),
        at=moment(info.updated_at),
        messages=info.messages,
        is_running=running,
        is_unseen=unseen,
        problem=info.problem or "",
    )


def title_of(info: ConversationInfo) -> str:
    """Return what a conversation is called."""
    return info.title or "Conversation"


def searched(info: ConversationInfo) -> str:
    """Say what a conversation searches."""
    told = f"Searches {_SCOPES.get(info.scope, info.scope)}"
    return f"{told} of {', '.join(info.collections)}" if info.collections and info.scope != "none" else told


# ---------------------------------------------------------------------- messages


def turns_of(messages: Sequence[ConversationMessage]) -> list[Turn]:
    """Return messages that are kept. What was searched for a reply is told where it is not what was asked."""
    asked = {one.id: one.content for one in messages if one.role == "user"}
    turns = map(_turn_of, messages)
    return [
        replace(turn, query="") if turn.query and turn.query == asked.get(one.reply_to or "") else turn
        for turn, one in zip(turns, messages, strict=True)
    ]


def _turn_of(one: ConversationMessage) -> Turn:
    if one.role == "user":
        return Turn(
            id=one.id, mine=True, text=one.content, at=moment(one.created_at), attachments=_handed(one.attachments)
        )
    return _reply(one, whole=True)


def turn_of_answer(answer: Answer) -> Turn:
    """Return an answer to a question that was asked alone."""
    partial = answer.broken_off is not None
    return _reply(
        ConversationMessage(
            id="", role="assistant", content=answer.text, created_at="", found=answer.found, model=answer.model,
            state=ReplyState.PARTIAL if partial else ReplyState.DONE, citations=answer.citations,
            rejected=answer.rejected, seconds=answer.seconds,
            warnings=(*answer.warnings, *((answer.broken_off,) if answer.broken_off else ())),
        ),
        whole=True,
    )  # fmt: skip


def links_of(citations: Iterable[Citation]) -> Links:
    """Return where the marks of a text lead: to the passages, in their documents."""
    cited: dict[int, Place] = {}
    for one in citations:
        cited.setdefault(one.marker, Place(read_url(one), f"{place_name(one)}: {_quote(one)}"))
    return Links(cited=cited)


def metrics(one: ConversationMessage) -> str:
    """Say what a reply took, with ~ before what is estimated."""
    told: list[str] = []
    if one.usage is not None:
        about = "~" if one.usage.estimated else ""
        prompt = f"{about}{one.usage.prompt_tokens:,} + " if one.usage.prompt_tokens else ""
        told.append(f"{prompt}{about}{one.usage.completion_tokens:,} tokens")
        if one.context_percent is not None:
            told.append(f"{about}{one.context_percent} % of the context")
        if one.tokens_per_s is not None:
            told.append(f"{about}{one.tokens_per_s:g} tokens/s")
    if one.seconds >= 0.05:
        told.append(f"{one.seconds:.1f} s")
    return ", ".join([*told, *([one.model] if one.model else [])])


def _reply(one: ConversationMessage, *, whole: bool, status: str = "") -> Turn:
    links = links_of(one.citations)
    html = _rendered(one.content, tuple(links.cited.items())) if whole else _html(completed(one.content), links)
    return Turn(
        id=one.id,
        text=one.content,
        html=html,
        at=moment(one.created_at),
        thought=one.reasoning,
        thought_s=one.reasoning_seconds,
        query=one.query,
        found=one.found,
        is_partial=whole and one.state is ReplyState.PARTIAL,
        sources=_sources(one.citations),
        left_out=_sources(one.rejected),
        warnings=one.warnings,
        calls=tuple(f"{call.name} {call.arguments}" for call in one.tool_calls),
        metrics=metrics(one),
        grows=not whole,
        status=status,
    )


@lru_cache(maxsize=400)
def _rendered(text: str, cited: tuple[tuple[int, Place], ...]) -> str:
    """Return a reply that is kept as HTML; those of a conversation are shown again with each message."""
    return _html(text, Links(cited=dict(cited)))


def _html(text: str, links: Links) -> str:
    return to_html(text, links, below=_BELOW)


def _sources(citations: Iterable[Citation]) -> tuple[Source, ...]:
    return tuple(dict.fromkeys(map(_source, citations)))


def _source(one: Citation) -> Source:
    verdict, tone = _VERDICTS.get(one.verdict, (str(one.verdict), "warn"))
    return Source(
        marker=one.marker,
        place=place_name(one),
        href=read_url(one),
        quote=_quote(one),
        verdict=verdict,
        tone=tone,
        stale=one.stale,
        url=one.url or "",
    )


def _quote(one: Citation) -> str:
    quote = " ".join(one.quote.split())
    return quote if len(quote) <= _LONGEST_QUOTE else f"{quote[:_LONGEST_QUOTE]}…"


def _handed(attachments: Sequence[Attachment]) -> tuple[Handed, ...]:
    return tuple(
        Handed(name=one.name, number=number, told=size(one.size) or f"{len(one.text):,} characters")
        for number, one in enumerate(attachments, start=1)
    )


# ---------------------------------------------------------------------- being written


@dataclass(slots=True)
class Writing:
    """A reply as far as its pieces have come."""

    status: str = ""
    text: str = ""
    reasoning: str = ""
    answer: Answer | None = None
    usage: Usage | None = None
    citations: list[Citation] = field(default_factory=list[Citation])
    calls: list[ToolCall] = field(default_factory=list[ToolCall])

    def take(self, deltas: Iterable[Delta]) -> None:
        """Take more pieces."""
        for delta in deltas:
            if delta.answer is not None:
                self.answer = delta.answer
            elif delta.citation is not None:
                self.citations.append(delta.citation)
            elif delta.tool_call is not None:
                self.calls.append(delta.tool_call)
            elif delta.usage is not None:
                self.usage = delta.usage
            elif delta.kind == "text":
                self.text, self.status = self.text + delta.text, ""
            elif delta.kind == "reasoning":
                self.reasoning += delta.text
            elif delta.kind == "status":
                self.status = delta.text

    def turn(self, *, seconds: float, request: AssembledRequest | None = None) -> Turn:
        """Return it as it is now. What the chat model was sent says how much of the context is used."""
        usage = self.usage
        if usage is None and (self.text or self.reasoning) and request is not None:
            usage = Usage(
                prompt_tokens=request.tokens,
                completion_tokens=tokens_at_most(self.text) + tokens_at_most(self.reasoning),
                estimated=True,
            )
        message = ConversationMessage(
            id="", role="assistant", content=self.text, created_at="", state=ReplyState.PARTIAL,
            reasoning=self.reasoning, citations=tuple(self.citations), tool_calls=tuple(self.calls), usage=usage,
            seconds=seconds, context_tokens=request.context_tokens if request is not None else None,
        )  # fmt: skip
        status = "Choosing a title…" if self.answer is not None else self.status
        return _reply(message, whole=False, status=status or ("" if self.text else "Searching…"))

    def cut_off(self, *, seconds: float) -> Turn:
        """Return it as what there is of a reply that did not come to its end."""
        return replace(self.turn(seconds=seconds), grows=False, is_partial=True, status="")
