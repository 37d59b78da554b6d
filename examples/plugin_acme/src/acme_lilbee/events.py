"""Calendar files (RFC 5545) as text: one section per event, its lines in the order of the file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lilbee_core.errors import ExtractError, LimitExceeded, NoText
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Heading, Metadata, Segment, Source, Span

_WORDS = {
    "DTSTART": "from", "DTEND": "to", "DUE": "due", "LOCATION": "at", "ORGANIZER": "by", "ATTENDEE": "with",
    "CATEGORIES": "about", "URL": "see",
}  # fmt: skip
_TEXTS = {"SUMMARY", "DESCRIPTION", "COMMENT"}
_ITEMS = {"VEVENT": "event", "VTODO": "task", "VJOURNAL": "note"}
_ESCAPE = re.compile(r"\\([\\;,nN])")
_TIME = re.compile(r"(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})\d{2}(Z)?)?")


@dataclass(frozen=True, slots=True)
class Property:
    """One line of a calendar, unfolded, with its number in the file."""

    line: int
    name: str
    label: str
    value: str


@dataclass(slots=True)
class Section:
    """An event on its way into the text."""

    start: int
    kind: str
    title: str = ""
    dates: list[str] = field(default_factory=list[str])


class CalendarExtractor:
    """Reads calendar files. Plain Python over a text that is in memory anyway, so it needs no worker process."""

    name = "acme-calendar"
    version = "1"
    in_process = True

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the events as text.

        Raises:
            ExtractError: If it is no calendar, holds no events, or is too long.
        """
        content = source.read().decode("utf-8-sig", "replace").replace("\r\n", "\n").replace("\r", "\n")
        if not content.upper().startswith("BEGIN:VCALENDAR\n"):
            raise ExtractError(
                f"{source.path} does not start like a calendar",
                hint="Export the calendar again, or ignore the file.",
                code="extract.damaged",
            )
        text = _Text(source, context)
        for one in properties(content):
            context.check()
            text.take(one)
        return text.document()


def properties(content: str) -> Iterator[Property]:
    """Yield the properties of a calendar; a line that starts with a blank goes on with the one before."""
    lines = content.split("\n")
    at = 0
    while at < len(lines):
        first, line = at + 1, lines[at]
        at += 1
        while at < len(lines) and lines[at][:1] in {" ", "\t"}:
            line += lines[at][1:]
            at += 1
        head, colon, value = line.partition(":")
        name, _, parameters = head.partition(";")
        if colon:
            label = re.search(r'CN="?([^";]+)', parameters, re.IGNORECASE)
            yield Property(first, name.upper(), label.group(1) if label else "", value)


class _Text:
    """Collects lines, and where they stand in the file."""

    def __init__(self, source: Source, context: ExtractContext) -> None:
        self._source = source
        self._limit = context.max_chars
        self._lines: list[str] = []
        self._line_map: list[int] = []
        self._length = 0
        self._open: Section | None = None
        self._segments: list[Segment] = []
        self._headings: list[Heading] = []
        self._dates: list[str] = []
        self._calendar = ""

    def take(self, one: Property) -> None:
        if one.name == "BEGIN" and one.value.upper() in _ITEMS:
            self._close()
            self._open = Section(self._length, _ITEMS[one.value.upper()])
        elif one.name == "END" and one.value.upper() in _ITEMS:
            self._close()
        elif self._open is not None:
            self._describe(one, self._open)
        elif one.name == "X-WR-CALNAME":
            self._calendar = unescape(one.value)

    def document(self) -> Document:
        cut_off = self._open is not None
        self._close()
        if not self._segments:
            raise NoText(f"{self._source.path} holds no events", hint="Export the calendar again, or ignore the file.")
        return Document(
            path=self._source.path,
            collection=self._source.collection,
            media_type=self._source.media_type,
            text="\n".join(self._lines),
            title=self._calendar or None,
            date=max(self._dates, default=None),
            metadata=Metadata(events=len(self._segments)),
            line_map=tuple(self._line_map),
            segments=tuple(self._segments),
            headings=tuple(self._headings),
            warnings=("the last entry is cut off",) if cut_off else (),
        )

    def _describe(self, one: Property, section: Section) -> None:
        if one.name in _TEXTS:
            value = unescape(one.value)
            if one.name == "SUMMARY":
                section.title = value
            for line in value.split("\n"):
                self._add(line, one.line)
        elif one.name in _WORDS and one.value:
            self._add(f"{_WORDS[one.name]} {one.label or readable(one.value)}", one.line)
            if one.name == "DTSTART" and (date := readable(one.value)[:10]) != one.value[:10]:
                section.dates.append(date)

    def _add(self, line: str, number: int) -> None:
        self._lines.append(line)
        self._line_map.append(number)
        self._length += len(line) + 1
        if self._length > self._limit + 1:
            raise LimitExceeded(f"{self._source.path} is longer than {self._limit} characters", hint="Split the file.")

    def _close(self) -> None:
        section, self._open = self._open, None
        if section is None or self._length == section.start:
            return
        title = section.title or section.kind
        self._segments.append(Segment(span=Span(section.start, self._length - 1), label=f"{section.kind} {title}"))
        self._headings.append(Heading(start=section.start, level=1, title=title))
        self._dates += section.dates


def unescape(value: str) -> str:
    r"""Return a text value without its escapes (``\,``, ``\;``, ``\n``)."""
    return _ESCAPE.sub(lambda match: "\n" if match.group(1) in "nN" else match.group(1), value)


def readable(value: str) -> str:
    """Return dates as people write them (``2026-05-03 10:00``), and everything else as it is."""
    match = _TIME.fullmatch(value)
    if match is None:
        return unescape(value).removeprefix("mailto:").removeprefix("MAILTO:").replace("\n", " ")
    year, month, day, hour, minute, utc = match.groups()
    clock = f" {hour}:{minute}{' UTC' if utc else ''}" if hour else ""
    return f"{year}-{month}-{day}{clock}"
