"""White space folded as a browser does it, without losing the lines of the file."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SPACE = re.compile(r"[ \t\f\v\u00a0]+")

Lines = list[tuple[str, int]]
"""Lines of text, each with its line in the file."""


def flowed(pieces: Sequence[tuple[str, int]]) -> Lines:
    """Return the lines of running text; empty ones are dropped. Each piece comes with its first line's number."""
    lines: Lines = []
    current: list[str] = []
    started = 0
    for text, line in pieces:
        for number, part in enumerate(text.split("\n")):
            if number:
                _add_line(lines, current, started)
                current = []
            if part and not part.isspace() and not any(one.strip() for one in current):
                started = line + number
            current.append(part)
    _add_line(lines, current, started)
    return lines


def _add_line(lines: Lines, parts: list[str], line: int) -> None:
    text = _SPACE.sub(" ", "".join(parts)).strip()
    if text:
        lines.append((text, line))


def preformatted(pieces: Sequence[tuple[str, int]]) -> Lines:
    """Return the lines of text whose white space counts, without empty ones at both ends."""
    lines: Lines = []
    for text, line in pieces:
        for number, part in enumerate(text.split("\n")):
            if number or not lines:
                lines.append((part, line + number))
            else:
                lines[-1] = (lines[-1][0] + part, lines[-1][1])
    while lines and not lines[-1][0].strip():
        lines.pop()
    while lines and not lines[0][0].strip():
        lines.pop(0)
    return lines
