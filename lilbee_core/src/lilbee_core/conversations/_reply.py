"""A reply while it is being written: kept as it arrives, so that a crash loses next to nothing of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from lilbee_core.conversations._journal import Journal
from lilbee_core.protocols import Clock
from lilbee_core.text import tokens_at_most
from lilbee_core.types import (
    Answer,
    AssembledRequest,
    ConversationMessage,
    Delta,
    Message,
    ReplyState,
    ToolCall,
    Usage,
)

SAVE_EVERY_S = 0.5


@dataclass(slots=True, kw_only=True)
class Reply:
    """What has arrived so far. `replaces` are older replies that leave as soon as this one says something."""

    journal: Journal
    clock: Clock
    conversation: str
    question: ConversationMessage
    model: str | None
    query: str = ""
    context_tokens: int | None = None
    replaces: Collection[str] = ()
    kept: ConversationMessage | None = None
    requests: list[AssembledRequest] = field(default_factory=list[AssembledRequest])
    _text: str = ""
    _reasoning: str = ""
    _thought_s: float = 0.0
    _thinking_since: float | None = None
    _started: float = 0.0
    _saved_at: float = float("-inf")
    _usage: Usage | None = None
    _calls: list[ToolCall] = field(default_factory=list[ToolCall])

    def __post_init__(self) -> None:
        self._started = self.clock.monotonic()

    def take(self, delta: Delta) -> None:
        """Take a piece of the reply, and keep it if the last time is long enough ago."""
        self._time(delta)
        if delta.kind == "text":
            self._text += delta.text
        elif delta.kind == "reasoning":
            self._reasoning += delta.text
        elif delta.tool_call is not None:
            self._calls.append(delta.tool_call)
        elif delta.usage is not None:
            self._usage = _added(self._usage, delta.usage)
        now = self.clock.monotonic()
        if (self._text.strip() or self._reasoning) and now - self._saved_at >= SAVE_EVERY_S:
            self._saved_at = now
            self._keep(self._message(ReplyState.PARTIAL))

    def finish(self, answer: Answer) -> ConversationMessage:
        """Keep the whole reply, or what there is of one that the model broke off."""
        state = ReplyState.DONE if answer.broken_off is None else ReplyState.PARTIAL
        done = replace(
            self._message(state),
            content=answer.text,
            found=answer.found,
            model=answer.model,
            citations=answer.citations,
            rejected=answer.rejected,
            warnings=(*answer.warnings, *((answer.broken_off,) if answer.broken_off else ())),
            usage=self.counted(answer.text),
        )
        return self._keep(done)

    def break_off(self) -> None:
        """Keep what there is, if there is anything."""
        if self._text.strip() or self._reasoning.strip():
            self._keep(replace(self._message(ReplyState.PARTIAL), usage=self.counted(self._text)))

    def counted(self, text: str) -> Usage | None:
        """Return the tokens of the reply: counted by the server, or estimated; None if no model was asked."""
        if not self.requests:
            return None
        last = self.requests[-1]
        usage = self._usage or Usage(
            prompt_tokens=last.tokens,
            completion_tokens=tokens_at_most(text) + tokens_at_most(self._reasoning),
            estimated=True,
        )
        return replace(usage, passing_tokens=_passing(usage.prompt_tokens, last, self.question.content))

    def _time(self, delta: Delta) -> None:
        now = self.clock.monotonic()
        if delta.kind == "reasoning" and self._thinking_since is None:
            self._thinking_since = now
        elif delta.kind in ("text", "tool_call") and self._thinking_since is not None:
            self._thought_s += now - self._thinking_since
            self._thinking_since = None

    def _message(self, state: ReplyState) -> ConversationMessage:
        now = self.clock.monotonic()
        thinking = now - self._thinking_since if self._thinking_since is not None else 0.0
        known = self.kept
        return ConversationMessage(
            id=known.id if known else "",
            role="assistant",
            content=self._text.rstrip() if state is ReplyState.DONE else self._text,
            created_at=known.created_at if known else "",
            reply_to=self.question.id,
            state=state,
            reasoning=self._reasoning.strip(),
            reasoning_seconds=round(self._thought_s + thinking, 3),
            seconds=round(now - self._started, 3),
            model=self.model,
            query=self.query,
            tool_calls=tuple(self._calls),
            context_tokens=self.context_tokens,
        )

    def _keep(self, message: ConversationMessage) -> ConversationMessage:
        replaced = self.replaces if self.kept is None else ()
        self.kept = self.journal.reply(self.conversation, message, replaces=replaced)
        return self.kept


def _added(first: Usage | None, second: Usage) -> Usage:
    """Return the usage after another round: its prompt holds the ones before."""
    if first is None:
        return second
    return replace(second, completion_tokens=first.completion_tokens + second.completion_tokens)


def _passing(prompt_tokens: int, request: AssembledRequest, question: str) -> int:
    """Return how many tokens of a prompt will not be sent again: passages, and results of tools.

    Estimates are high, and counts are not, so the share is estimated, not the number.
    """
    asked = max((at for at, one in enumerate(request.messages) if one.role == "user"), default=0)
    passing = sum(_tokens(one) for one in request.messages[asked:]) - tokens_at_most(question)
    whole = sum(_tokens(one) for one in request.messages)
    return int(prompt_tokens * max(0, passing) / whole) if whole else 0


def _tokens(message: Message) -> int:
    return tokens_at_most(message.content)
