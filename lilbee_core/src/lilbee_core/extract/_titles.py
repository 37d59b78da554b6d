"""Headings of reStructuredText, Org, AsciiDoc and LaTeX. The text stays as it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from lilbee_core.types import Heading

_MOST_CHARS = 300
_ORG = re.compile(r"(\*{1,6})[ \t]+(?:(?:TODO|DONE|NEXT|WAITING)[ \t]+)?(?:\[#[A-Z]\][ \t]+)?(.+)$")
_ORG_TAGS = re.compile(r"[ \t]+:[\w@:]+:[ \t]*$")
_ASCIIDOC = re.compile(r"(={1,6}|#{1,6})[ \t]+(.+?)(?:[ \t]+\1)?[ \t]*$")
_LATEX = re.compile(r"[ \t]*\\(part|chapter|section|subsection|subsubsection|paragraph)\*?(?:\[[^\]]*\])?\{(.*)$")
_LATEX_LEVELS = {"part": 1, "chapter": 1, "section": 2, "subsection": 3, "subsubsection": 4, "paragraph": 5}
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?[ \t]*|[{}$~]")
_RULE = re.compile(r"([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_BLOCKS = {"text/x-asciidoc": re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|/{4,}|\+{4,})[ \t]*$")}
_ORG_BLOCK = re.compile(r"[ \t]*#\+(begin|end)_", re.IGNORECASE)

Line = tuple[int, str]


def headings_of(text: str, media_type: str) -> tuple[Heading, ...]:
    """Return the headings of a text in a light markup, none for other texts."""
    find = _FINDERS.get(media_type)
    return tuple(find(_lines(text))) if find is not None else ()


def _lines(text: str) -> Iterator[Line]:
    at = 0
    for line in text.split("\n"):
        yield at, line if len(line) <= _MOST_CHARS else ""
        at += len(line) + 1


def _org(lines: Iterator[Line]) -> Iterator[Heading]:
    inside = False
    for at, line in lines:
        if mark := _ORG_BLOCK.match(line):
            inside = mark[1].lower() == "begin"
        elif not inside and (found := _ORG.match(line)):
            yield Heading(start=at, level=len(found[1]), title=_ORG_TAGS.sub("", found[2]).strip())


def _asciidoc(lines: Iterator[Line]) -> Iterator[Heading]:
    block = ""
    fence = _BLOCKS["text/x-asciidoc"]
    for at, line in lines:
        if mark := fence.match(line):
            block = "" if block == mark[1] else block or mark[1]
        elif not block and (found := _ASCIIDOC.match(line)):
            yield Heading(start=at, level=len(found[1]), title=found[2].strip())


def _latex(lines: Iterator[Line]) -> Iterator[Heading]:
    for at, line in lines:
        if found := _LATEX.match(line):
            title = " ".join(_COMMAND.sub(" ", _braced(found[2])).split())
            if title:
                yield Heading(start=at, level=_LATEX_LEVELS[found[1]], title=title)


def _braced(rest: str) -> str:
    """Return what stands before the brace that closes the title."""
    depth = 1
    for at, char in enumerate(rest):
        depth += (char == "{") - (char == "}")
        if depth == 0:
            return rest[:at]
    return rest


def _rst(lines: Iterator[Line]) -> Iterator[Heading]:
    """A title has a rule below it, perhaps one above too; levels are in the order in which kinds of rules appear."""
    kinds: list[str] = []
    before: Line = (0, "")
    above = ""
    for at, line in lines:
        start, title = before
        rule = _RULE.match(line)
        if rule and title.strip() and not _RULE.match(title) and len(line.rstrip()) >= len(title.strip()):
            kind = rule[1] * 2 if above.startswith(rule[1]) else rule[1]
            if kind not in kinds:
                kinds.append(kind)
            yield Heading(start=start, level=min(6, kinds.index(kind) + 1), title=" ".join(title.split()))
            before, above = (at, ""), ""
            continue
        above = title if _RULE.match(title) else ""
        before = (at, line)


_FINDERS: Mapping[str, Callable[[Iterator[Line]], Iterator[Heading]]] = {
    "text/x-org": _org,
    "text/x-asciidoc": _asciidoc,
    "text/x-tex": _latex,
    "text/x-rst": _rst,
}
