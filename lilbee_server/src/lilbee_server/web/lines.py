"""A text to lines of pieces, each with its line number, what kind of word it is, and whether it is the passage."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lilbee_core.text import visible
from lilbee_core.types import Span

_WORD = re.compile(r"\w{2,}")
_MOST_WORDS = 30


@dataclass(frozen=True, slots=True)
class Piece:
    """Characters that look alike.

    `kind` is the class of a word of code; `here` says that they are of the passage, `begins` that it begins with them,
    `word` that they are a word of the query.
    """

    text: str
    kind: str = ""
    here: bool = False
    begins: bool = False
    word: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """A line. `number` is None where the document has none."""

    number: int | None
    pieces: tuple[Piece, ...]


def lines_of(
    text: str,
    *,
    number: int | None,
    passage: Span | None = None,
    words: Sequence[Span] = (),
    kinds: Sequence[tuple[int, int, str]] = (),
) -> Iterator[Line]:
    """Yield the lines of a text. All spans are characters of it, sorted, and do not overlap each other."""
    cuts = _Cuts(text, passage, words, kinds)
    at = 0
    while at < len(text) or at == 0:
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        yield Line(number, tuple(cuts.pieces(at, end)))
        number = number + 1 if number is not None else None
        at = end + 1


class _Cuts:
    """Where the look of a text changes."""

    def __init__(
        self, text: str, passage: Span | None, words: Sequence[Span], kinds: Sequence[tuple[int, int, str]]
    ) -> None:
        self._text = text
        self._passage = passage or Span(0, 0)
        self._words = words
        self._word_starts = [one.start for one in words]
        self._kinds = kinds
        self._kind_starts = [one[0] for one in kinds]
        ends = {self._passage.start, self._passage.end, len(text)}
        ends.update(edge for one in words for edge in (one.start, one.end))
        ends.update(edge for one in kinds for edge in one[:2])
        self._edges = sorted(ends)
        self._begun = False

    def pieces(self, start: int, end: int) -> Iterator[Piece]:
        """Yield the pieces of a line."""
        at = start
        while at < end:
            following = bisect_right(self._edges, at)
            to = min(end, self._edges[following]) if following < len(self._edges) else end
            here = self._passage.start <= at < self._passage.end
            begins, self._begun = here and not self._begun, self._begun or here
            word = here and self._is_word(at)
            yield Piece(visible(self._text[at:to]), self._kind(at), here=here, begins=begins, word=word)
            at = to

    def _kind(self, at: int) -> str:
        found = bisect_right(self._kind_starts, at) - 1
        return self._kinds[found][2] if found >= 0 and at < self._kinds[found][1] else ""

    def _is_word(self, at: int) -> bool:
        found = bisect_right(self._word_starts, at) - 1
        return found >= 0 and at < self._words[found].end


def words_in(text: str, query: str, passage: Span) -> list[Span]:
    """Return where words of a query stand in a passage."""
    wanted = sorted({word.casefold() for word in _WORD.findall(query)}, key=len, reverse=True)[:_MOST_WORDS]
    if not wanted:
        return []
    pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, wanted))})", re.IGNORECASE)
    return [Span(*match.span()) for match in pattern.finditer(text, passage.start, passage.end)]
