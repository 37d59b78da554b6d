"""Headings of Markdown, and their titles as a reader sees them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from lilbee_core.types import Heading

_MAX_CHARS = 1000
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^\n]*)$")
_HTML_HEADING = re.compile(r" {0,3}<h([1-6])\b[^>]*>(.*?)</h\1\s*>", re.IGNORECASE)
_NO_PARAGRAPH = re.compile(r" {0,3}(?:>|[-*+][ \t]|\d{1,9}[.)][ \t]|\||<|(?:[-*_][ \t]*){3,}$)|(?: {4}|\t)")
_ANCHOR = re.compile(r"[ \t]*\{[#.][^{}]*\}[ \t]*$")
_IMAGE_OR_LINK = re.compile(r"!?\[([^\[\]]*)\](?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\[\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_EMPHASIS = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)(.+?)(?<=\S)\1(?!\w)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKED = re.compile(r"[`*_\[\]<>\\&{}]")
_CODE = re.compile(r"(`+)(.+?)\1")


def plain_title(source: str) -> str:
    """Return a heading without links, emphasis, tags, anchors and escapes."""
    if not _MARKED.search(source):
        return " ".join(source.split())
    text = _ANCHOR.sub("", source)
    pieces: list[str] = []
    at = 0
    for code in _CODE.finditer(text):
        pieces += [_without_markup(text[at : code.start()]), code[2].strip()]
        at = code.end()
    pieces.append(_without_markup(text[at:]))
    return " ".join("".join(pieces).split())


def _without_markup(text: str) -> str:
    text = _TAG.sub("", _IMAGE_OR_LINK.sub(r"\1", text))
    text = _EMPHASIS.sub(r"\2", _EMPHASIS.sub(r"\2", text))
    return unescape(_ESCAPE.sub(r"\1", text))


def markdown_headings(text: str, *, start: int = 0) -> tuple[Heading, ...]:
    """Return the headings from character `start` on, in order; those in code and in comments are none."""
    found: list[Heading] = []
    paragraph: list[tuple[int, str]] = []
    for offset, line in _plain_lines(text, start):
        if len(line) > _MAX_CHARS:
            # No heading, and too long for patterns that look back.
            paragraph = []
            continue
        heading = _heading_of(offset, line)
        if heading is None and paragraph and line.lstrip()[:1] in {"=", "-"} and (mark := _UNDERLINE.match(line)):
            title = plain_title(" ".join(part.strip() for _, part in paragraph))
            heading = Heading(start=paragraph[0][0], level=1 if mark[1][0] == "=" else 2, title=title)
        if heading is not None:
            if heading.title:
                found.append(heading)
            paragraph = []
        elif _continues(line, paragraph=bool(paragraph)):
            paragraph = [*paragraph[-4:], (offset, line)]
        else:
            paragraph = []
    return tuple(found)


def _continues(line: str, *, paragraph: bool) -> bool:
    """Say whether a line is prose; an indented one is only inside a paragraph."""
    if not line.strip():
        return False
    return not _NO_PARAGRAPH.match(line) or (paragraph and line.startswith((" ", "\t")))


def _heading_of(offset: int, line: str) -> Heading | None:
    if "#" in line[:4] and (match := _ATX.match(line)):
        return Heading(start=offset, level=len(match[1]), title=plain_title(match[2] or ""))
    if "<" in line[:4] and (match := _HTML_HEADING.match(line)):
        return Heading(start=offset, level=int(match[1]), title=plain_title(match[2]))
    return None


def _plain_lines(text: str, start: int) -> Iterator[tuple[int, str]]:
    """Yield offset and content of each line that is neither code in a fence nor inside a comment."""
    fence = ""
    comment = False
    at = start
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end]
        if fence:
            if (match := _FENCE.match(line)) and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif comment:
            comment = "-->" not in line
        elif len(line) <= _MAX_CHARS and (match := _FENCE.match(line)) and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
            yield at, ""
        elif "<!--" in line and "-->" not in line[line.rindex("<!--") :] and "`<!--" not in line:
            comment = True
            yield at, line[: line.rindex("<!--")]
        else:
            yield at, line
        at = end + 1
