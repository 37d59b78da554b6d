"""The sentences of passages that say most about something."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lilbee_core.analysis import fold
from lilbee_core.text import fold_space, sentences, titles_in, without_titles
from lilbee_core.types import Chunk, Span

_SHORTEST, _LONGEST = 40, 400
_FEWEST_WORDS = 5
_LEAST_LETTERS = 0.85
_PER_DOCUMENT = 3
_ALIKE = 0.6
_MOST_NAMED = 4
_NO_PROSE = re.compile(r"^\s*(?:#|```|\||[-=*_]{3,}\s*$|<)|\|.*\|")
_MARKUP = re.compile(r"^\s*(?:[-*+>]|\d+[.)])\s+")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Quote:
    """A sentence of a passage, as it stands there."""

    chunk: Chunk
    span: Span

    @property
    def text(self) -> str:
        """The sentence in one line."""
        return fold_space(self.span.cut(self.chunk.text))


def best_quotes(chunks: Iterable[Chunk], names: Sequence[str], others: Sequence[str], *, most: int) -> list[Quote]:
    """Return the sentences that name something and say most beside it, no two of them alike.

    Args:
        chunks: Where to look.
        names: How it is called.
        others: What it goes with: a sentence that names more of that says more.
        most: How many to return.
    """
    known, related = [fold(name) for name in names], [fold(name) for name in others]
    found: list[tuple[float, Quote, frozenset[str]]] = []
    for chunk in chunks:
        for quote in _sentences(chunk):
            text = fold(quote.text)
            if any(names_it(text, name) for name in known):
                score = min(_MOST_NAMED, sum(names_it(text, name) for name in related))
                first = any(text.startswith((name, f"the {name}")) for name in known)
                found.append((score + first, quote, frozenset(_WORD.findall(text))))
    found.sort(key=lambda one: (-one[0], one[1].chunk.path, one[1].chunk.ordinal, one[1].span.start))
    return _distinct(found, most)


def _distinct(ranked: Sequence[tuple[float, Quote, frozenset[str]]], most: int) -> list[Quote]:
    kept: list[tuple[Quote, frozenset[str]]] = []
    per_document: Counter[str] = Counter()
    for _, quote, words in ranked:
        if len(kept) == most:
            break
        if per_document[quote.chunk.document_id] == _PER_DOCUMENT:
            continue
        if any(len(words & other) > _ALIKE * len(words | other) for _, other in kept):
            continue
        per_document[quote.chunk.document_id] += 1
        kept.append((quote, words))
    return [quote for quote, _ in kept]


def _sentences(chunk: Chunk) -> Iterable[Quote]:
    """Yield the sentences of a passage that are prose of some length, without the sign of a list before them."""
    titles = titles_in((*chunk.headings, chunk.title))
    for span in sentences(chunk.text):
        text = span.cut(chunk.text)
        if _NO_PROSE.search(text):
            continue
        mark = _MARKUP.match(text)
        start = span.start + (mark.end() if mark else 0)
        quote = Quote(chunk, without_titles(chunk.text, Span(start, span.end), titles))
        if _SHORTEST <= len(quote.text) <= _LONGEST and _is_prose(quote.text):
            yield quote


def _is_prose(text: str) -> bool:
    """Whether a text is words rather than data: records are full of signs."""
    letters = sum(char.isalpha() or char == " " for char in text)
    return letters >= _LEAST_LETTERS * len(text) and len(_WORD.findall(text)) >= _FEWEST_WORDS


def names_it(text: str, name: str) -> bool:
    """Whether a folded text names it, as a word or as the beginning of one."""
    at = text.find(name)
    while at >= 0:
        if at == 0 or not text[at - 1].isalnum():
            return True
        at = text.find(name, at + 1)
    return False
