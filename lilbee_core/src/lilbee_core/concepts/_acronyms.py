"""Abbreviations that a text explains itself: `World Health Organization (WHO)`, `WHO (World Health Organization)`."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SHORT = r"[A-Z][A-Za-z0-9&.-]{1,9}"
_AFTER = re.compile(rf"\(({_SHORT})s?\)")
_BEFORE = re.compile(rf"\b({_SHORT})s? \(([^()]{{5,80}})\)")
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_STOP = re.compile(r"[.;:!?()\n]")
_LEAST_CAPITALS = 2
_WINDOW = 120


def explained(text: str) -> Iterator[tuple[str, str]]:
    """Yield abbreviations with the long form that the text gives for them."""
    if "(" not in text:
        return
    for match in _AFTER.finditer(text):
        before = text[max(0, match.start() - _WINDOW) : match.start()]
        long_form = _long_form(match[1], _STOP.split(before)[-1])
        if long_form:
            yield match[1], long_form
    for match in _BEFORE.finditer(text):
        long_form = _long_form(match[1], match[2])
        if long_form and match[2].strip().startswith(long_form):
            yield match[1], long_form


def _long_form(short: str, text: str) -> str | None:
    """Return the words at the end of `text` that the letters of `short` come from, in their order."""
    letters = [letter.lower() for letter in short if letter.isalnum()]
    if sum(letter.isupper() for letter in short) < _LEAST_CAPITALS:
        return None
    words = list(_WORD.finditer(text))[-min(len(letters) + 5, 2 * len(letters)) :]
    if not words:
        return None
    floor = words[0].start()
    at = len(text)
    for place, letter in enumerate(reversed(letters), start=1):
        first = place == len(letters)
        at -= 1
        while at >= floor and (text[at].lower() != letter or (first and at > 0 and text[at - 1].isalnum())):
            at -= 1
        if at < floor:
            return None
    found = text[at:].strip()
    return found if len(_WORD.findall(found)) > 1 and len(found) > len(short) else None
