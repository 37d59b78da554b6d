"""What of a request fits a chat model: old turns leave first, in whole turns, before the request does."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

from lilbee_core.errors import ProviderError
from lilbee_core.protocols import ChatProvider
from lilbee_core.text import tokens_at_most
from lilbee_core.types import AssembledRequest, ChatOptions, Delta, Message, Tool, closable

log = logging.getLogger(__name__)

MESSAGE_TOKENS = 8
"""What a chat template writes around a message, at most."""
IMAGE_TOKENS = 1024
RESERVE_TOKENS = 1024
"""Kept free for a reply whose length nobody set."""
MARGIN_TOKENS = 32
DEFAULT_CONTEXT_TOKENS = 8192
"""What a model reads, where neither a setting nor the server says."""
SMALL_TOKENS = 1024
"""A request that fits so much with its reply fits every model: nobody needs to be asked."""
_LONGEST_TOKEN = 12
"""Characters. A reply longer than its tokens could be has no end."""


def message_tokens(message: Message) -> int:
    """Return how many tokens a message costs, rather too many than too few."""
    calls = sum(tokens_at_most(call.name + call.arguments) for call in message.tool_calls)
    return tokens_at_most(message.content) + calls + MESSAGE_TOKENS + IMAGE_TOKENS * len(message.images)


def tool_tokens(tools: Sequence[Tool]) -> int:
    """Return how many tokens the descriptions of tools cost."""
    return sum(tokens_at_most(tool.name + tool.description + tool.schema) + MESSAGE_TOKENS for tool in tools)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """How much a model reads, and how much of that a request may take.

    The reply gets what the request names, else `reserve_tokens`, but never more than half.
    """

    context_tokens: int = DEFAULT_CONTEXT_TOKENS
    reserve_tokens: int = RESERVE_TOKENS
    margin_tokens: int = MARGIN_TOKENS

    def budget(self, max_tokens: int | None = None) -> int:
        """Return the tokens that a request may take."""
        reserve = min(max_tokens or self.reserve_tokens, self.context_tokens // 2)
        return self.context_tokens - reserve - self.margin_tokens

    def fit(self, messages: Sequence[Message], options: ChatOptions = ChatOptions()) -> AssembledRequest:
        """Return the request with as many of its latest turns as fit.

        System messages, pinned ones and the newest turn always stay. A turn begins with what the user says and ends
        before the next such message, so the results of tools leave together with their calls.

        Raises:
            ProviderError: If what must stay does not fit (``provider.context_overflow``).
        """
        budget = self.budget(options.max_tokens)
        stays, turns = _apart(messages)
        fixed = tool_tokens(options.tools) + sum(message_tokens(messages[at]) for at in stays)
        costs = [sum(message_tokens(messages[at]) for at in turn) for turn in turns]
        newest = fixed + (costs[-1] if costs else 0)
        if newest > budget:
            raise _overflow(newest, budget, self.context_tokens)
        first, used = max(0, len(turns) - 1), newest
        while first > 0 and used + costs[first - 1] <= budget:
            first -= 1
            used += costs[first]
        gone = {at for turn in turns[:first] for at in turn}
        return AssembledRequest(
            messages=tuple(one for at, one in enumerate(messages) if at not in gone),
            options=options,
            context_tokens=self.context_tokens,
            budget=budget,
            tokens=used,
            dropped=tuple(messages[at] for at in sorted(gone)),
        )


def _apart(messages: Sequence[Message]) -> tuple[list[int], list[list[int]]]:
    """Return which messages stay, and the turns of the others."""
    stays: list[int] = []
    turns: list[list[int]] = []
    for at, message in enumerate(messages):
        if message.role == "system" or message.pinned:
            stays.append(at)
        elif message.role == "user" or not turns:
            turns.append([at])
        else:
            turns[-1].append(at)
    return stays, turns


def _overflow(tokens: int, budget: int, context_tokens: int) -> ProviderError:
    return ProviderError(
        f"CONTEXT_OVERFLOW: the request needs about {tokens} tokens, and the chat model, which reads {context_tokens}, "
        f"has room for {budget}",
        hint="Write a shorter message, attach less, or set num_ctx to what the model really reads.",
        code="provider.context_overflow",
    )


class WindowedChat:
    """A chat model whose every request fits. Threads may share it.

    It also ends a reply that has no end: one that is longer than its tokens could be.

    Args:
        chat: Who answers.
        context: Says how many tokens it reads; None means that nobody knows.
        default_context: Taken where nobody knows.
        record: Given each request exactly as it leaves.
    """

    def __init__(
        self,
        chat: ChatProvider,
        *,
        context: Callable[[], int | None],
        default_context: int = DEFAULT_CONTEXT_TOKENS,
        reserve_tokens: int = RESERVE_TOKENS,
        record: Callable[[AssembledRequest], None] | None = None,
    ) -> None:
        self._chat = chat
        self._context = context
        self._default_context = default_context
        self._reserve_tokens = reserve_tokens
        self._record = record

    def recording(self, record: Callable[[AssembledRequest], None]) -> WindowedChat:
        """Return the same model with another reader of its requests."""
        return WindowedChat(
            self._chat,
            context=self._context,
            default_context=self._default_context,
            reserve_tokens=self._reserve_tokens,
            record=record,
        )

    def window(self) -> Window:
        """Return what the model reads now."""
        return Window(context_tokens=self._context() or self._default_context, reserve_tokens=self._reserve_tokens)

    def chat(self, messages: Sequence[Message], options: ChatOptions = ChatOptions()) -> Generator[Delta]:
        """Yield the reply to as much of the request as fits; closing the iterator closes the request.

        Raises:
            ProviderError: If the newest turn alone does not fit, the model fails, or its reply has no end.
        """
        window = self._small(messages, options) or self.window()
        request = window.fit(messages, options)
        if request.dropped:
            log.info("%d old messages left the request: it may take %d tokens", len(request.dropped), request.budget)
        if self._record is not None:
            self._record(request)
        room = _LONGEST_TOKEN * (options.max_tokens or max(self._reserve_tokens, window.context_tokens))
        with closing(closable(self._chat.chat(request.messages, options))) as deltas:
            for delta in deltas:
                yield delta
                room -= len(delta.text)
                if room < 0:
                    raise ProviderError(
                        "the chat model writes without end, far beyond what it was asked for",
                        hint="Ask again, or choose another chat model.",
                        code="provider.endless_reply",
                    )

    def _small(self, messages: Sequence[Message], options: ChatOptions) -> Window | None:
        """Return a window for a request that fits every model, None if it might not, or if somebody wants to know."""
        if self._record is not None or options.max_tokens is None or options.max_tokens > SMALL_TOKENS // 2:
            return None
        needed = sum(map(message_tokens, messages)) + tool_tokens(options.tools)
        window = Window(context_tokens=SMALL_TOKENS)
        return window if needed <= window.budget(options.max_tokens) else None
