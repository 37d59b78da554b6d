"""Where the lines of a text stand on their page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lilbee_core.extract._layout import Run
from lilbee_core.extract._letters import Letters, letters_of
from lilbee_core.types import Box, Segment, Span

_SHORT = 4
_NEAR = 200
_LINES = 6
_APART = 1.6


@dataclass(slots=True)
class _Block:
    """Lines that follow each other in the text and on the page."""

    start: int
    end: int
    left: float
    bottom: float
    right: float
    top: float
    height: float
    lines: int = 1

    def takes(self, start: int, run: Run) -> bool:
        beside = min(self.right, run.right) > max(self.left, run.left)
        level = run.top > self.bottom and run.bottom < self.top
        below = beside and 0 <= self.bottom - run.top < _APART * self.height
        return start >= self.end and (level or (below and self.lines < _LINES))

    def take(self, end: int, run: Run) -> None:
        self.lines += run.top <= self.bottom
        self.end = end
        self.left, self.right = min(self.left, run.left), max(self.right, run.right)
        self.bottom, self.top = min(self.bottom, run.bottom), max(self.top, run.top)
        self.height = max(self.height, run.height)


def box_segments(text: str, runs: Sequence[Run], page: int, *, offset: int, whole: Box) -> Iterator[Segment]:
    """Yield fine segments that cover the text of a page, each with its box; one for all where words are not found."""
    blocks = list(_blocks(text, runs))
    if not blocks:
        if text.strip():
            yield Segment(span=Span(offset, offset + len(text)), boxes=(_around(runs, page) or whole,), fine=True)
        return
    starts = [0, *(block.start for block in blocks[1:]), len(text)]
    for block, start, end in zip(blocks, starts, starts[1:], strict=False):
        box = _box(page, block.left, block.bottom, block.right, block.top)
        yield Segment(span=Span(offset + start, offset + end), boxes=(box,), fine=True)


def _blocks(text: str, runs: Sequence[Run]) -> Iterator[_Block]:
    open_one: _Block | None = None
    for start, end, run in found_runs(text, runs):
        if open_one is not None and open_one.takes(start, run):
            open_one.take(end, run)
            continue
        if open_one is not None:
            yield open_one
        open_one = _Block(start, end, run.left, run.bottom, run.right, run.top, run.height)
    if open_one is not None:
        yield open_one


def found_runs(text: str, runs: Sequence[Run]) -> list[tuple[int, int, Run]]:
    """Return the runs that are found in the text with their places in it, in its order."""
    letters = Letters(text)
    found: list[tuple[int, int, Run]] = []
    cursor = reach = 0
    for run in runs:
        within = _NEAR if len(letters_of(run.text)) < _SHORT else None
        at = letters.find(run.text, cursor, within)
        if at is None and within is None:
            at = letters.find(run.text)
        if at is None:
            continue
        cursor = at[1]
        found.append((letters.place(at[0]), letters.place(at[1] - 1) + 1, run))
    kept: list[tuple[int, int, Run]] = []
    for start, end, run in sorted(found, key=lambda one: one[:2]):
        if start >= reach:
            kept.append((start, end, run))
            reach = end
    return kept


def _around(runs: Sequence[Run], page: int) -> Box | None:
    if not runs:
        return None
    return _box(
        page,
        min(run.left for run in runs),
        min(run.bottom for run in runs),
        max(run.right for run in runs),
        max(run.top for run in runs),
    )


def _box(page: int, left: float, bottom: float, right: float, top: float) -> Box:
    return Box(page=page, left=round(left, 1), bottom=round(bottom, 1), right=round(right, 1), top=round(top, 1))
