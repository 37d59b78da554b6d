"""Handing texts to a chat model as data: marks that it could take for somebody's turn, and fences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

# Marks by which chat templates tell who speaks; a document must not speak for anybody.
_CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|<[|｜][^<>\n]{1,40}[|｜]>"
    r"|</?(?:bos|eos|sop|eop|think|tool_call|tool_response|tools|function_call|system|unk|pad)>"
    r"|\[/?(?:TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS|SYSTEM_PROMPT|IMG|gMASK|sMASK|BOS|EOS)\]"
    r"|<(?:reserved|unused|extra_id)_?\d{1,4}>|<__media__>",
    re.IGNORECASE,
)
# Signs that nobody sees, and that models read: tags, zero widths, changes of direction. The joiners of Persian and
# Indic scripts and of emoji stay.
_UNSEEN = re.compile(
    "[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)


def defuse(text: str) -> str:
    """Return `text` as a chat model may read it: marks of chat templates are plain text, nothing is unseen."""
    seen = _UNSEEN.sub("", text)
    return _CONTROL.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", seen)


def fenced(fence: str, what: str, label: str, text: str) -> str:
    """Return a text between two lines that begin with the fence and say what it is; the first one has the label too."""
    return f"{fence} begin {what} {label}\n{text}\n{fence} end {what}"


def fence_for(texts: Iterable[str]) -> str:
    """Return a line head that none of the texts holds: it depends on all of them, so no writer can foresee it."""
    held = tuple(texts)
    digest = hashlib.blake2b(digest_size=6)
    for text in held:
        digest.update(f"{text}\0".encode("utf-8", "surrogatepass"))
    fence = f"#####{digest.hexdigest()}"
    while any(fence in text for text in held):
        digest.update(b"again")
        fence = f"#####{digest.hexdigest()}"
    return fence
