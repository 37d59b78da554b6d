"""What a mark stands for: the words of the passage that bear out the statement before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lilbee_core.analysis import detect_language
from lilbee_core.answer._sentences import cite_span, sentences_of
from lilbee_core.text import (
    QUOTED,
    Evidence,
    Nearness,
    Support,
    check_citations,
    figures_stand_in,
    fold_space,
    quotations,
    says_something,
    sentences,
)
from lilbee_core.types import Citation, Hit, Span, Verdict

_LONGEST_QUOTE = 300
_JOINT = re.compile(r"[\s,;:.)\]]*(?:(?:and|but|while|und|aber|sowie|et|mais|y|pero)\s+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A mark that is not shown, and what the check found."""

    citation: Citation
    support: Support


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The marks of one place: numbers to show with their citations, what was rejected, and numbers of no passage."""

    shown: tuple[Citation, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    unknown: tuple[int, ...] = ()


def resolve(
    numbers: Sequence[int], told: str, span: Span, given: Sequence[Hit], *, near: Nearness | None = None
) -> Resolved:
    """Say what the marks behind (or before) a statement stand for: `span` is its place in the text `told`.

    A mark is shown if its passage bears the statement out, word by word or nearly so: numbers, names and negations
    must match, and a quotation must stand there verbatim. It is tied to the sentence that does so. Marks that only
    share in a statement with others are shown for their part. What is said in another language than the passage is
    not shown either, and told apart from what is wrong.
    """
    known = [number for number in numbers if 1 <= number <= len(given)]
    statement = span.cut(told)
    checked = check_citations(statement, known, [_evidence(hit) for hit in given], near=near)
    found = list(zip(known, checked, strict=True))
    shown = tuple(
        cite_span(given[number - 1], _stretch(statement, one, given[number - 1]), marker=number, answer_span=span)
        for number, one in found
        if one.supported
    )
    rejected = tuple(
        _rejected(
            statement, _judged(one, told[: span.end], statement, given[number - 1]), given[number - 1], number, span
        )
        for number, one in found
        if not one.supported
    )
    return Resolved(shown=shown, rejected=rejected, unknown=tuple(number for number in numbers if number not in known))


def _judged(found: Support, told: str, statement: str, hit: Hit) -> Support:
    """Return what the check found, or that words can tell nothing: two languages, and no number or quotation amiss."""
    if found.verdict is not Verdict.FABRICATED or found.reason == "quote":
        return found
    spoken, written = detect_language(statement) or detect_language(told), detect_language(hit.text)
    if spoken is None or written is None or spoken == written or not figures_stand_in(statement, hit.text):
        return found
    return replace(found, verdict=Verdict.UNCHECKED, reason="language")


def statement_before(told: str, since: int) -> Span:
    """Return the statement that a mark at the end of `told` stands for: of the last sentence what follows `since`.

    Where nothing is said there ("[1], [2]"), it is the sentence as far as it goes; empty if that says nothing either.
    """
    sentence = _last_sentence(told)
    if sentence.start < since < sentence.end:
        lead = _JOINT.match(told, since)
        rest = Span(min(lead.end() if lead else since, sentence.end), sentence.end)
        if says_something(rest.cut(told)):
            return rest
    return sentence if says_something(sentence.cut(told)) else Span(sentence.end, sentence.end)


def _last_sentence(told: str) -> Span:
    """Return the last sentence of what was told so far; one that ends inside a quotation goes on."""
    found = list(sentences(told))
    if not found:
        return Span(len(told), len(told))
    start, end = found[-1].start, found[-1].end
    for match in reversed(list(QUOTED.finditer(told))):
        if match.start() < start < match.end():
            start = next(one.start for one in found if one.end > match.start())
    return Span(start, end)


def _evidence(hit: Hit) -> Evidence:
    """Return a hit with what stands over it: title, headings, the name of its file."""
    over = [part for chunk in hit.parts or (hit.chunk,) for part in (chunk.title or "", *chunk.headings)]
    name = hit.path.rpartition("/")[2].rpartition(".")[0]
    return Evidence(text=hit.text, context=". ".join(dict.fromkeys(part for part in (*over, name) if part)))


def _stretch(statement: str, support: Support, hit: Hit) -> Span:
    """Return what of a hit is quoted for a statement: the sentence that bears it out, without bullets and headings."""
    if support.span is None:
        return _most_like(statement, hit)
    held = support.span
    touched = [one.span for one in sentences_of(hit, order=0, max_chars=_LONGEST_QUOTE) if one.span.overlaps(held)]
    if not touched or quotations(statement):
        return held
    if len(touched) == 1 and 2 * len(held) >= len(touched[0]):
        return touched[0]
    whole = Span(max(held.start, touched[0].start), min(held.end, touched[-1].end))
    return whole if len(whole) <= 2 * _LONGEST_QUOTE else _most_like(statement, hit)


def _rejected(statement: str, support: Support, hit: Hit, number: int, span: Span) -> Rejected:
    """Return a mark that is not shown: it claims a quotation, or else the whole statement."""
    claim = cite_span(hit, Span(0, 0), marker=number, answer_span=span)
    quote = support.at_fault if support.reason == "quote" else statement
    return Rejected(citation=replace(claim, quote=quote, quote_span=None, verdict=support.verdict), support=support)


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
