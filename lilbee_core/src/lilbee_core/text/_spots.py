"""Places smaller than a page or a sheet, joined: ranges of cells, boxes on pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lilbee_core.types import Box

_CELLS = re.compile(r"(.*!)([A-Z]{1,3})(\d+):([A-Z]{1,3})(\d+)", re.DOTALL)
_APART = 24.0
"""Points between two lines of which one still continues the other."""


def join_labels(first: str, last: str) -> str:
    """Return one label for a piece that runs from one place to another; ranges of one sheet become one range."""
    if first == last:
        return first
    one, other = _CELLS.fullmatch(first), _CELLS.fullmatch(last)
    if one is None or other is None or one[1] != other[1]:
        return f"{first} to {last}"
    left, right = min(one[2], other[2], key=_column), max(one[4], other[4], key=_column)
    top, bottom = min(int(one[3]), int(other[3])), max(int(one[5]), int(other[5]))
    return f"{one[1]}{left}{top}:{right}{bottom}"


def _column(name: str) -> tuple[int, str]:
    return len(name), name


def join_boxes(boxes: Iterable[Box]) -> tuple[Box, ...]:
    """Return the boxes with each made one with the box before it that it continues downwards or beside."""
    joined: list[Box] = []
    for box in boxes:
        if joined and _continues(joined[-1], box):
            joined[-1] = _around(joined[-1], box)
        elif box not in joined:
            joined.append(box)
    return tuple(joined)


def _continues(box: Box, following: Box) -> bool:
    if box.page != following.page:
        return False
    beside = min(box.right, following.right) > max(box.left, following.left)
    near = following.top > box.bottom - _APART and following.bottom < box.top + _APART
    return beside and near


def _around(one: Box, other: Box) -> Box:
    return Box(
        page=one.page,
        left=min(one.left, other.left),
        bottom=min(one.bottom, other.bottom),
        right=max(one.right, other.right),
        top=max(one.top, other.top),
    )
