"""Earlier turns as a request carries them. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from lilbee_core.text import defuse, fence_for, fenced, fold_space
from lilbee_core.types import Attachment, ConversationMessage, Message

UNANSWERED = "(This message was not answered.)"


def history_of(messages: Sequence[ConversationMessage]) -> tuple[Message, ...]:
    """Return turns of user and assistant that alternate, the user first and the assistant last.

    Reasoning and results of tools are not sent again, nor are marks: they named passages of another request.
    """
    turns: list[Message] = []
    for message in messages:
        content = told(message)
        if not content.strip():
            continue
        if turns and turns[-1].role == message.role:
            turns[-1] = Message(role=message.role, content=f"{turns[-1].content}\n\n{content}")
        elif turns or message.role == "user":
            turns.append(Message(role=message.role, content=content))
    if turns and turns[-1].role == "user":
        turns.append(Message(role="assistant", content=UNANSWERED))
    return tuple(turns)


def told(message: ConversationMessage) -> str:
    """Return what a message says to the model later on."""
    if message.role == "assistant":
        return without_marks(message)
    return f"{attached(message.attachments)}{defuse(message.content)}"


def without_marks(message: ConversationMessage) -> str:
    """Return a reply without the marks of its citations."""
    markers = {str(one.marker) for one in message.citations}
    if not markers:
        return message.content
    return re.sub(r" ?\[(\d+)\]", lambda mark: "" if mark[1] in markers else mark[0], message.content)


def attached(attachments: Sequence[Attachment]) -> str:
    """Return what was handed over with a message as fenced data."""
    texts = [(defuse(one.name), defuse(one.text)) for one in attachments if one.text]
    fence = fence_for(part for pair in texts for part in pair)
    return "".join(f"{fenced(fence, 'attached', fold_space(name)[:200], text)}\n\n" for name, text in texts)


def exchanges(messages: Sequence[ConversationMessage]) -> list[tuple[str, str]]:
    """Return questions with their replies, oldest first."""
    pairs = [
        (first.content, without_marks(second) if second.role == "assistant" else "")
        for first, second in pairwise([*messages, *messages[-1:]])
        if first.role == "user"
    ]
    return [(question, reply if reply != question else "") for question, reply in pairs]
