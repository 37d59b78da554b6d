"""What is in a sheet, whatever its format: rows of shown values with their places, comments, and what had no value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

LAST_ROW, LAST_COLUMN = 1_048_575, 16_383
"""The last place of the biggest sheets, counted from 0."""
_MOST_RANGES = 5
_NAME = re.compile(r"\$?([A-Z]{1,3})\$?(\d{1,7})")

Place = tuple[int, int]
"""Row and column of a cell, counted from 0."""


class Row(NamedTuple):
    """A row with its number, its cells that show something by their columns, and whether one of them is a number."""

    number: int
    cells: Sequence[tuple[int, str]]
    has_numbers: bool


@dataclass(frozen=True, slots=True)
class Comment:
    """A note on a cell."""

    place: Place
    text: str
    author: str = ""


@dataclass(slots=True)
class Sheet:
    """A sheet. `unknown` are formulas without a value in the file, `boxes` texts that lie over the cells."""

    name: str
    rows: list[Row] = field(default_factory=list[Row])
    comments: list[Comment] = field(default_factory=list[Comment])
    boxes: list[str] = field(default_factory=list[str])
    unknown: list[Place] = field(default_factory=list[Place])
    warnings: list[str] = field(default_factory=list[str])


def column_name(index: int) -> str:
    """Return the letters of a column, counted from 0."""
    name = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        name = chr(65 + rest) + name
    return name


@lru_cache(maxsize=LAST_COLUMN + 1)
def column_of(letters: str) -> int:
    """Return which column letters stand for, counted from 0; one behind the last where they stand for none."""
    found = 0
    for char in letters if len(letters) <= len("XFD") else "~":
        if not "A" <= char <= "Z":
            return LAST_COLUMN + 1
        found = found * 26 + ord(char) - 64
    return found - 1


def cell_name(place: Place) -> str:
    """Return what a cell is called (``B3``)."""
    return f"{column_name(place[1])}{place[0] + 1}"


def place_of(name: str) -> Place | None:
    """Return the place of a cell from its name, None where it is none of a sheet."""
    found = _NAME.fullmatch(name)
    column, row = (column_of(found[1]), int(found[2])) if found else (-1, 0)
    return (row - 1, column) if 0 < row <= LAST_ROW + 1 and column <= LAST_COLUMN else None


def ranges(places: Sequence[Place]) -> str:
    """Return cells as a few ranges, column by column (``B2:B9, D4 and 3 more``)."""
    runs: list[tuple[Place, Place]] = []
    for row, column in sorted(set(places), key=lambda one: (one[1], one[0])):
        if runs and runs[-1][1] == (row - 1, column):
            runs[-1] = runs[-1][0], (row, column)
        else:
            runs.append(((row, column), (row, column)))
    shown = [cell_name(first) if first == last else f"{cell_name(first)}:{cell_name(last)}" for first, last in runs]
    more = len(shown) - _MOST_RANGES
    return ", ".join(shown[:_MOST_RANGES]) + (f" and {more} more" if more > 0 else "")
