"""Conversations as text for people, and as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lilbee_core.text import fold_space
from lilbee_core.types import Citation, ConversationInfo, ConversationMessage, ReplyState

_SPEAKERS = {"user": "You", "assistant": "lilbee"}


def as_json(info: ConversationInfo, messages: Sequence[ConversationMessage]) -> str:
    """Return everything that front ends show of a conversation."""
    value = {"conversation": info.to_dict(), "messages": [one.to_dict() for one in messages]}
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def as_markdown(info: ConversationInfo, messages: Sequence[ConversationMessage], *, summarized: int = 0) -> str:
    """Return a transcript; a rule shows up to where a summary stands for the messages."""
    lines = [f"# {fold_space(info.title) or 'Conversation'}", ""]
    for at, message in enumerate(messages):
        if summarized and at == summarized and info.compaction is not None:
            lines += ["---", "", "*What stands above is sent to the model as this summary:*", ""]
            lines += [f"> {line}" for line in info.compaction.summary.splitlines()] + ["", "---", ""]
        lines += _message(message)
    return "\n".join(lines).rstrip() + "\n"


def _message(message: ConversationMessage) -> list[str]:
    lines = [f"**{_SPEAKERS.get(message.role, message.role)}** ({message.created_at[:16].replace('T', ' ')})", ""]
    lines += [f"*Attached: {fold_space(one.name)}*" for one in message.attachments]
    lines += ["" for _ in message.attachments[:1]]
    lines += [message.content.strip(), ""]
    if message.role == "assistant" and message.state is ReplyState.PARTIAL:
        lines += ["*(This reply was cut off.)*", ""]
    for one in message.citations:
        lines.append(f"- [{one.marker}] {_place(one)}: “{fold_space(one.quote)}”")
        lines += [f"  - {place}" for place in dict.fromkeys(map(_place, one.sources))]
    lines += ["" for _ in message.citations[:1]]
    return lines


def _place(citation: Citation) -> str:
    place = str(citation.location)
    return f"`{citation.path}`" + (f" ({place})" if place else "")
