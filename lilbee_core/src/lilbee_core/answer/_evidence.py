"""What a mark stands for: the words of the passage that bear out the statement before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lilbee_core.answer._sentences import cite_span, sentences_of
from lilbee_core.text import check_quote, fold_space, sentences
from lilbee_core.types import Citation, Hit, Span

_QUOTED = re.compile(r'"([^"\n]+)"|“([^”\n]+)”|„([^“”\n]+)[“”]|«([^»\n]+)»|「([^」\n]+)」')
_FEWEST_WORDS = 3  # shorter ones are names and irony
_FEWEST_SIGNS = 8  # the same, where words are not set apart
_LONGEST_QUOTE = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The marks of one place: numbers to show with their citations, what was rejected, and numbers of no passage."""

    shown: tuple[Citation, ...] = ()
    rejected: tuple[Citation, ...] = ()
    unknown: tuple[int, ...] = ()


def resolve(numbers: Sequence[int], told: str, given: Sequence[Hit]) -> Resolved:
    """Say what the marks behind the text `told` stand for.

    A quotation in the statement must stand in one of the passages that are named there. If it does not, none of the
    marks is shown. Every other mark is tied to the sentence of its passage that is most like the statement.
    """
    known = [number for number in numbers if 1 <= number <= len(given)]
    unknown = tuple(number for number in numbers if number not in known)
    span = _statement(told)
    statement = span.cut(told)
    backed: dict[int, Span] = {}
    for quote in _quotations(statement):
        found = {number: check_quote(quote, given[number - 1].chunk.text).span for number in known}
        true = {number: place for number, place in found.items() if place is not None}
        if not true:
            return Resolved(rejected=_rejected(quote, known, given, span), unknown=unknown)
        backed = {**true, **backed}
    shown = tuple(
        cite_span(
            given[number - 1],
            backed[number] if number in backed else _most_like(statement, given[number - 1]),
            marker=number,
            answer_span=span,
        )
        for number in known
    )
    return Resolved(shown=shown, unknown=unknown)


def _statement(told: str) -> Span:
    """Return the last sentence of what was told so far; one that ends inside a quotation goes on."""
    found = list(sentences(told))
    if not found:
        return Span(len(told), len(told))
    start, end = found[-1].start, found[-1].end
    for match in reversed(list(_QUOTED.finditer(told))):
        if match.start() < start < match.end():
            start = next(one.start for one in found if one.end > match.start())
    return Span(start, end)


def _quotations(statement: str) -> list[str]:
    # Writers put their own stop into the quotation marks.
    quotes = [
        next(group for group in match.groups() if group).rstrip(" .,;:!?…") for match in _QUOTED.finditer(statement)
    ]
    return [quote for quote in quotes if _is_long(quote)]


def _is_long(quote: str) -> bool:
    if len(quote.split()) >= _FEWEST_WORDS:
        return True
    return len(quote) >= _FEWEST_SIGNS and not quote.isascii() and " " not in quote


def _rejected(quote: str, known: Sequence[int], given: Sequence[Hit], span: Span) -> tuple[Citation, ...]:
    cited = given[known[0] - 1] if known else None
    others = [hit.chunk.text for hit in given if hit is not cited]
    verdict = check_quote(quote, cited.chunk.text if cited else "", others).verdict
    named = [given[number - 1] for number in known]
    claims = [
        cite_span(hit, Span(0, 0), marker=number, answer_span=span) for number, hit in zip(known, named, strict=True)
    ]
    return tuple(replace(claim, quote=quote, quote_span=None, verdict=verdict) for claim in claims)


def _most_like(statement: str, hit: Hit) -> Span:
    """Return the sentence of the hit that shares most with the statement, in three-letter pieces."""
    text = hit.chunk.text
    candidates = [one.span for one in sentences_of(hit, order=0, max_chars=_LONGEST_QUOTE)]
    if not candidates:
        stripped = text.strip()
        start = text.find(stripped)
        return Span(start, start + min(len(stripped), _LONGEST_QUOTE))
    asked = _pieces(statement)
    return max(candidates, key=lambda span: (_overlap(asked, span.cut(text)), -span.start))


def _overlap(asked: frozenset[str], sentence: str) -> float:
    held = _pieces(sentence)
    # Long sentences hold more of everything; the square root lets them win only if they hold more of this.
    return len(asked & held) / (len(held) ** 0.5) if held else 0.0


def _pieces(text: str) -> frozenset[str]:
    folded = f" {fold_space(text).casefold()} "
    size = 3 if folded.isascii() or not any(letter >= "\u2e80" for letter in folded) else 2
    return frozenset(folded[at : at + size] for at in range(len(folded) - size + 1))
