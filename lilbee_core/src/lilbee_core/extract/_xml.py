"""XML: prose without its tags, data as it stands. Entities that blow up are refused, outside ones are not followed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from lilbee_core.errors import UnsafeContent
from lilbee_core.extract._lines import flowed
from lilbee_core.types import Heading, Source

MAX_PROSE_CHARS = 8_000_000
_MAX_EXPANDED = 1_000_000
_MIXED_SHARE = 0.3
_MAX_PROLOG_CHARS = 65_536
_MAX_SUBSET_CHARS = 1 << 20
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^\[>]*\[(.*?)\]\s*>", re.DOTALL)
_ENTITY = re.compile(r"""<!ENTITY\s+(%\s+)?([^\s"'<>%&]+)\s+(SYSTEM|PUBLIC)?\s*(?:"([^"]*)"|'([^']*)')""")
_REFERENCE = re.compile(r"[&%]([^\s&;%#]+);")
_UNSEEN = frozenset(("script", "style", "binary", "alternatives", "tex-math", "math"))
_TITLES = frozenset(("title", "article-title", "head", "heading", "chapter-title"))
_SECTIONS = frozenset(
    ("sec", "section", "sect1", "sect2", "sect3", "sect4", "sect5", "chapter", "part", "appendix", "div")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """The text of an XML document with the file's line of each of its lines."""

    text: str
    line_map: tuple[int, ...]
    headings: tuple[Heading, ...]
    title: str | None


class NotWellFormed(ValueError):
    """The file breaks the rules of XML."""


def refuse_bombs(text: str, source: Source) -> bool:
    """Return whether the document declares entities of its own.

    Raises:
        UnsafeContent: If they refer to each other so that a few lines stand for millions.
    """
    at = text.find("<!DOCTYPE", 0, _MAX_PROLOG_CHARS)
    subset = _DOCTYPE.match(text[at : at + _MAX_SUBSET_CHARS]) if at >= 0 else None
    if subset is None:
        return False
    values = {found[2]: found[4] or found[5] or "" for found in _ENTITY.finditer(subset[1]) if not found[3]}
    sizes: dict[str, int] = {}
    for name in values:
        if _expanded(name, values, sizes, ()) > _MAX_EXPANDED:
            raise UnsafeContent(
                f"{source.path} declares entities that expand without bounds",
                hint="Check where the file comes from; it is not needed for any honest purpose.",
            )
    return "<!ENTITY" in subset[1]


def _expanded(name: str, values: dict[str, str], sizes: dict[str, int], above: tuple[str, ...]) -> int:
    if name in above or len(above) > 100:
        return _MAX_EXPANDED + 1
    if name not in sizes:
        inner = (match[1] for match in _REFERENCE.finditer(values[name]) if match[1] in values)
        size = len(values[name]) + sum(_expanded(one, values, sizes, (*above, name)) for one in inner)
        sizes[name] = min(size, _MAX_EXPANDED + 1)
    return sizes[name]


def read_prose(text: str) -> Prose | None:
    """Return the text of a document that is written prose, or None for data.

    Raises:
        NotWellFormed: If the file breaks the rules of XML.
    """
    shape = _Shape()
    _parse(text, shape)
    if not shape.is_prose:
        return None
    collector = _Collector(shape.inline_names())
    _parse(text, collector)
    return collector.prose()


def read_all(text: str) -> Prose:
    """Return the text of every element, as for drawings.

    Raises:
        NotWellFormed: If the file breaks the rules of XML.
    """
    collector = _Collector(frozenset(("tspan", "textPath", "a")))
    _parse(text, collector)
    return collector.prose()


class _Visitor:
    """What `_parse` calls; `line` tells where the parser stands."""

    line: Callable[[], int]

    def start(self, name: str) -> None:
        raise NotImplementedError

    def end(self, name: str) -> None:
        raise NotImplementedError

    def data(self, text: str) -> None:
        raise NotImplementedError


def _parse(text: str, visitor: _Visitor) -> None:
    parser = expat.ParserCreate("utf-8")
    # One call for each line, so that the line number is that of the text.
    parser.buffer_text = False
    visitor.line = lambda: parser.CurrentLineNumber
    parser.StartElementHandler = lambda name, _: visitor.start(name.rsplit(":", 1)[-1])
    parser.EndElementHandler = lambda name: visitor.end(name.rsplit(":", 1)[-1])
    parser.CharacterDataHandler = visitor.data
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise NotWellFormed(f"not well-formed, line {error.lineno}") from error


@dataclass(slots=True)
class _Element:
    name: str
    text: int = 0
    children: list[str] = field(default_factory=list[str])


class _Shape(_Visitor):
    """Finds out which elements stand inside lines of text."""

    def __init__(self) -> None:
        self._open: list[_Element] = []
        self._inside: Counter[str] = Counter()
        self._seen: Counter[str] = Counter()
        self._letters = self._mixed = 0

    def start(self, name: str) -> None:
        if self._open:
            self._open[-1].children.append(name)
        self._open.append(_Element(name))
        self._seen[name] += 1

    def end(self, name: str) -> None:
        element = self._open.pop()
        self._letters += element.text
        if element.text and element.children:
            self._mixed += element.text
            self._inside.update(element.children)

    def data(self, text: str) -> None:
        if self._open:
            self._open[-1].text += len(text.strip())

    @property
    def is_prose(self) -> bool:
        return self._mixed > self._letters * _MIXED_SHARE and self._letters > 200

    def inline_names(self) -> frozenset[str]:
        return frozenset(name for name, count in self._inside.items() if count * 2 > self._seen[name])


class _Collector(_Visitor):
    """Collects the text block by block."""

    def __init__(self, inline: frozenset[str]) -> None:
        self._inline = inline
        self._open: list[str] = []
        self._unseen = 0
        self._pieces: list[tuple[str, int]] = []
        self._blocks: list[tuple[list[tuple[str, int]], int]] = []

    def start(self, name: str) -> None:
        if name not in self._inline:
            self._flush()
        self._open.append(name)
        self._unseen += name in _UNSEEN

    def end(self, name: str) -> None:
        if name not in self._inline:
            self._flush()
        self._open.pop()
        self._unseen -= name in _UNSEEN

    def data(self, text: str) -> None:
        if not self._unseen:
            self._pieces.append((text, self.line()))

    def _flush(self) -> None:
        pieces, self._pieces = self._pieces, []
        lines = flowed(pieces)
        if lines:
            depth = sum(name in _SECTIONS for name in self._open) + 1
            is_title = bool(self._open) and self._open[-1] in _TITLES and not self._inline.intersection(self._open[-1:])
            self._blocks.append((lines, min(depth, 6) if is_title else 0))

    def prose(self) -> Prose:
        return _joined(self._blocks)


def _joined(blocks: list[tuple[list[tuple[str, int]], int]]) -> Prose:
    pieces: list[str] = []
    lines: list[int] = []
    headings: list[Heading] = []
    at = 0
    for body, level in blocks:
        if pieces:
            lines.append(lines[-1])
            at += 2
        text = "\n".join(line for line, _ in body)
        if level:
            headings.append(Heading(start=at, level=level, title=" ".join(text.split())))
        pieces.append(text)
        lines += [number for _, number in body]
        at += len(text)
    titles: Iterator[str] = (heading.title for heading in headings)
    return Prose(text="\n\n".join(pieces), line_map=tuple(lines), headings=tuple(headings), title=next(titles, None))
