"""What routes and pages do with conversations, whoever asks for it and in whatever form."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lilbee_core import Lilbee
from lilbee_core.errors import LibraryError, NotFound
from lilbee_core.types import Attachment, Compaction, ConversationMessage, Delta, GivenFile
from lilbee_server.generation import Generation
from lilbee_server.replies import Replies

if TYPE_CHECKING:
    from lilbee_core.conversations import Conversation

Attached = Attachment | GivenFile


CHANGED = "conversation.changed"
"""The code of an error that says: somebody else changed the conversation meanwhile."""


def require(library: Lilbee, replies: Replies, ref: str) -> Conversation:
    """Return a conversation, also one that was begun and has no message yet."""
    draft = replies.drafts.get(ref)
    return draft if draft is not None else library.conversations.require(ref)


def document(library: Lilbee, ref: str) -> Attachment:
    """Return a document as it is handed over. It comes from the index: no path of this machine is opened."""
    passage = library.get_text(ref)
    source = f"{passage.collection}/{passage.path}"
    return Attachment(name=passage.path, text=passage.text, source=source, size=len(passage.text))


def page(library: Lilbee, url: str) -> Attachment:
    """Return a page of the web as it is handed over; one that the library does not keep yet is fetched first.

    Raises:
        NotFound: If there is nothing to read there.
        CrawlError: If it cannot be had.
    """
    kept = library.web.get(url)
    if kept is None:
        library.web.crawl(url, depth=0, pages=1)
        kept = library.web.get(url)
    if kept is None:
        raise NotFound(f"{url} gave nothing to read", hint="Open it in a browser, and attach what you save there.")
    return replace(document(library, f"{kept.collection}/{kept.path}"), name=kept.title or kept.url)


@dataclass(frozen=True, slots=True)
class Transcript:
    """A conversation as a file."""

    body: bytes
    media_type: str
    headers: Mapping[str, str]


def exported(found: Conversation, form: str) -> Transcript:
    """Return a transcript as a file to save.

    Raises:
        InvalidArgument: If there is no such format.
    """
    body = found.export(form).encode()
    kind, ending = ("application/json", "json") if form == "json" else ("text/markdown; charset=utf-8", "md")
    return Transcript(body, kind, {"Content-Disposition": f'attachment; filename="conversation-{found.id}.{ending}"'})


async def send(
    replies: Replies,
    found: Conversation,
    text: str,
    attachments: Callable[[], Sequence[Attached]] = tuple,
    *,
    seen: str | None = None,
    again: str | None = None,
) -> Generation:
    """Keep a message, and have it answered.

    Args:
        replies: The replies of the server.
        found: The conversation.
        text: The message.
        attachments: Gives what is handed over with it.
        seen: The last message that the writer knew of; None writes on whatever came since.
        again: A message that this one takes the place of, with all that followed; what was attached to it stays.

    Raises:
        Running: If a reply is being written in it.
        LibraryError: If it ends otherwise than the writer knew.
    """

    def post() -> ConversationMessage:
        check_seen(found, seen)
        if again is not None:
            return found.post_again(again, text, attachments=attachments())
        return found.post(text, attachments=attachments())

    with replies.claim(found.id):
        posted = await asyncio.to_thread(post)
        replies.drafts.pop(found.id, None)
        start: Callable[[], Iterator[Delta]] = lambda: found.run(posted)  # noqa: E731
        return await replies.write(found, start)


async def regenerate(replies: Replies, found: Conversation, *, seen: str | None = None) -> Generation:
    """Have the last message answered anew.

    Raises:
        Running: If a reply is being written in it.
        LibraryError: If it ends otherwise than who asks for it knew.
    """
    with replies.claim(found.id):
        await asyncio.to_thread(check_seen, found, seen)
        return await replies.write(found, found.regenerate_stream)


async def rewind(
    replies: Replies, found: Conversation, to: str | int, *, seen: str | None = None
) -> tuple[ConversationMessage, ...]:
    """Take messages back, and return them.

    Raises:
        Running: If a reply is being written in it.
        LibraryError: If it ends otherwise than who asks for it knew.
    """

    def take_back() -> tuple[ConversationMessage, ...]:
        check_seen(found, seen)
        return found.rewind(to)

    with replies.claim(found.id):
        return await asyncio.to_thread(take_back)


async def compact(replies: Replies, found: Conversation) -> Compaction | None:
    """Summarize earlier turns now; None if there is nothing to sum up.

    Raises:
        Running: If a reply is being written in it.
    """
    with replies.claim(found.id):
        return await asyncio.to_thread(found.compact)


async def stop(replies: Replies, found: Conversation) -> None:
    """End the reply that is being written; what arrived stays.

    Raises:
        NotFound: If there is none since the server started.
    """
    generation = replies.require(found.id)
    generation.stop()
    await generation.ended()


def delete(library: Lilbee, replies: Replies, found: Conversation) -> bool:
    """Delete a conversation with its messages; say whether there was one."""
    replies.drafts.pop(found.id, None)
    return library.conversations.delete(found.id)


def check_seen(found: Conversation, seen: str | None) -> None:
    """Make sure that a conversation ends with what somebody saw of it.

    A reply that came since to the message that was seen last changes nothing of what is meant.

    Raises:
        LibraryError: If it ends otherwise.
    """
    if seen is None:
        return
    messages = found.messages
    last = messages[-1] if messages else None
    if seen not in ((last.id, last.reply_to) if last is not None else ("",)):
        raise LibraryError(
            "this conversation was changed elsewhere since it was shown here",
            code=CHANGED,
            hint="Look at what is new in it, and send again what is still meant.",
        )
