"""Columns of a page: where its lines were drawn across them, each column is read to its end before the next one.

Pure functions on runs of text with their places. A table also has columns, but its cells are short: columns of prose
fill their lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from lilbee_core.extract._hyphens import Hyphens
from lilbee_core.extract._layout import Run
from lilbee_core.extract._letters import Letters

_LEAST_ROWS = 3
_LEAST_CHARS = 15
_WIDE_CHARS = 8
"""Letters of Chinese or Japanese that are as long as `_LEAST_CHARS` of other writings."""
_FULL = 0.7
_MOSTLY = 0.6
_GUTTER = 0.6
_MOST_GAP = 3.0


@dataclass(frozen=True, slots=True)
class Row:
    """Runs at one height, from left to right."""

    runs: tuple[Run, ...]

    @property
    def top(self) -> float:
        return max(run.top for run in self.runs)

    @property
    def bottom(self) -> float:
        return min(run.bottom for run in self.runs)

    @property
    def height(self) -> float:
        return max(run.height for run in self.runs)


@dataclass(frozen=True, slots=True)
class Band:
    """Rows ``[first, last)`` that stand in two columns with an empty strip from `left` to `right` between them."""

    first: int
    last: int
    left: float
    right: float

    def sides(self, row: Row) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
        middle = (self.left + self.right) / 2
        return (
            tuple(run for run in row.runs if run.right <= middle),
            tuple(run for run in row.runs if run.right > middle),
        )


def in_mirror(run: Run) -> Run:
    """Return a run where it stands when its page is seen in a mirror."""
    return replace(run, left=-run.right, right=-run.left)


def rows_of(runs: Iterable[Run]) -> list[Row]:
    """Return the rows of a page from its top."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda one: (-one.top, one.left)):
        row = rows[-1] if rows else None
        if row is not None and _level(row[0], run):
            row.append(run)
        else:
            rows.append([run])
    return [Row(tuple(sorted(row, key=lambda one: one.left))) for row in rows]


def _level(one: Run, other: Run) -> bool:
    shared = min(one.top, other.top) - max(one.bottom, other.bottom)
    return shared > 0.5 * min(one.height, other.height)


def bands(rows: Sequence[Row]) -> list[Band]:
    """Return where on a page there are columns of prose."""
    found: list[Band] = []
    at = 0
    while at < len(rows):
        longest = max((_grow(rows, at, gap) for gap in gaps_of(rows[at])), key=lambda one: one.last, default=None)
        if longest is not None and _is_prose(longest, rows):
            found.append(longest)
            at = longest.last
        else:
            at += 1
    return found


def gaps_of(row: Row) -> list[tuple[float, float]]:
    """Return the stretches of a row that are empty and wider than between words."""
    gaps: list[tuple[float, float]] = []
    reach = row.runs[0].right
    for run in row.runs[1:]:
        if run.left - reach >= _GUTTER * row.height:
            gaps.append((reach, run.left))
        reach = max(reach, run.right)
    return gaps


def _grow(rows: Sequence[Row], first: int, gap: tuple[float, float]) -> Band:
    """Follow an empty strip downwards as far as it goes."""
    left, right = gap
    at = first + 1
    while at < len(rows):
        row = rows[at]
        if rows[at - 1].bottom - row.top > _MOST_GAP * row.height:
            break
        narrowed = _narrowed(row, left, right)
        if narrowed is None:
            break
        left, right = narrowed
        at += 1
    return Band(first, at, left, right)


def _narrowed(row: Row, left: float, right: float) -> tuple[float, float] | None:
    least = _GUTTER * row.height
    for run in row.runs:
        if run.right <= left or run.left >= right:
            continue
        if run.left < (left + right) / 2 < run.right:
            return None
        if run.right < right and run.right - left < right - run.right + least:
            left = max(left, run.right)
        else:
            right = min(right, run.left)
    return (left, right) if right - left >= least else None


def _is_prose(band: Band, rows: Sequence[Row]) -> bool:
    sides = [band.sides(row) for row in rows[band.first : band.last]]
    both = sum(1 for left, right in sides if left and right)
    if both < _LEAST_ROWS:
        return False
    return all(_is_column([side[at] for side in sides if side[at]]) for at in (0, 1))


def _is_column(lines: Sequence[tuple[Run, ...]]) -> bool:
    widths = [line[-1].right - line[0].left for line in lines]
    chars = [_length(" ".join(run.text for run in line)) for line in lines]
    full = sum(width >= _FULL * max(widths) for width in widths)
    return full >= _MOSTLY * len(lines) and median(chars) >= _LEAST_CHARS and _flush(lines)


def _flush(lines: Sequence[tuple[Run, ...]]) -> bool:
    """Say whether most lines begin at one edge, as those of a column do."""
    lefts = sorted(line[0].left for line in lines)
    edge = median(lefts)
    return sum(abs(left - edge) < 2 * lines[0][0].height for left in lefts) >= _MOSTLY * len(lines)


def _length(text: str) -> float:
    wide = sum(1 for char in text if "\u3000" <= char <= "\u9fff" or "\uac00" <= char <= "\ud7af")
    return len(text) - wide + wide * _LEAST_CHARS / _WIDE_CHARS


def reads_across(text: str, rows: Sequence[Row], found: Sequence[Band]) -> bool:
    """Say whether `text` holds the rows of columns one after the other instead of the columns."""
    letters = Letters(text)
    across = down = 0
    for band in found:
        cursor = 0
        for row in rows[band.first : band.last]:
            left, right = band.sides(row)
            if not (left and right):
                continue
            after_left = letters.find(_joined(left), cursor)
            if after_left is None:
                continue
            cursor = after_left[1]
            beside = letters.starts(_joined(right), cursor)
            across, down = across + beside, down + (not beside)
    return across > down


def _joined(runs: Iterable[Run]) -> str:
    return " ".join(run.text for run in runs)


def lines_by_column(rows: Sequence[Row], found: Sequence[Band]) -> list[tuple[Run, ...]]:
    """Return the lines of a page in reading order."""
    lines: list[tuple[Run, ...]] = []
    at = 0
    for band in found:
        lines += [row.runs for row in rows[at : band.first]]
        for side in (0, 1):
            inside = [run for row in rows[band.first : band.last] for run in band.sides(row)[side]]
            column = rows_of(inside)
            lines += lines_by_column(column, bands(column))
        at = band.last
    return lines + [row.runs for row in rows[at:]]


def lines_text(lines: Iterable[Sequence[Run]], hyphens: Hyphens | None = None) -> str:
    """Return lines as text."""
    return join_lines((_joined(line) for line in lines), hyphens)


def join_lines(lines: Iterable[str], hyphens: Hyphens | None = None) -> str:
    """Join lines; a word cut by a hyphen at the end of a line is put together, with the hyphen where it is its own.

    `hyphens` knows how the document spells its words; without it, only these lines tell.
    """
    lines = list(lines)
    hyphens = hyphens or Hyphens(["\n".join(lines)])
    pieces: list[str] = []
    for line in lines:
        last = pieces[-1] if pieces else ""
        cut = len(last) > 1 and last[-1] in "-\u00ad" and last[-2].isalpha()
        if cut and line[:1].isalnum() and (last[-1] == "-" or not line[:1].isdigit()):
            if last[-1] != "-" or not hyphens.keeps(last[:-1], line):
                pieces[-1] = last[:-1]
            pieces.append(line)
        else:
            pieces += ["\n", line] if pieces else [line]
    return "".join(pieces)
