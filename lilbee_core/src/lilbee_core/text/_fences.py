"""Handing texts to a chat model as data: marks that it could take for somebody's turn, and fences."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

# Marks by which chat templates tell who speaks; a document must not speak for anybody.
_CONTROL = re.compile(
    r"<\|[^|<>\n]{1,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|</?(?:start|end)_of_turn>|<[|｜][^<>\n]{1,40}[|｜]>"
)


def defuse(text: str) -> str:
    """Return `text` with a blank inside every mark of chat templates, so that it is read as plain text."""
    return _CONTROL.sub(lambda match: f"{match.group()[0]} {match.group()[1:]}", text)


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
