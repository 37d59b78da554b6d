"""Replies of conversations that are being written: who asked may leave, and come back for all of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lilbee_core.errors import LilbeeError, NotFound
from lilbee_core.types import Delta
from lilbee_server.generation import Generation
from lilbee_server.turns import Turns

if TYPE_CHECKING:
    from lilbee_core.conversations import Conversation

_KEPT = 50


class Running(LilbeeError):
    """The conversation is being answered already."""

    default_code = "server.running"


class Replies:
    """The replies by conversation, the latest of each. Used from one event loop."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._waiting: set[str] = set()
        self._known: dict[str, Generation] = {}
        self.drafts: dict[str, Conversation] = {}
        """Conversations that were begun, and have no message yet."""

    async def begin(self, found: Conversation, start: Callable[[], Iterator[Delta]]) -> Generation:
        """Have a reply written when its turn comes.

        Raises:
            Running: If one is being written in this conversation.
            Busy: If the turn does not come in time.
        """
        conversation = found.id
        self.check_idle(conversation)
        self._waiting.add(conversation)
        try:
            generation = await self._turns.generate(start, on_stop=found.stop)
        finally:
            self._waiting.discard(conversation)
        self._known.pop(conversation, None)
        self._known[conversation] = generation
        for name in [name for name, one in self._known.items() if one.is_over][:-_KEPT]:
            del self._known[name]
        return generation

    def check_idle(self, conversation: str) -> None:
        """Make sure that nothing is being written in a conversation.

        Raises:
            Running: If something is.
        """
        known = self._known.get(conversation)
        if conversation in self._waiting or (known is not None and not known.is_over):
            raise Running("a reply is being written in this conversation", hint="Wait for it, or stop it.")

    def require(self, conversation: str) -> Generation:
        """Return the latest reply of a conversation, written or being written.

        Raises:
            NotFound: If there is none since the server started.
        """
        known = self._known.get(conversation)
        if known is None:
            raise NotFound("no reply is being written in this conversation", hint="Send a message first.")
        return known
