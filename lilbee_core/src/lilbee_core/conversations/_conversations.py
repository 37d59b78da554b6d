"""The conversations of a library."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

from lilbee_core.arguments import checked
from lilbee_core.conversations._conversation import Conversation
from lilbee_core.conversations._journal import Journal, deleted
from lilbee_core.conversations._ports import Engines
from lilbee_core.errors import NotFound
from lilbee_core.protocols import Clock
from lilbee_core.text import fold_space
from lilbee_core.types import ConversationInfo


@checked
class Conversations:
    """Conversations over the library's documents, kept in its state, which no rebuild touches. Threads may share it."""

    def __init__(self, journal: Journal, engines: Engines, clock: Clock) -> None:
        self._journal = journal
        self._engines = engines
        self._clock = clock

    def create(
        self,
        title: str = "",
        *,
        collections: Sequence[str] = (),
        scope: str = "raw",
        prompts: Mapping[str, str] | None = None,
    ) -> Conversation:
        """Return a new conversation. It is kept from its first message on.

        Args:
            title: Its name; the question, or the chat model, names it otherwise.
            collections: What it searches; none is all of them.
            scope: ``raw``, ``wiki``, ``both``, or ``none`` to search nothing.
            prompts: Wordings for this conversation alone, by name.

        Raises:
            NotFound: If there is no such collection or prompt.
            InvalidArgument: If there is no such scope.
        """
        line = fold_space(title)[:200]
        info = ConversationInfo(
            id=secrets.token_hex(4),
            title=line,
            titled_by="user" if line else "question",
            collections=tuple(collections),
            scope=scope,
            prompts=tuple(sorted((prompts or {}).items())),
        )
        self._engines.check(info)
        return self._opened(info)

    def list(self, search: str = "") -> tuple[ConversationInfo, ...]:
        """Return the conversations, the latest first; with `search`, those whose title holds it."""
        sought = search.casefold().strip()
        return tuple(one for one in self._journal.infos() if sought in one.title.casefold())

    def get(self, id: str) -> Conversation | None:  # noqa: A002 - a conversation's own word for it
        """Return a conversation, or None."""
        info = self._journal.info(id)
        return None if info is None else self._opened(info)

    def require(self, ref: str) -> Conversation:
        """Return a conversation by its id, the beginning of it, or its title.

        Raises:
            NotFound: If there is none, or more than one.
        """
        exact = self.get(ref)
        if exact is not None:
            return exact
        wanted = ref.strip().casefold()
        infos = self._journal.infos()
        found = [one for one in infos if wanted and one.id.startswith(wanted)]
        found = found or [one for one in infos if wanted and one.title.casefold() == wanted]
        if not found:
            raise deleted(ref)
        if len(found) > 1:
            raise NotFound(
                f"{len(found)} conversations are called {ref!r}",
                hint=f"Name one by its id: {', '.join(one.id for one in found[:10])}.",
            )
        return self._opened(found[0])

    def latest(self) -> Conversation | None:
        """Return the conversation that was used last, or None."""
        info = next((one for one in self._journal.infos() if not one.problem), None)
        return None if info is None else self._opened(info)

    def delete(self, id: str) -> bool:  # noqa: A002
        """Delete a conversation with its messages and what was attached; say whether there was one."""
        there = self._journal.delete(id)
        if there:
            self._engines.forget(id)
        return there

    def rename(self, id: str, title: str) -> ConversationInfo:  # noqa: A002
        """Give a conversation another title.

        Raises:
            NotFound: If there is none.
            InvalidArgument: If the title is blank.
        """
        return self.require(id).rename(title)

    def export(self, id: str, format: str = "markdown") -> str:  # noqa: A002
        """Return the transcript of a conversation as ``markdown`` or ``json``.

        Raises:
            NotFound: If there is none.
            InvalidArgument: If there is no such format.
        """
        return self.require(id).export(format)

    def _opened(self, info: ConversationInfo) -> Conversation:
        return Conversation(info, self._journal, self._engines, self._clock)
