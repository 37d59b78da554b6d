"""Where conversations are kept: a record for each, and one for each of its messages, so that none can cost another."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import UTC
from typing import TypeVar

from lilbee_core.conversations._records import info_from, info_to, message_from, message_to
from lilbee_core.errors import LibraryError, NotFound, StoreError
from lilbee_core.protocols import Clock, StateStore
from lilbee_core.text import fold_space
from lilbee_core.types import ConversationInfo, ConversationMessage

log = logging.getLogger(__name__)
T = TypeVar("T")

_KIND = "conversation"
_UNREADABLE = (KeyError, TypeError, ValueError)


class Journal:
    """Reads and writes conversations. Threads and processes may share what it keeps.

    Messages of several writers are all kept, each reply behind the message that it answers. What cannot be read is
    told apart and costs nothing else.
    """

    def __init__(
        self, state: Callable[[], StateStore], clock: Clock, *, prepare: Callable[[], None] = lambda: None
    ) -> None:
        """Take where to keep them; `prepare` is called before the first message of a conversation is kept."""
        self._state = state
        self._clock = clock
        self._prepare = prepare

    def now(self) -> str:
        """Return the time as it is kept: UTC, ISO 8601."""
        return self._clock.now().astimezone(UTC).isoformat(timespec="milliseconds")

    # ------------------------------------------------------------------ reading

    def infos(self) -> tuple[ConversationInfo, ...]:
        """Return all conversations, the latest first; those that cannot be read come last, with their problem."""
        found = [self._info(key) for key in self._state().keys(_KIND)]
        whole = sorted((one for one in found if not one.problem), key=lambda one: (one.updated_at, one.id))
        return (*reversed(whole), *(one for one in found if one.problem))

    def info(self, id_: str) -> ConversationInfo | None:
        """Return a conversation, None where there is none."""
        return self._info(id_) if id_ in self._state().keys(_KIND) else None

    def messages(self, id_: str) -> tuple[ConversationMessage, ...]:
        """Return the messages that can be read: each reply behind what it answers."""
        return in_order([one for one in self._read(id_) if one is not None])

    def message(self, id_: str, message_id: str) -> ConversationMessage:
        """Return one message.

        Raises:
            NotFound: If there is none of this id that can be read.
        """
        found = self._taken(_messages(id_), message_id, message_from)
        if found is None:
            raise _no_message(message_id)
        return found

    def _info(self, id_: str) -> ConversationInfo:
        """Return a conversation; of one whose record is damaged, what its messages tell."""
        keys = self._state().keys(_messages(id_))
        info = self._taken(_KIND, id_, info_from)
        if info is not None:
            return replace(info, messages=len(keys))
        read = [one for one in self._read(id_) if one is not None]
        first = next((one for one in read if one.role == "user"), None)
        return ConversationInfo(
            id=id_,
            title=title_of(first.content) if first else "",
            created_at=read[0].created_at if read else "",
            updated_at=read[-1].created_at if read else "",
            messages=len(keys),
            problem="the record of this conversation is damaged: its title, scope and summary are lost",
        )

    def _read(self, id_: str) -> list[ConversationMessage | None]:
        kind = _messages(id_)
        try:
            return [message_from(value) for _, value in self._state().items(kind)]
        except (StoreError, *_UNREADABLE):
            # One by one, to tell those that can be read.
            return [self._taken(kind, key, message_from) for key in self._state().keys(kind)]

    def unreadable(self, id_: str) -> int:
        """Return how many messages of a conversation cannot be read."""
        return self._read(id_).count(None)

    def _taken(self, kind: str, key: str, read: Callable[[Mapping[str, object]], T]) -> T | None:
        try:
            value = self._state().load(kind, key)
            return None if value is None else read(value)
        except StoreError as error:
            if error.code != "store.damaged":
                raise
            log.warning("%s", error.message)
        except _UNREADABLE as error:
            log.warning("the %s %s in the state is damaged: %s", kind, key, error)
        return None

    # ------------------------------------------------------------------ writing

    def post(self, info: ConversationInfo, message: ConversationMessage) -> ConversationMessage:
        """Keep a user's message, and the conversation with it if it is the first."""
        if not info.created_at:
            self._prepare()
        state = self._state()
        with state.transaction():
            known = self.info(info.id)
            if known is None and info.created_at:
                raise deleted(info.id)
            now = self.now()
            held = known or replace(info, created_at=now, title=info.title or title_of(message.content))
            kept = replace(message, id=self._next_id(info.id), created_at=now)
            state.save(_messages(info.id), kept.id, message_to(kept))
            state.save(_KIND, info.id, info_to(replace(held, updated_at=now)))
        return kept

    def reply(self, id_: str, message: ConversationMessage, *, replaces: Collection[str] = ()) -> ConversationMessage:
        """Keep a reply, or what there is of it so far; one that has an id already is written again.

        Raises:
            LibraryError: If what it answers was taken back meanwhile (``conversation.changed``).
        """
        state, kind = self._state(), _messages(id_)
        with state.transaction():
            keys = state.keys(kind)
            info = self.info(id_)
            if info is None:
                raise deleted(id_)
            if message.reply_to not in keys or (message.id and message.id not in keys):
                raise _changed(id_)
            now = self.now()
            kept = message if message.id else replace(message, id=self._next_id(id_), created_at=now)
            state.save(kind, kept.id, message_to(kept))
            for old in replaces:
                state.delete(kind, old)
            state.save(_KIND, id_, info_to(replace(_without(info, replaces), updated_at=now)))
        return kept

    def change(
        self, id_: str, change: Callable[[ConversationInfo], ConversationInfo], *, touches: bool = False
    ) -> ConversationInfo:
        """Change what is kept beside the messages.

        Raises:
            NotFound: If the conversation was deleted.
        """
        state = self._state()
        with state.transaction():
            info = self.info(id_)
            if info is None:
                raise deleted(id_)
            changed = change(info)
            if touches:
                changed = replace(changed, updated_at=self.now())
            state.save(_KIND, id_, info_to(changed))
        return replace(changed, problem=None)

    def truncate(self, id_: str, first: str) -> tuple[ConversationMessage, ...]:
        """Delete a message and all behind it, and the summary if that stood for one of them; return what is gone.

        Raises:
            NotFound: If there is no such message.
        """
        state, kind = self._state(), _messages(id_)
        with state.transaction():
            messages = self.messages(id_)
            at = next((at for at, one in enumerate(messages) if one.id == first), None)
            if at is None:
                raise _no_message(first)
            gone = messages[at:]
            for one in gone:
                state.delete(kind, one.id)
            self.change(id_, lambda info: _without(info, [one.id for one in gone]), touches=True)
        return gone

    def delete(self, id_: str) -> bool:
        """Delete a conversation with its messages, readable or not; say whether there was one."""
        state = self._state()
        if not state.keys(_KIND):
            return False
        with state.transaction():
            for key in state.keys(_messages(id_)):
                state.delete(_messages(id_), key)
            return state.delete(_KIND, id_)

    def _next_id(self, id_: str) -> str:
        """Return an id that no message has had: a summary's end must never mean another message."""
        keys = self._state().keys(_messages(id_))
        last = int(keys[-1].partition("-")[0]) if keys else 0
        return f"{last + 1:06d}-{secrets.token_hex(3)}"


def _without(info: ConversationInfo, gone: Collection[str]) -> ConversationInfo:
    """Return what is kept when messages leave: a summary that ends with one of them leaves too."""
    if info.compaction is not None and info.compaction.through_id in gone:
        return replace(info, compaction=None)
    return info


def _messages(id_: str) -> str:
    return f"{_KIND}.{id_}"


def in_order(messages: Sequence[ConversationMessage]) -> tuple[ConversationMessage, ...]:
    """Return the messages, each reply right behind what it answers: several writers may have taken turns."""
    replies: dict[str, list[ConversationMessage]] = {}
    known = {one.id for one in messages}
    for one in messages:
        if one.reply_to is not None and one.reply_to in known:
            replies.setdefault(one.reply_to, []).append(one)
    ordered: list[ConversationMessage] = []
    for one in messages:
        if one.reply_to is None or one.reply_to not in known:
            ordered += [one, *replies.get(one.id, ())]
    return tuple(ordered)


_TITLE_CHARS = 60


def title_of(text: str) -> str:
    """Return a title made of the beginning of a text."""
    line = fold_space(text)
    if len(line) <= _TITLE_CHARS:
        return line
    cut = line[:_TITLE_CHARS].rsplit(" ", 1)[0] or line[:_TITLE_CHARS]
    return f"{cut.rstrip(' ,;:.-')}…"


def deleted(id_: str) -> NotFound:
    """The conversation is gone."""
    return NotFound(f"there is no conversation {id_!r}", hint="List the conversations to see their ids.")


def _no_message(id_: str) -> NotFound:
    return NotFound(f"there is no message {id_!r} in this conversation", hint="Show the conversation to see its ids.")


def _changed(id_: str) -> LibraryError:
    return LibraryError(
        f"the conversation {id_} was changed meanwhile: what this replies to was taken back",
        hint="Show the conversation as it is now, and ask again.",
        code="conversation.changed",
    )
