"""Cutting a stretch at its headings."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from lilbee_core.chunking._ruler import TokenRuler
from lilbee_core.chunking._units import Unit, tiny_tokens
from lilbee_core.types import Heading

_HEADING_CHARS = 200
_SIGN = re.compile(r"\S")
_UNDERLINE = re.compile(r"[\s=\-~*_#]*")


@dataclass(frozen=True, slots=True)
class _Section:
    start: int
    end: int
    path: tuple[str, ...]
    bare: bool  # nothing but its heading
    tiny: bool


class HeadingCursor:
    """Walks through the headings of a document in order and knows the path at every place."""

    def __init__(self, headings: Sequence[Heading]) -> None:
        self._headings = sorted(headings, key=lambda one: one.start)
        self._starts = [one.start for one in self._headings]
        self._next = 0
        self._stack: list[Heading] = []

    @property
    def path(self) -> tuple[str, ...]:
        """The titles of the headings that hold the current place, outermost first."""
        return tuple(one.title for one in self._stack)

    def forget(self) -> None:
        """Leave all sections: what follows is another document of an archive."""
        self._stack.clear()

    def until(self, end: int) -> Iterator[Heading]:
        """Enter the headings before `end` one by one."""
        last = bisect_left(self._starts, end)
        while self._next < last:
            heading = self._headings[self._next]
            self._next += 1
            while self._stack and self._stack[-1].level >= heading.level:
                self._stack.pop()
            self._stack.append(heading)
            yield heading


def section_units(
    text: str, start: int, end: int, cursor: HeadingCursor, ruler: TokenRuler, size: int
) -> Iterator[Unit]:
    """Yield the sections of ``[start, end)``, tiny neighbors of one parent as one."""
    done: list[_Section] = []
    group: list[_Section] = []
    for section in _sections(text, start, end, cursor, ruler, tiny_tokens(size)):
        if group and _belongs(group, section, ruler, size):
            group.append(section)
            continue
        if done and not _is_bare(done, group, ruler, size):
            yield _unit(done)
            done = []
        done, group = done + group, [section]
    if done and not _is_bare(done, group, ruler, size):
        yield _unit(done)
        done = []
    if done or group:
        yield _unit(done + group)


def _is_bare(before: Sequence[_Section], group: Sequence[_Section], ruler: TokenRuler, size: int) -> bool:
    """Say whether a group is nothing but headings that end a chunk better than they make one."""
    return bool(group) and all(one.bare for one in group) and _fits(before, group[-1], ruler, size)


def _sections(
    text: str, start: int, end: int, cursor: HeadingCursor, ruler: TokenRuler, tiny: int
) -> Iterator[_Section]:
    at, path, headed = start, cursor.path, False
    for heading in cursor.until(end):
        begin = max(heading.start, start)
        if begin > at:
            yield from _section(text, at, begin, path, headed, ruler, tiny)
        at, path, headed = begin, cursor.path, True
    yield from _section(text, at, end, path, headed, ruler, tiny)


def _section(
    text: str, start: int, end: int, path: tuple[str, ...], headed: bool, ruler: TokenRuler, tiny: int
) -> Iterator[_Section]:
    if not _SIGN.search(text, start, end):
        return
    empty = False
    if headed:
        first = text.find("\n", start, end)
        after_heading = _UNDERLINE.match(text, first, end) if first >= 0 else None
        empty = after_heading.end() == end if after_heading else end - start <= _HEADING_CHARS
    yield _Section(start, end, path, bare=empty, tiny=ruler.count(start, end, tiny) < tiny)


def _belongs(group: Sequence[_Section], section: _Section, ruler: TokenRuler, size: int) -> bool:
    """Say whether a section goes into one chunk with those before it."""
    last = group[-1]
    related = last.path[:-1] == section.path[:-1] or section.path[: len(last.path)] == last.path
    if not related:
        return False
    if all(one.bare for one in group):
        return True
    if section.bare:
        return False
    return last.tiny and section.tiny and _fits(group, section, ruler, size // 4)


def _fits(group: Sequence[_Section], section: _Section, ruler: TokenRuler, size: int) -> bool:
    return ruler.advance(group[0].start, size) >= section.end


def _unit(group: Sequence[_Section]) -> Unit:
    with_text = [one.path for one in group if not one.bare] or [one.path for one in group]
    return Unit(group[0].start, group[-1].end, _common(with_text))


def _common(paths: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the titles with which all paths begin."""
    same = takewhile(lambda titles: len(set(titles)) == 1, zip(*paths, strict=False))
    return tuple(titles[0] for titles in same)
