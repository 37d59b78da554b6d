"""What readers are shown of a hit: what its place is called, and the words around what was searched."""

from __future__ import annotations

from collections.abc import Iterator

from lilbee_core.text._terminal import visible, visible_line
from lilbee_core.types import Citation, Hit

SNIPPET_CHARS = 320
_LEAD = 60


def place_name(found: Hit | Citation) -> str:
    """Return ``path:line``, ``path p. N`` or the path with its member or label."""
    location = found.location if isinstance(found, Citation) else found.chunk.location
    path = found.path + (f"#{location.member}" if location.member else "")
    if location.line_start is not None:
        last = f"-{location.line_end}" if location.line_end != location.line_start else ""
        return visible_line(f"{path}:{location.line_start}{last}")
    if location.page_start is not None:
        last = f"-{location.page_end}" if location.page_end != location.page_start else ""
        return visible_line(f"{path} p. {location.page_start}{last}")
    return visible_line(f"{path} ({location.label})" if location.label else path)


def snippet_pieces(hit: Hit) -> Iterator[tuple[str, bool]]:
    """Yield the part of the passage where most of the query's words stand, in pieces: words of the query, and not."""
    start, end = _window(hit)
    if start:
        yield "… ", False
    yield from marked_pieces(hit, start, end)
    if end < len(hit.text):
        yield " …", False


def marked_pieces(hit: Hit, start: int, end: int) -> Iterator[tuple[str, bool]]:
    """Yield a part of the passage in pieces: words of the query, and what stands between them."""
    at = start
    for first, last in hit.highlights:
        if first < at or last > end:
            continue
        yield visible(hit.text[at:first]), False
        yield visible(hit.text[first:last]), True
        at = last
    yield visible(hit.text[at:end]), False


def _window(hit: Hit) -> tuple[int, int]:
    marks = hit.highlights
    if not marks:
        return 0, min(len(hit.text), SNIPPET_CHARS)
    best = max(marks, key=lambda one: (sum(one[0] <= other[0] < one[0] + SNIPPET_CHARS for other in marks), -one[0]))
    start = max(0, best[0] - _LEAD)
    while start > 0 and not hit.text[start - 1].isspace():
        start -= 1
    return start, min(len(hit.text), start + SNIPPET_CHARS)
