"""A passage as pieces that each say something: sentences, lines of tables and lists, lists as a whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from lilbee_core.text._sentences import sentences, trimmed
from lilbee_core.text._terms import SMALL, Term, read_terms
from lilbee_core.types import Span

_LINE_STARTS = re.compile(r"[ \t]*(?:\||[-*+•>][ \t]|#{1,6}[ \t]|\d{1,3}[.)][ \t])")
_ROW = re.compile(r"[ \t]*\|")
_RULE = re.compile(r"[ \t]*\|?[\s:|=-]+\|?[ \t]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•][ \t]|\d{1,3}[.)][ \t])")
_VARIABLE = re.compile(r"(?<= )[a-z]\.(?= [A-Z][a-z])")
_LONG = 600  # characters of a sentence that is none: code, logs, tables without lines
_TOGETHER = 3  # lines of such a text that are looked at together
_LONGEST_LIST = 1500


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a passage with its terms; `prose` ones may refer to the one before."""

    span: Span
    terms: tuple[Term, ...]
    stems: frozenset[str]
    prose: bool = True


@lru_cache(maxsize=128)
def pieces_of(text: str) -> tuple[Piece, ...]:
    """Return the pieces of a passage in order; lists come again as a whole behind their lines."""
    found: list[Piece] = []
    header: Span | None = None
    for span in _sentences(text):
        lines = _lines(text, span)
        if len(lines) == 1:
            found.append(_piece(text, lines))
            continue
        rows = [line for line in lines if _ROW.match(text, line.start)]
        if rows and len(rows) * 2 > len(lines):
            header = rows[0]
            found += [_piece(text, [header, row], own=row, prose=False) for row in rows[1:]]
            found += [_piece(text, [line]) for line in lines if line not in rows]
            continue
        found += [_piece(text, [line], prose=False) for line in lines]
        found += _groups(text, lines)
    found += _lists(text)
    return tuple(piece for piece in found if piece.stems or piece.terms)


def _sentences(text: str) -> Iterator[Span]:
    """Yield the sentences, cut again where one was taken for an initial: "smaller than k. No other ..."."""
    for span in sentences(text):
        start = span.start
        for match in _VARIABLE.finditer(text, span.start, span.end):
            yield Span(start, match.end())
            start = match.end() + 1
        yield trimmed(text, start, span.end)


def _lines(text: str, span: Span) -> list[Span]:
    """Cut a stretch where lines stand for themselves; lines that only wrap stay together."""
    cuts, at = [span.start], span.start
    own = len(span) > _LONG
    before = _LINE_STARTS.match(text, span.start) is not None
    while (newline := text.find("\n", at, span.end)) >= 0:
        starts = _LINE_STARTS.match(text, newline + 1) is not None
        heading = before and text[cuts[-1] : newline].lstrip()[:1] in ("#", "|")
        if starts or own or heading:
            cuts.append(newline + 1)
        before, at = starts, newline + 1
    ends = [*cuts[1:], span.end]
    spans = [trimmed(text, start, end) for start, end in zip(cuts, ends, strict=True)]
    return [one for one in spans if len(one) and not _RULE.match(one.cut(text))]


def _groups(text: str, lines: list[Span]) -> list[Piece]:
    """Return a few lines together, of texts whose lines say little alone."""
    windows = [lines[at : at + _TOGETHER] for at in range(max(1, len(lines) - _TOGETHER + 1))]
    return [_piece(text, [Span(one[0].start, one[-1].end)], prose=False) for one in windows if len(one) > 1]


def _lists(text: str) -> list[Piece]:
    """Return each list with the line that leads to it."""
    found: list[Piece] = []
    start = end = count = at = previous = 0
    for line in [*text.splitlines(keepends=True), "\n"]:
        item = _ITEM.match(line) is not None
        if item:
            start = previous if not count else start
            end, count = at + len(line), count + 1
        elif line.strip() and count and line[:1] in " \t":
            end = at + len(line)
        elif line.strip() or at + len(line) >= len(text):
            if count > 1 and end - start <= _LONGEST_LIST:
                found.append(_piece(text, [trimmed(text, start, end)], prose=False))
            count = 0
        if line.strip():
            previous = at
        at += len(line)
    return found


def _piece(text: str, spans: list[Span], *, own: Span | None = None, prose: bool = True) -> Piece:
    terms: list[Term] = []
    for span in spans:
        terms += [one._replace(start=one.start + span.start, end=one.end + span.start) for one in _read(text, span)]
    stems = frozenset(term.key for term in terms if term.kind != SMALL)
    return Piece(own or Span(spans[0].start, spans[-1].end), tuple(terms), stems, prose)


def _read(text: str, span: Span) -> tuple[Term, ...]:
    return read_terms(span.cut(text))
