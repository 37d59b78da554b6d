"""Checks of quotes: whether words stand in a text, where, and what to say of a quote that does not."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from lilbee_core.text._tokens import fold_space
from lilbee_core.types import Location, Span, Verdict

_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.\.\.|…)\s*\]|\.\.\.|…)\s*")
_FEWEST_WORDS = 3
_MOST_PIECES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class QuoteCheck:
    """What the check of a quote found: for a supported one its span, for a misattributed one the true source."""

    verdict: Verdict
    span: Span | None = None
    source: int | None = None


def find_quote(quote: str, text: str) -> Span | None:
    """Return where `quote` stands in `text`, white space of any kind and length counting as one blank.

    A quote without a word is nowhere.
    """
    words = quote.split()
    if not words:
        return None
    direct = text.find(quote.strip())
    if direct >= 0:
        return Span(direct, direct + len(quote.strip()))
    match = re.search(r"\s+".join(re.escape(word) for word in words), text)
    return Span(*match.span()) if match else None


def check_quote(quote: str, cited: str, others: Sequence[str] = ()) -> QuoteCheck:
    """Say whether a quote is what it claims to be.

    - supported: it stands in the cited text, word for word;
    - misattributed: it does not, but it stands in another one of the given texts;
    - stitched: it is put together from pieces that stand apart, of one text or of several;
    - fabricated: none of these.
    """
    span = find_quote(quote, cited)
    if span is not None:
        return QuoteCheck(verdict=Verdict.SUPPORTED, span=span)
    for source, other in enumerate(others):
        if find_quote(quote, other) is not None:
            return QuoteCheck(verdict=Verdict.MISATTRIBUTED, source=source)
    if _is_stitched(quote, (cited, *others)):
        return QuoteCheck(verdict=Verdict.STITCHED)
    return QuoteCheck(verdict=Verdict.FABRICATED)


def place_in(location: Location, text: str, span: Span) -> Location:
    """Return where a part of a passage stands, from the passage's own place and text.

    Lines are narrowed where the passage's lines follow each other in the file, and kept otherwise; pages and labels
    are those of the passage.
    """
    first = location.line_start
    last_at = max(span.start, span.end - 1)
    if (
        first is None
        or location.line_end is None
        or text.count("\n", 0, max(0, len(text) - 1)) != location.line_end - first
    ):
        return location
    return replace(
        location,
        line_start=first + text.count("\n", 0, span.start),
        line_end=first + text.count("\n", 0, last_at),
    )


def _is_stitched(quote: str, texts: Sequence[str]) -> bool:
    pieces = [piece for piece in _ELLIPSIS.split(quote.strip()) if piece.strip()]
    if len(pieces) > 1:
        return all(any(find_quote(piece, text) for text in texts) for piece in pieces)
    words, folded = quote.split(), [fold_space(text) for text in texts]

    def longest(at: int) -> int:
        return max((_longest_piece(words, at, text) for text in folded), default=0)

    return bool(words) and in_few_runs(len(words), longest, shortest=_FEWEST_WORDS, most=_MOST_PIECES)


def in_few_runs(count: int, longest: Callable[[int], int], *, shortest: int, most: int) -> bool:
    """Say whether so many words are a few long runs, one behind the other; `longest` gives that from a place on."""
    at = 0
    for _ in range(most):
        length = longest(at)
        if length < min(shortest, count - at):
            return False
        at += length
        if at >= count:
            return True
    return False


def _longest_piece(words: Sequence[str], start: int, text: str) -> int:
    """Return how many words from `start` on stand together in `text` (by halving: longer ones hold shorter ones)."""
    low, high = 0, len(words) - start
    while low < high:
        middle = (low + high + 1) // 2
        if " ".join(words[start : start + middle]) in text:
            low = middle
        else:
            high = middle - 1
    return low
