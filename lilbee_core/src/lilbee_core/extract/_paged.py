"""Texts with places: pages, slides and sheets joined into one text whose segments are exact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lilbee_core.extract._engine import PAGE_MARK_PATTERN, Extraction, Node
from lilbee_core.types import Heading, Segment, Span

GAP = "\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """A text with its segments and headings."""

    text: str
    segments: tuple[Segment, ...] = ()
    headings: tuple[Heading, ...] = ()


def join_pages(extraction: Extraction) -> Placed:
    """Join page texts by blank lines; headings are those blocks that can be found again on their page."""
    pieces: list[str] = []
    segments: list[Segment] = []
    headings: list[Heading] = []
    by_page: dict[int, list[Node]] = {}
    for node in extraction.nodes:
        if node.kind == "heading" and node.page is not None:
            by_page.setdefault(node.page, []).append(node)
    at = 0
    for number, page in extraction.pages:
        body = page.strip("\n")
        segments.append(Segment(span=Span(at, at + len(body)), page=number))
        headings += find_headings(body, by_page.get(number, ()), offset=at)
        pieces.append(body)
        at += len(body) + len(GAP)
    return Placed(text=GAP.join(pieces), segments=tuple(segments), headings=tuple(headings))


def find_headings(page: str, nodes: Iterable[Node], *, offset: int) -> Iterator[Heading]:
    """Find each heading in the text of its page, in reading order, whatever its line breaks and spaces."""
    places = [at for at, char in enumerate(page) if char.isalnum()]
    letters = "".join(page[at] for at in places)
    cursor = 0
    for node in nodes:
        wanted = "".join(char for char in node.text if char.isalnum())
        if not wanted:
            continue
        found = letters.find(wanted, cursor)
        if found < 0:
            continue
        cursor = found + len(wanted)
        title = " ".join(node.text.split())
        yield Heading(start=offset + _line_start(page, places[found]), level=max(1, node.level), title=title)


def _line_start(page: str, at: int) -> int:
    """Step back to the start of the line when only marks and spaces lie between."""
    start = page.rfind("\n", 0, at) + 1
    return start if not any(char.isalnum() for char in page[start:at]) else at


def split_slides(marked: str) -> Placed:
    """Cut a text at its page marks; each slide becomes a segment."""
    parts = PAGE_MARK_PATTERN.split(marked)
    slides = [(int(number), body) for number, body in zip(parts[1::2], parts[2::2], strict=True)]
    if parts[0].strip():
        slides.insert(0, (slides[0][0] if slides else 1, parts[0]))
    return _labelled([(number, f"slide {number}", body.strip()) for number, body in slides])


def join_sheets(extraction: Extraction) -> Placed:
    """Give each sheet its name as a heading and its table as text."""
    names = [str(name) for name in extraction.metadata.get("sheet_names") or ()]
    sheets: list[tuple[int | None, str, str]] = []
    for number, table in extraction.tables:
        name = names[number - 1] if 0 < number <= len(names) else f"Sheet {number}"
        if any(char.isalnum() for char in table):
            sheets.append((None, name, table.strip()))
    pieces: list[str] = []
    segments: list[Segment] = []
    headings: list[Heading] = []
    at = 0
    for _, name, table in sheets:
        piece = f"## {name}{GAP}{table}"
        headings.append(Heading(start=at, level=2, title=name))
        segments.append(Segment(span=Span(at, at + len(piece)), label=name))
        pieces.append(piece)
        at += len(piece) + len(GAP)
    return Placed(text=GAP.join(pieces), segments=tuple(segments), headings=tuple(headings))


def _labelled(parts: Sequence[tuple[int, str, str]]) -> Placed:
    pieces: list[str] = []
    segments: list[Segment] = []
    at = 0
    for number, label, body in parts:
        segments.append(Segment(span=Span(at, at + len(body)), page=number, label=label))
        pieces.append(body)
        at += len(body) + len(GAP)
    return Placed(text=GAP.join(pieces), segments=tuple(segments))
