"""Texts broken into rows of a width, with their styles: what `Lines` draws. Knows nothing of a screen."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text

TAB = 8
_WORD = re.compile(r"\s*\S+\s*")


@dataclass(frozen=True, slots=True)
class Laid:
    """A text, the width it was broken for, its rows, and in which of them each of its lines begins."""

    text: Text
    width: int
    rows: tuple[tuple[Segment, ...], ...]
    begins: tuple[int, ...]

    def plain(self, row: int) -> str:
        """Return what stands in a row."""
        return "".join(segment.text for segment in self.rows[row])


def lay_out(text: Text, width: int) -> Laid:
    """Break a text into rows between words, and words that are longer than a row wherever it ends.

    Of styles that overlap the one that begins first holds.
    """
    width = max(1, width)
    flat = text
    if "\t" in text.plain:
        flat = text.copy()
        flat.expand_tabs(TAB)
    plain, runs = flat.plain, _runs(flat)
    starts = [start for start, _ in runs]
    rows: list[tuple[Segment, ...]] = []
    begins: list[int] = []
    at = 0
    for line in plain.split("\n"):
        begins.append(len(rows))
        for start, end in _breaks(line, width):
            rows.append(tuple(_cut(plain, runs, starts, at + start, at + end)))
        at += len(line) + 1
    return Laid(text, width, tuple(rows), tuple(begins))


def _runs(text: Text) -> list[tuple[int, Style]]:
    """Return where each style begins; together they cover the text."""
    base = _style(text.style)
    runs: list[tuple[int, Style]] = [(0, base)]
    at = 0
    for begin, end, style in sorted(text.spans, key=lambda span: span.start):
        start = max(begin, at)
        if end > start:
            runs += [(start, base + _style(style)), (end, base)]
            at = end
    return runs


def _style(style: str | Style) -> Style:
    return style if isinstance(style, Style) else Style.parse(style)


def _cut(plain: str, runs: list[tuple[int, Style]], starts: list[int], start: int, end: int) -> Iterator[Segment]:
    at = bisect_right(starts, start) - 1
    while start < end:
        upto = min(end, starts[at + 1]) if at + 1 < len(starts) else end
        if upto > start:
            yield Segment(plain[start:upto], runs[at][1])
            start = upto
        at += 1


def _breaks(line: str, width: int) -> Iterator[tuple[int, int]]:
    """Yield beginning and end of each row, without the blanks at its end."""
    if _cells(line) <= width:
        yield 0, len(line)
        return
    row = used = 0
    for word in _WORD.finditer(line):
        begin, end = word.span()
        size = _cells(word[0].rstrip())
        if used + size <= width:
            used += _cells(word[0])
            continue
        if begin > row:
            yield row, row + len(line[row:begin].rstrip())
            row = begin
        while _cells(line[row:end].rstrip()) > width:
            cut = _fitting(line, row, width)
            yield row, cut
            row = cut
        used = _cells(line[row:end])
    yield row, row + len(line[row:].rstrip())


def _cells(text: str) -> int:
    return len(text) if text.isascii() else cell_len(text)


def _fitting(line: str, start: int, width: int) -> int:
    """Return where a row ends that begins here and holds as many signs as fit, and one at least."""
    used = 0
    for at in range(start, len(line)):
        used += cell_len(line[at])
        if used > width and at > start:
            return at
    return len(line)
