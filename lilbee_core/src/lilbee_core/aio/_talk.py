"""The nouns of `AsyncLilbee` that have to do with chat models."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lilbee_core.aio._threads import Threads
from lilbee_core.library import Lilbee
from lilbee_core.types import (
    AssembledRequest,
    AttachedFile,
    Compaction,
    ConversationInfo,
    ConversationMessage,
    Delta,
    Note,
)

if TYPE_CHECKING:
    from lilbee_core.chat import Prompts, PromptText
    from lilbee_core.conversations import Attached, Conversation
    from lilbee_core.notes import Shelf
    from lilbee_core.types import Author


class AsyncConversation:
    """Mirrors `Conversation`."""

    def __init__(self, conversation: Conversation, threads: Threads) -> None:
        self._inner = conversation
        self._threads = threads

    def __repr__(self) -> str:
        return repr(self._inner)

    @property
    def id(self) -> str:
        """See `Conversation.id`."""
        return self._inner.id

    @property
    def info(self) -> ConversationInfo:
        """See `Conversation.info`."""
        return self._inner.info

    @property
    def messages(self) -> tuple[ConversationMessage, ...]:
        """See `Conversation.messages`."""
        return self._inner.messages

    @property
    def requests(self) -> tuple[AssembledRequest, ...]:
        """See `Conversation.requests`."""
        return self._inner.requests

    @property
    def summarized(self) -> int:
        """See `Conversation.summarized`."""
        return self._inner.summarized

    def to_dict(self) -> dict[str, object]:
        """See `Conversation.to_dict`."""
        return self._inner.to_dict()

    async def export(self, format: str = "markdown") -> str:  # noqa: A002 - as `Conversation.export`
        """See `Conversation.export`."""
        return await self._threads.run(lambda: self._inner.export(format))

    async def attachment(self, message_id: str, number: int = 1) -> AttachedFile:
        """See `Conversation.attachment`."""
        return await self._threads.run(lambda: self._inner.attachment(message_id, number))

    async def send(self, text: str, *, attachments: Sequence[Attached] = ()) -> ConversationMessage:
        """See `Conversation.send`."""
        return await self._threads.run(lambda: self._inner.send(text, attachments=attachments))

    def stream(self, text: str, *, attachments: Sequence[Attached] = ()) -> AsyncIterator[Delta]:
        """See `Conversation.stream`; the message is kept when the first delta is asked for."""
        return self._threads.iterate(lambda: self._inner.stream(text, attachments=attachments))

    async def post(self, text: str, *, attachments: Sequence[Attached] = ()) -> ConversationMessage:
        """See `Conversation.post`."""
        return await self._threads.run(lambda: self._inner.post(text, attachments=attachments))

    def run(self, message: ConversationMessage | None = None) -> AsyncIterator[Delta]:
        """See `Conversation.run`."""
        return self._threads.iterate(lambda: self._inner.run(message))

    def stop(self) -> None:
        """See `Conversation.stop`."""
        self._inner.stop()

    async def regenerate(self) -> ConversationMessage:
        """See `Conversation.regenerate`."""
        return await self._threads.run(self._inner.regenerate)

    def regenerate_stream(self) -> AsyncIterator[Delta]:
        """See `Conversation.regenerate_stream`."""
        return self._threads.iterate(self._inner.regenerate_stream)

    async def rewind(self, to: str | int = 1) -> tuple[ConversationMessage, ...]:
        """See `Conversation.rewind`."""
        return await self._threads.run(lambda: self._inner.rewind(to))

    async def edit(self, message_id: str, text: str) -> ConversationMessage:
        """See `Conversation.edit`."""
        return await self._threads.run(lambda: self._inner.edit(message_id, text))

    async def post_again(
        self, message_id: str, text: str, *, attachments: Sequence[Attached] = ()
    ) -> ConversationMessage:
        """See `Conversation.post_again`."""
        return await self._threads.run(lambda: self._inner.post_again(message_id, text, attachments=attachments))

    async def preview(self, text: str) -> AssembledRequest | None:
        """See `Conversation.preview`."""
        return await self._threads.run(lambda: self._inner.preview(text))

    async def rename(self, title: str) -> ConversationInfo:
        """See `Conversation.rename`."""
        return await self._threads.run(lambda: self._inner.rename(title))

    async def set_scope(
        self, *, collections: Sequence[str] | None = None, scope: str | None = None
    ) -> ConversationInfo:
        """See `Conversation.set_scope`."""
        return await self._threads.run(lambda: self._inner.set_scope(collections=collections, scope=scope))

    async def set_prompt(self, name: str, text: str | None) -> ConversationInfo:
        """See `Conversation.set_prompt`."""
        return await self._threads.run(lambda: self._inner.set_prompt(name, text))

    async def compact(self) -> Compaction | None:
        """See `Conversation.compact`."""
        return await self._threads.run(self._inner.compact)


class AsyncConversations:
    """Mirrors `Conversations`."""

    def __init__(self, bee: Lilbee, threads: Threads) -> None:
        self._bee = bee
        self._threads = threads

    async def create(
        self,
        title: str = "",
        *,
        collections: Sequence[str] = (),
        scope: str = "raw",
        prompts: Mapping[str, str] | None = None,
    ) -> AsyncConversation:
        """See `Conversations.create`."""
        made = await self._threads.run(
            lambda: self._bee.conversations.create(title, collections=collections, scope=scope, prompts=prompts)
        )
        return AsyncConversation(made, self._threads)

    async def list(self, search: str = "") -> tuple[ConversationInfo, ...]:
        """See `Conversations.list`."""
        return await self._threads.run(lambda: self._bee.conversations.list(search))

    async def get(self, id: str) -> AsyncConversation | None:  # noqa: A002 - as `Conversations.get`
        """See `Conversations.get`."""
        found = await self._threads.run(lambda: self._bee.conversations.get(id))
        return None if found is None else AsyncConversation(found, self._threads)

    async def require(self, ref: str) -> AsyncConversation:
        """See `Conversations.require`."""
        return AsyncConversation(await self._threads.run(lambda: self._bee.conversations.require(ref)), self._threads)

    async def latest(self) -> AsyncConversation | None:
        """See `Conversations.latest`."""
        found = await self._threads.run(self._bee.conversations.latest)
        return None if found is None else AsyncConversation(found, self._threads)

    async def delete(self, id: str) -> bool:  # noqa: A002 - as `Conversations.delete`
        """See `Conversations.delete`."""
        return await self._threads.run(lambda: self._bee.conversations.delete(id))

    async def rename(self, id: str, title: str) -> ConversationInfo:  # noqa: A002 - as `Conversations.rename`
        """See `Conversations.rename`."""
        return await self._threads.run(lambda: self._bee.conversations.rename(id, title))

    async def export(self, id: str, format: str = "markdown") -> str:  # noqa: A002 - as `Conversations.export`
        """See `Conversations.export`."""
        return await self._threads.run(lambda: self._bee.conversations.export(id, format))


class AsyncPrompts:
    """Mirrors `Prompts`."""

    def __init__(self, prompts: Prompts, threads: Threads) -> None:
        self._inner = prompts
        self._threads = threads

    async def list(self) -> tuple[PromptText, ...]:
        """See `Prompts.list`."""
        return await self._threads.run(self._inner.list)

    async def get(self, name: str, *, own: Mapping[str, str] | None = None) -> PromptText:
        """See `Prompts.get`."""
        return await self._threads.run(lambda: self._inner.get(name, own=own))

    async def default(self, name: str) -> str:
        """See `Prompts.default`."""
        return await self._threads.run(lambda: self._inner.default(name))

    async def text(self, name: str, /, **values: str) -> str:
        """See `Prompts.text`."""
        return await self._threads.run(lambda: self._inner.text(name, **values))

    async def text_within(self, own: Mapping[str, str], name: str, /, **values: str) -> str:
        """See `Prompts.text_within`."""
        return await self._threads.run(lambda: self._inner.text_within(own, name, **values))

    async def set(self, name: str, text: str, *, model: str | None = None) -> PromptText:
        """See `Prompts.set`."""
        return await self._threads.run(lambda: self._inner.set(name, text, model=model))

    async def unset(self, name: str, *, model: str | None = None) -> bool:
        """See `Prompts.unset`."""
        return await self._threads.run(lambda: self._inner.unset(name, model=model))

    async def check(self, name: str, text: str) -> None:
        """See `Prompts.check`."""
        await self._threads.run(lambda: self._inner.check(name, text))


class AsyncShelf:
    """Mirrors `Shelf`."""

    def __init__(self, shelf: Shelf, threads: Threads) -> None:
        self._inner = shelf
        self._threads = threads

    async def list(self, search: str = "") -> tuple[Note, ...]:
        """See `Shelf.list`."""
        return await self._threads.run(lambda: self._inner.list(search))

    async def get(self, ref: str) -> Note | None:
        """See `Shelf.get`."""
        return await self._threads.run(lambda: self._inner.get(ref))

    async def require(self, ref: str) -> Note:
        """See `Shelf.require`."""
        return await self._threads.run(lambda: self._inner.require(ref))

    async def damaged(self) -> tuple[str, ...]:
        """See `Shelf.damaged`."""
        return await self._threads.run(self._inner.damaged)

    async def revisions(self, ref: str) -> tuple[Note, ...]:
        """See `Shelf.revisions`."""
        return await self._threads.run(lambda: self._inner.revisions(ref))

    async def add(self, text: str, *, name: str = "", description: str = "", author: Author | None = None) -> Note:
        """See `Shelf.add`."""
        return await self._threads.run(lambda: self._inner.add(text, name=name, description=description, author=author))

    async def edit(
        self,
        ref: str,
        *,
        text: str | None = None,
        name: str | None = None,
        description: str | None = None,
        author: Author | None = None,
    ) -> Note:
        """See `Shelf.edit`."""
        return await self._threads.run(
            lambda: self._inner.edit(ref, text=text, name=name, description=description, author=author)
        )

    async def revert(self, ref: str, revision: int) -> Note:
        """See `Shelf.revert`."""
        return await self._threads.run(lambda: self._inner.revert(ref, revision))

    async def delete(self, ref: str) -> bool:
        """See `Shelf.delete`."""
        return await self._threads.run(lambda: self._inner.delete(ref))

    async def brief(self, budget_tokens: int) -> str:
        """See `Shelf.brief`."""
        return await self._threads.run(lambda: self._inner.brief(budget_tokens))
