"""Paragraphs as sentences and names, for edits that are made by rule."""

from __future__ import annotations

import re
from dataclasses import dataclass

_STOP = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"“])")
_SHORT = re.compile(r"(?:\b[A-Z]|\b(?:Dr|Mr|Mrs|St|No|vs|etc|Jr|Sr|U\.S|ca|c|e\.g|i\.e|Prof|Gen|Col|Lt))\.$")
_WORD = r"[A-Z][\w'’-]*[a-z][\w'’-]*"
_NAME = re.compile(rf"\b{_WORD}(?:\s+(?:of\s+the\s+|of\s+|de\s+|von\s+)?{_WORD})*")
_NO_NAMES = frozenset(
    ("The", "This", "These", "That", "Those", "In", "On", "At", "It", "He", "She", "They", "His", "Her", "Their", "A",
     "An", "When", "While", "If", "Some", "Many", "Most", "Both", "All", "Its", "There", "Such", "For", "From", "With",
     "After", "As", "By", "Note", "Since",
     "Although", "However", "Because", "Until", "Another", "Other")
)  # fmt: skip
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph of an article."""

    id: str
    title: str
    text: str

    @property
    def sentences(self) -> list[str]:
        """Its sentences that a claim can be made of: neither very short nor very long, and whole."""
        return [one for one in cut(self.text) if 40 <= len(one) <= 260 and one.count('"') % 2 == 0 and one[-1] in ".!?"]


def cut(text: str) -> list[str]:
    """Return the sentences of a text."""
    found: list[str] = []
    for piece in _STOP.split(text):
        if found and _SHORT.search(found[-1]):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return found


def names(sentence: str) -> list[re.Match[str]]:
    """Return the names in a sentence; a word that only opens it is none."""
    found: list[re.Match[str]] = []
    for match in _NAME.finditer(sentence):
        words = match.group().split()
        if words[0] in _NO_NAMES | set(MONTHS) or (match.start() == 0 and len(words) == 1):
            continue
        found.append(match)
    return found


def replaced(text: str, match: re.Match[str], by: str) -> str:
    """Return the text with a match put in other words."""
    return text[: match.start()] + by + text[match.end() :]
