"""Lines that were drawn in one piece across two columns, taken apart where the same strip is empty in several lines.

Pure functions on rectangles. One wide space between two words is no column: lines that are set to one width have it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

Sides = tuple[float, float, float, float]
"""Left, bottom, right, top."""
_LEAST_LINES = 3
_WIDE = 1.0
"""Least width of a gap, in heights of its line."""


def is_wide(gap: Sides) -> bool:
    """Say whether a gap is wider than spaces between words are."""
    left, bottom, right, top = gap
    return right - left >= _WIDE * (top - bottom) > 0


def gutters(gaps: Sequence[Sides]) -> list[Sides]:
    """Return the gaps that lie over each other, in three lines at least."""
    return [gap for gap in gaps if sum(_share_strip(gap, other) for other in gaps) >= _LEAST_LINES]


def _share_strip(one: Sides, other: Sides) -> bool:
    shared = min(one[2], other[2]) - max(one[0], other[0])
    return shared >= _WIDE * min(one[3] - one[1], other[3] - other[1])


def taken_apart(sides: Sides, gaps: Sequence[Sides]) -> Iterator[Sides]:
    """Yield the parts of a line that lie beside the gaps in it, from left to right."""
    left, bottom, right, top = sides
    for gap in sorted(gaps):
        middle = (gap[1] + gap[3]) / 2
        if left < gap[0] and gap[2] < right and bottom <= middle <= top:
            yield left, bottom, gap[0], top
            left = gap[2]
    yield left, bottom, right, top
