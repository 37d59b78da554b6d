"""Compaction: earlier turns are told to the model as a summary. Pure decisions; nothing is deleted by it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime

from lilbee_core.chat._window import MESSAGE_TOKENS, Window
from lilbee_core.errors import EmptyReply
from lilbee_core.protocols import ChatProvider
from lilbee_core.text import defuse, fence_for, tokens_at_most, without_echoes
from lilbee_core.types import ChatOptions, Compaction, ConversationMessage, Message, ReplyState, Usage, closable

SUMMARY_TOKENS = 600
_LEAST_DELTA_TOKENS = 64
_WHOLE = 100

Prompt = Callable[..., str]
"""Returns a fragment by its name, its gaps filled with the given values."""


def cutoff(messages: Sequence[ConversationMessage], through_id: str | None) -> int:
    """Return how many messages a summary stands for: those up to `through_id`.

    The id is checked on every read: one that names no message, or no finished reply, stands for nothing.
    """
    for at, message in enumerate(messages):
        if message.id == through_id:
            return at + 1 if _ends_a_turn(messages, at) else 0
    return 0


def next_cutoff(messages: Sequence[ConversationMessage], *, start: int, keep_turns: int) -> int:
    """Return where a new summary would end: after a finished reply, with `keep_turns` replies left after it.

    What is kept then begins with what the user says. `start` is where the present summary ends; the same number means
    that there is nothing to summarize.
    """
    ends = [at + 1 for at in range(start, len(messages)) if _ends_a_turn(messages, at)]
    if ends and ends[-1] == len(messages) and messages[-1].state is not ReplyState.DONE:
        ends.pop()  # the last reply may still be being written
    left = ends[: len(ends) - keep_turns] if keep_turns else ends
    return left[-1] if left else start


def _ends_a_turn(messages: Sequence[ConversationMessage], at: int) -> bool:
    is_last = at + 1 == len(messages)
    return messages[at].role == "assistant" and (is_last or messages[at + 1].role == "user")


def is_due(
    usage: Usage | None, *, new_tokens: int, context_tokens: int | None, percent: int, waiting_tokens: int
) -> bool:
    """Say whether the next request would take more of the context than `percent` of it.

    What it takes is known only from the last reply, and for what came since then it is estimated. Nothing is due while
    nobody knows how much the model reads, while there is no reply yet, or while too little waits to be summarized.
    """
    if not context_tokens or not percent or usage is None or waiting_tokens < _LEAST_DELTA_TOKENS:
        return False
    return usage.lasting_tokens + new_tokens >= context_tokens * percent / _WHOLE


def summary_turns(summary: str, prompt: Prompt) -> tuple[Message, Message]:
    """Return a summary as a request carries it: one turn of the user, and the assistant's word for it.

    One turn alone would break templates that want the user to begin, or two roles to take turns.
    """
    return (
        Message(role="user", content=prompt("compact.summary", summary=summary), pinned=True),
        Message(role="assistant", content=prompt("compact.reply"), pinned=True),
    )


def text_of(message: ConversationMessage) -> str:
    """Return what a message told, with what was handed over, for the eyes of a model."""
    attached = "".join(f"\n[{one.name}]\n{one.text}" for one in message.attachments if one.text)
    return f"{message.content}{attached}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compactor:
    """Has a chat model sum up earlier turns. Threads may share it.

    `prompt` gives the wording; a blank ``task.compact`` switches compaction off.
    """

    prompt: Prompt
    keep_turns: int = 2
    percent: int = 50

    @property
    def is_on(self) -> bool:
        """Whether there is a wording to ask for a summary with."""
        return bool(self.prompt("task.compact").strip())

    def plan(self, messages: Sequence[ConversationMessage], present: Compaction | None) -> tuple[int, int]:
        """Return where the present summary ends, and where the next one would."""
        start = cutoff(messages, present.through_id if present else None)
        return start, next_cutoff(messages, start=start, keep_turns=self.keep_turns)

    def is_due(
        self,
        messages: Sequence[ConversationMessage],
        present: Compaction | None,
        *,
        new_tokens: int,
        context_tokens: int | None,
    ) -> bool:
        """Say whether the conversation is to be compacted before the next request."""
        if not self.is_on:
            return False
        start, end = self.plan(messages, present)
        if end == start:
            return False
        usage = next((one.usage for one in reversed(messages) if one.role == "assistant" and one.usage), None)
        return is_due(
            usage,
            new_tokens=new_tokens,
            context_tokens=context_tokens,
            percent=self.percent,
            waiting_tokens=sum(tokens_at_most(text_of(one)) for one in messages[start:end]),
        )

    def compact(
        self,
        messages: Sequence[ConversationMessage],
        present: Compaction | None,
        chat: ChatProvider,
        *,
        window: Window,
        model: str | None = None,
        now: str = "",
    ) -> Compaction | None:
        """Return a summary that takes the place of the present one, or None if there is nothing new to sum up.

        Only what came since the present summary is read, with that summary to be subsumed. What does not fit the model
        at once is read in parts.

        Raises:
            ProviderError: If the model fails or says nothing.
        """
        start, end = self.plan(messages, present)
        if end == start:
            return None
        summary = present.summary if present is not None and start else ""
        room = window.budget(SUMMARY_TOKENS) - tokens_at_most(self.prompt("task.compact"))
        for part in _parts(messages[start:end], room - SUMMARY_TOKENS - 4 * MESSAGE_TOKENS):
            summary = self._summarize(summary, part, chat)
        return Compaction(summary=summary, through_id=messages[end - 1].id, created_at=now, model=model)

    def request(self, summary: str, turns: str) -> Message:
        """Return what the model is asked, to sum up `turns` after what `summary` says."""
        fence = fence_for((summary, turns))
        content = self.prompt("task.compact", fence=fence, summary=summary or "-", messages=turns)
        return Message(role="user", content=content)

    def _summarize(self, summary: str, turns: str, chat: ChatProvider) -> str:
        request = self.request(summary, turns)
        text = said_by(chat, request, max_tokens=SUMMARY_TOKENS)
        if not text:
            raise EmptyReply("the chat model gave no summary", hint="Choose another chat model.")
        return text


def said_by(chat: ChatProvider, request: Message, *, max_tokens: int) -> str:
    """Return what a model says to one message, without its reasoning."""
    pieces: list[str] = []
    with closing(closable(chat.chat((request,), ChatOptions(max_tokens=max_tokens)))) as deltas:
        pieces += [delta.text for delta in deltas if delta.kind == "text"]
    return without_echoes("".join(pieces)).strip()


def _parts(messages: Sequence[ConversationMessage], room: int) -> Iterator[str]:
    """Yield the messages as texts that fit; one that is too long alone is shortened in its middle."""
    held: list[str] = []
    used = 0
    for message in messages:
        text = _shortened(f"{message.role}: {defuse(text_of(message))}", max(room, _LEAST_DELTA_TOKENS))
        cost = tokens_at_most(text) + 1
        if held and used + cost > room:
            yield "\n\n".join(held)
            held, used = [], 0
        held.append(text)
        used += cost
    if held:
        yield "\n\n".join(held)


def _shortened(text: str, room: int) -> str:
    while (tokens := tokens_at_most(text)) > room:
        kept = max(16, int(len(text) * room / tokens * 0.9))
        if kept >= len(text):
            break
        text = f"{text[: kept // 2]}\n[…]\n{text[len(text) - kept // 2 :]}"
    return text


def moment(value: str | datetime) -> datetime:
    """Return a time that can be compared with any other: one without a zone is taken to be UTC."""
    read = datetime.fromisoformat(value) if isinstance(value, str) else value
    return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
