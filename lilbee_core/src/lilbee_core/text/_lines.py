"""Lines and places of a text."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence

from lilbee_core.text._spots import join_boxes, join_labels
from lilbee_core.types import Location, Segment, Span


def normalize_newlines(text: str) -> str:
    r"""Return `text` with ``\r\n`` and lone ``\r`` as ``\n``; the number of lines stays."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


class LineIndex:
    """Finds the 1-based line of a character offset. Lines end at line feeds only."""

    __slots__ = ("_length", "starts")

    def __init__(self, text: str) -> None:
        starts = array("Q", [0])  # a list would take five times the memory, and logs have millions of lines
        at = text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = text.find("\n", at + 1)
        self.starts: Sequence[int] = starts
        self._length = len(text)

    def line_of(self, offset: int) -> int:
        """Return the line that holds the character at `offset`."""
        return bisect_right(self.starts, offset)

    def span_of(self, first: int, last: int) -> Span:
        """Return the characters of lines `first` to `last`, both included, clipped to the text."""
        count = len(self.starts)
        start = self.starts[min(max(first, 1), count) - 1]
        end = self.starts[last] if last < count else self._length
        return Span(start, max(start, end))


def locate(
    span: Span,
    *,
    lines: LineIndex | None,
    line_map: Sequence[int] | None = None,
    line_ends: Sequence[int] | None = None,
    segments: Sequence[Segment] = (),
) -> Location:
    """Return where a span stands: lines when `lines` is given, pages and labels from the segments it touches."""
    line_start = line_end = None
    last = max(span.start, span.end - 1)
    if lines is not None:
        line_start, line_end = lines.line_of(span.start), lines.line_of(last)
        if line_map is not None:
            line_start, line_end = line_map[line_start - 1], (line_ends or line_map)[line_end - 1]
    touched = [one for one in segments if one.span.start <= last and span.start < max(one.span.end, one.span.start + 1)]
    pages = [one.page for one in touched if one.page is not None]
    fine = [one for one in touched if one.fine and one.label]
    labels = list(dict.fromkeys(one.label for one in fine or touched if one.label))
    members = [one.member for one in touched if one.member]
    return Location(
        line_start=line_start,
        line_end=line_end,
        page_start=min(pages, default=None),
        page_end=max(pages, default=None),
        label=join_labels(labels[0], labels[-1]) if labels else None,
        member=members[0] if members else None,
        boxes=join_boxes([box for one in touched for box in one.boxes]),
    )
