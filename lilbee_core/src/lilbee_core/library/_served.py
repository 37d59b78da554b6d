"""How much the chat model reads: a setting says, else its server, else nobody knows."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from lilbee_core.errors import LilbeeError

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts

log = logging.getLogger(__name__)

_ASK_AGAIN_S = 60.0
_OF_PROVIDER = {"ollama": 4096}
"""What these servers read where nothing else was set; they cut off the rest without a word."""


@runtime_checkable
class _Serving(Protocol):
    """A chat model that knows how much it reads."""

    @property
    def context_tokens(self) -> int | None: ...


class ServedContext:
    """Asks for the context length of the chat model, once. Threads may share it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._known: int | None = None
        self._asked_at = float("-inf")

    def __call__(self) -> int | None:
        """Return how many tokens the model reads, None where nobody knows."""
        named = self._parts.settings.models.num_ctx
        if named:
            return named
        with self._lock:
            now = self._parts.clock.monotonic()
            if self._known is None and now - self._asked_at >= _ASK_AGAIN_S:
                self._asked_at = now
                self._known = self._ask()
            return self._known

    @property
    def default(self) -> int:
        """What to take where nobody knows."""
        from lilbee_core.chat import DEFAULT_CONTEXT_TOKENS

        provider = self._parts.chat_model.partition("/")[0]
        return _OF_PROVIDER.get(provider, DEFAULT_CONTEXT_TOKENS)

    def _ask(self) -> int | None:
        chat: object = self._parts.bare_chat
        if isinstance(chat, _Serving):
            return chat.context_tokens
        if self._parts.is_given("chat"):
            return None
        try:
            from lilbee_core.library._waiting import describe_chat

            return describe_chat(self._parts).max_tokens
        except (LilbeeError, ValueError) as error:
            log.info("the chat model's server does not say how much it reads: %s", error)
            return None
