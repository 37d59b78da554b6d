"""A text that grows block by block and remembers where its headings and parts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from lilbee_core.types import Heading, Segment, Span

_WIDE, _NARROW = "\n\n", "\n"


@dataclass(slots=True)
class TextWriter:
    """Joins blocks by blank lines; lines that belong together (items of a list, rows of a table) by line feeds."""

    headings: list[Heading] = field(default_factory=list[Heading])
    segments: list[Segment] = field(default_factory=list[Segment])
    _pieces: list[str] = field(default_factory=list[str])
    _length: int = 0
    _tight: bool = False

    @property
    def text(self) -> str:
        """All that was written."""
        return "".join(self._pieces)

    def block(self, text: str, *, heading: int = 0, tight: bool = False) -> None:
        """Write a block; `heading` is its level if it is one, `tight` puts it right under another tight one."""
        body = text.strip("\n")
        if not body.strip():
            return
        self._gap(_NARROW if tight and self._tight else _WIDE)
        if heading:
            self.headings.append(Heading(start=self._length, level=heading, title=" ".join(body.split())))
        self._put(body)
        self._tight = tight

    def rows(self, lines: Sequence[str], labels: Sequence[str | None] = ()) -> int:
        """Write the rows of a table as one block, each with its place if it has one, and return where they begin."""
        body = "\n".join(lines)
        self._gap(_WIDE)
        start = at = self._length
        for line, label in zip(lines, labels, strict=False):
            if label is not None:
                self.segments.append(Segment(span=Span(at, at + len(line)), label=label, fine=True))
            at += len(line) + 1
        self._put(body)
        self._tight = False
        return start

    def part(self, other: TextWriter, *, page: int | None = None, label: str | None = None) -> None:
        """Write another text as one block that is a segment of this one."""
        body = other.text
        if not body.strip():
            return
        self._gap(_WIDE)
        start = self._length
        self.headings += [Heading(start=start + one.start, level=one.level, title=one.title) for one in other.headings]
        self.segments.append(Segment(span=Span(start, start + len(body)), page=page, label=label))
        self.segments += [
            replace(one, span=Span(start + one.span.start, start + one.span.end)) for one in other.segments
        ]
        self._put(body)
        self._tight = False

    def _gap(self, gap: str) -> None:
        if self._pieces:
            self._put(gap)

    def _put(self, text: str) -> None:
        self._pieces.append(text)
        self._length += len(text)


def table_row(cells: list[str]) -> str:
    """Return the cells of a row as one line."""
    return " | ".join(" ".join(cell.split()) for cell in cells) if any(cell.strip() for cell in cells) else ""
