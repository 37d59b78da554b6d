"""Replies of conversations that are being written: who asked may leave, and come back for all of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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


@dataclass(slots=True)
class Written:
    """A reply, the conversation that has it written, and whether somebody saw it when it had ended."""

    generation: Generation
    talk: Conversation
    seen: bool = False
    told: bool = False


class Replies:
    """The replies by conversation, the latest of each. Used from one event loop."""

    def __init__(self, turns: Turns) -> None:
        self._turns = turns
        self._claimed: set[str] = set()
        self._known: dict[str, Written] = {}
        self.drafts: dict[str, Conversation] = {}
        """Conversations that were begun, and have no message yet."""

    @contextmanager
    def claim(self, conversation: str) -> Generator[None]:
        """Keep everybody else from changing a conversation for as long as this lasts.

        Raises:
            Running: If a reply is being written, or somebody else changes it.
        """
        self.check_idle(conversation)
        self._claimed.add(conversation)
        try:
            yield
        finally:
            self._claimed.discard(conversation)

    async def begin(self, found: Conversation, start: Callable[[], Iterator[Delta]]) -> Generation:
        """Have a reply written when its turn comes.

        Raises:
            Running: If one is being written in this conversation.
            Busy: If the turn does not come in time.
        """
        with self.claim(found.id):
            return await self.write(found, start)

    async def write(self, found: Conversation, start: Callable[[], Iterator[Delta]]) -> Generation:
        """As `begin`, for who has claimed the conversation."""
        generation = await self._turns.generate(start, on_stop=found.stop)
        self._known.pop(found.id, None)
        self._known[found.id] = Written(generation, found)
        for name in [name for name, one in self._known.items() if one.generation.is_over][:-_KEPT]:
            del self._known[name]
        return generation

    def check_idle(self, conversation: str) -> None:
        """Make sure that nothing is being written in a conversation.

        Raises:
            Running: If something is.
        """
        if conversation in self._claimed or self.is_running(conversation):
            raise Running("a reply is being written in this conversation", hint="Wait for it, or stop it.")

    def is_running(self, conversation: str) -> bool:
        """Whether a reply is being written in a conversation."""
        known = self._known.get(conversation)
        return known is not None and not known.generation.is_over

    def get(self, conversation: str) -> Written | None:
        """Return the latest reply of a conversation since the server started, or None."""
        return self._known.get(conversation)

    def require(self, conversation: str) -> Generation:
        """Return the latest reply of a conversation, written or being written.

        Raises:
            NotFound: If there is none since the server started.
        """
        known = self._known.get(conversation)
        if known is None:
            raise NotFound("no reply is being written in this conversation", hint="Send a message first.")
        return known.generation

    # ------------------------------------------------------------------ what nobody has seen yet

    def saw(self, conversation: str) -> None:
        """Note that somebody looks at a conversation; a reply that is still being written is seen when it has ended."""
        known = self._known.get(conversation)
        if known is not None and known.generation.is_over:
            known.seen = True

    def unseen(self) -> tuple[str, ...]:
        """Return the conversations with a reply that has ended and that nobody has seen, the latest first."""
        known = list(self._known.items())  # another thread may ask
        return tuple(name for name, one in reversed(known) if one.generation.is_over and not one.seen)

    def news(self, *, besides: str = "") -> tuple[str, ...]:
        """Return those of the unseen that were not told of before, all `besides` the one that is looked at."""
        fresh = tuple(name for name in self.unseen() if not self._known[name].told and name != besides)
        for name in fresh:
            self._known[name].told = True
        return fresh
