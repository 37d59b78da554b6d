"""Telling a model's reasoning from its answer when both come in one stream of text."""

from __future__ import annotations

import re
from collections.abc import Iterator

_OPEN = ("<think>", "<thinking>", "<thought>", "<reasoning>")
_CLOSE = ("</think>", "</thinking>", "</thought>", "</reasoning>")
_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_LONGEST = max(map(len, _CLOSE))


class ThinkSplitter:
    """Splits text into ``reasoning`` (what stands in think tags) and ``text``, however it is cut into pieces.

    What may be the beginning of a tag is held back until the next piece; `end` gives out the rest.
    """

    def __init__(self) -> None:
        self._held = ""
        self._thinking = False
        self._fresh = True  # no text since the start or the last tag: blank lines there belong to neither

    def feed(self, piece: str) -> Iterator[tuple[str, str]]:
        """Yield ``(kind, text)`` for what is certain."""
        self._held += piece
        while (tag := _TAG.search(self._held)) is not None:
            before, self._held = self._held[: tag.start()], self._held[tag.end() :]
            yield from self._give(before)
            self._thinking = not tag[1]
            self._fresh = True
        certain = len(self._held) - _open_end(self._held)
        before, self._held = self._held[:certain], self._held[certain:]
        yield from self._give(before)

    def end(self) -> Iterator[tuple[str, str]]:
        """Yield what was held back."""
        held, self._held = self._held, ""
        yield from self._give(held)

    def _give(self, text: str) -> Iterator[tuple[str, str]]:
        shown = text.lstrip() if self._fresh else text
        if shown:
            self._fresh = False
            yield ("reasoning" if self._thinking else "text"), shown


def _open_end(text: str) -> int:
    """Return how many characters at the end may be the beginning of a tag."""
    at = text.rfind("<", max(0, len(text) - _LONGEST + 1))
    if at < 0:
        return 0
    tail = text[at:].lower()
    return len(tail) if any(tag.startswith(tail) for tag in (*_OPEN, *_CLOSE)) else 0
