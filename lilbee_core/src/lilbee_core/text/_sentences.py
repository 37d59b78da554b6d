"""Sentences, as spans of the text."""

from __future__ import annotations

import re

from lilbee_core.types import Span

# A sentence ends at . ! ? … with a blank or a quote behind it, at CJK and Devanagari stops anywhere,
# and at an empty line. Initials and common abbreviations do not end one.
_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|$)|[。！？｡।]+[」』”’]*|\n[ \t]*\n|$(?!\n)")
_ABBREVIATION = re.compile(
    r"(?:(?<!['’])\b(?:[A-Za-z]|e\.g|i\.e|etc|vs|cf|ca|Dr|Mr|Mrs|Ms|Prof|St|No|Nr|Fig|Abb|bzw|usw|z\.B|d\.h|approx))\.$"
)
# "12. Mai": the stop of an ordinal.
_DAY = re.compile(r"(?<!\d)\d{1,2}\.$")
_MONTH = re.compile(
    r"\s+(?:Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember)\b"
)


def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of `text` as spans without surrounding white space."""
    found: list[Span] = []
    start = 0
    for match in _END.finditer(text):
        end = match.end()
        if match.group().strip(".") == "" and match.group() == "." and _ABBREVIATION.search(text, start, end):
            continue
        if match.group() == "." and _MONTH.match(text, end) and _DAY.search(text, max(start, end - 3), end):
            continue
        found.append(trimmed(text, start, end))
        start = end
    found.append(trimmed(text, start, len(text)))
    return tuple(one for one in found if len(one))


def trimmed(text: str, start: int, end: int) -> Span:
    """Return the span of a piece of `text` without the white space around it; an empty one where there is no more."""
    piece = text[start:end]
    first = start + len(piece) - len(piece.lstrip())
    return Span(first, max(first, start + len(piece.rstrip())))
