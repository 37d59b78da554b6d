"""Cutting source code at its definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from lilbee_core.chunking._ruler import TokenRuler
from lilbee_core.chunking._units import Unit, tiny_tokens
from lilbee_core.types import Symbol

_SIGN = re.compile(r"\S")


@dataclass(slots=True)
class Scope:
    """A definition (or the whole file, without a symbol) and the definitions right inside it."""

    start: int
    end: int
    symbol: Symbol | None = None
    inner: list[Scope] = field(default_factory=list["Scope"])


@dataclass(frozen=True, slots=True)
class _Part:
    """A whole definition, or a stretch between definitions that belongs to `owner`."""

    start: int
    end: int
    symbol: Symbol | None
    owner: Symbol | None
    opens: bool = False  # a definition follows in the same scope


def scope_of(text: str, start: int, end: int, symbols: Sequence[Symbol]) -> Scope:
    """Return the definitions of ``[start, end)`` as a tree, each with the indentation before it."""
    root = Scope(start, end)
    path = [root]
    for symbol in sorted(symbols, key=lambda one: (one.span.start, -one.span.end)):
        while len(path) > 1 and symbol.span.start >= path[-1].end:
            path.pop()
        least = path[-1].inner[-1].end if path[-1].inner else path[-1].start
        first = max(_line_start(text, symbol.span.start), least)
        last = min(symbol.span.end, path[-1].end)
        if first < last:
            scope = Scope(first, last, symbol)
            path[-1].inner.append(scope)
            path.append(scope)
    return root


def _line_start(text: str, at: int) -> int:
    """Return the start of the line if only blanks lie between it and `at`."""
    start = at
    while start and text[start - 1] in " \t":
        start -= 1
    return start if start == 0 or text[start - 1] == "\n" else at


def symbol_units(text: str, scope: Scope, ruler: TokenRuler, size: int) -> Iterator[Unit]:
    """Yield whole definitions, and what lies between them, joined where pieces are tiny."""
    group: list[_Part] = []
    for part in _parts(text, scope, ruler, size):
        if group and _belongs(group, part, ruler, size):
            group.append(part)
            continue
        if group:
            yield _unit(group)
        group = [part]
    if group:
        yield _unit(group)


def _parts(text: str, scope: Scope, ruler: TokenRuler, size: int) -> Iterator[_Part]:
    at = scope.start
    for inner in scope.inner:
        if _SIGN.search(text, at, inner.start):
            yield _Part(at, inner.start, None, scope.symbol, opens=True)
        if inner.inner and ruler.advance(inner.start, size) < inner.end:
            yield from _parts(text, inner, ruler, size)
        else:
            yield _Part(inner.start, inner.end, inner.symbol, scope.symbol)
        at = inner.end
    if _SIGN.search(text, at, scope.end):
        yield _Part(at, scope.end, None, scope.symbol)


def _belongs(group: Sequence[_Part], part: _Part, ruler: TokenRuler, size: int) -> bool:
    """Say whether a part goes into one chunk with those before it."""
    last = group[-1]
    fits = ruler.advance(group[0].start, size) >= part.end
    if last.opens and _tiny(last, ruler, size):
        return fits or ruler.advance(part.start, size) < part.end
    if not _tiny(part, ruler, size):
        return False
    if part.symbol is None:  # what is cut anyway may be a little longer
        return not part.opens and (fits or ruler.advance(group[0].start, size) < last.end)
    few = ruler.advance(group[0].start, size // 4) >= part.end
    return few and part.owner == last.owner and _tiny(last, ruler, size)


def _tiny(part: _Part, ruler: TokenRuler, size: int) -> bool:
    tiny = tiny_tokens(size)
    return ruler.count(part.start, part.end, tiny) < tiny


def _unit(group: Sequence[_Part]) -> Unit:
    whole = [part.symbol for part in group if part.symbol is not None]
    owners = [part.owner for part in group]
    symbol = whole[0] if len(whole) == 1 else min(owners, key=lambda one: len(one.span) if one else float("inf"))
    if len(whole) > 1 and any(owner != symbol for owner in owners):
        symbol = None
    return Unit(
        group[0].start,
        group[-1].end,
        symbol=symbol.name if symbol else None,
        kind=symbol.kind if symbol else None,
    )
