"""Cutting a document at its segments: sheets, cells and members always, pages unless they hold little text."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from lilbee_core.chunking._ruler import TokenRuler
from lilbee_core.types import Segment

_SIGN = re.compile(r"\S")


@dataclass(frozen=True, slots=True)
class Zone:
    """A stretch of the text in one segment, or in several pages with little text each."""

    start: int
    end: int
    member: str | None = None
    paged: bool = False


class Segments:
    """The segments of a document, so that those at a place are found quickly."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self._all = sorted(segments, key=lambda one: (one.span.start, -one.span.end))
        self._starts = [one.span.start for one in self._all]
        self._ends = list(accumulate((one.span.end for one in self._all), max))

    def touching(self, start: int, end: int) -> Sequence[Segment]:
        """Return a few neighbors in order, among them all segments that share a character with ``[start, end)``."""
        if not self._all:
            return ()
        return self._all[bisect_right(self._ends, start) : bisect_right(self._starts, end - 1)]

    def at(self, offset: int) -> Segment | None:
        """Return the innermost segment that holds the character at `offset`."""
        holding = [one for one in self.touching(offset, offset + 1) if offset < one.span.end and not one.fine]
        return holding[-1] if holding else None

    def edges(self, start: int, end: int) -> list[int]:
        """Return where segments that are not fine begin or end, from `start` to `end`, ascending."""
        coarse = (one.span for one in self._all if not one.fine)
        inside = {edge for span in coarse for edge in (span.start, span.end) if start < edge < end}
        return [start, *sorted(inside), end]


def zones(text: str, start: int, segments: Segments, ruler: TokenRuler, size: int) -> Iterator[Zone]:
    """Yield the zones of ``text[start:]`` that hold more than white space, in order."""
    open_zone: Zone | None = None
    for zone in _simple_zones(text, start, segments):
        joined = open_zone and _join(open_zone, zone, ruler, size)
        if joined:
            open_zone = joined
            continue
        if open_zone:
            yield open_zone
        open_zone = zone
    if open_zone:
        yield open_zone


def _simple_zones(text: str, start: int, segments: Segments) -> Iterator[Zone]:
    edges = segments.edges(start, len(text))
    for first, last in pairwise(edges):
        sign = _SIGN.search(text, first, last)
        if sign is None:
            continue
        segment = segments.at(sign.start())
        member = segment.member if segment else None
        yield Zone(first, last, member, segment is not None and segment.page is not None)


def _join(zone: Zone, following: Zone, ruler: TokenRuler, size: int) -> Zone | None:
    """Return both zones as one if they are pages, one of them has little text and both fit into a chunk."""
    if not (zone.paged and following.paged and zone.member == following.member):
        return None
    little = size // 6
    smaller = min(
        ruler.count(zone.start, zone.end, little + 1), ruler.count(following.start, following.end, little + 1)
    )
    if smaller > little or ruler.advance(zone.start, size) < following.end:
        return None
    return Zone(zone.start, following.end, zone.member, paged=True)
