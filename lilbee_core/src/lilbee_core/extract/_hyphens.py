"""Hyphens at the ends of lines: those of the word itself stay, those that only divide it go.

The document itself tells most: a word that it spells elsewhere is spelled so here. Without a word from it, a hyphen
goes, as most at the ends of lines divide words, unless both parts are words of their own: then it stays, for a word
with a hyphen is found by its joined form as well, while its parts are lost in a joined one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_WORDS = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
# Words that are cut themselves prove nothing; the engine marks where by a character of its own.
_CUT = re.compile(r"\S*\x02\S*|\S+[-\u00ad]\s*\n\s*\S*")
_BEFORE = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*$")
_FOLLOWING = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_NEAR = 80
_LEAST = 3
"""Letters of a part that may be a word of its own: shorter ones are mostly syllables."""
_TENS = frozenset(("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"))
_ONES = frozenset(
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "first", "second", "third", "fourth")
)
_PREFIXES = {"self": 4, "well": 4, "non": 4, "quasi": 3, "cross": 5, "half": 3}
"""First parts that keep their hyphen before a part of so many letters: self-employed, but not self-ish."""
_NO_WORDS = ("ness", "ing", "ish", "etheless", "ington", "sense")
_LAST_PARTS = frozenset(("based", "oriented", "driven", "called", "même", "mêmes"))


class Hyphens:
    """Tells which hyphens at the ends of lines are part of a word, by how a document spells its words elsewhere."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        """Take the texts of the document, as they stand before words are joined."""
        self._texts: tuple[str, ...] | None = tuple(texts)
        self._spelled: Counter[str] = Counter()

    def keeps(self, before: str, following: str) -> bool:
        """Say whether a hyphen stays, by the text that ends before it and the one that begins on the next line."""
        first, second = _BEFORE.search(before[-_NEAR:]), _FOLLOWING.match(following[:_NEAR])
        if first is None or second is None:
            return True
        return self._keeps(first[0], second[0])

    def _keeps(self, first: str, second: str) -> bool:
        capitals = first.isupper() and second.isupper() and len(first) > 1
        if second[:1].isdigit() or (second[:1].isupper() and not capitals):
            # COVID-19, Jean-Paul: no word is divided there.
            return True
        one, two = first.casefold(), second.casefold()
        joined, hyphened = self._count(f"{one}{two}"), self._count(f"{one}-{two}")
        if joined != hyphened:
            return hyphened > joined
        if len(first) == 1 or (first.isupper() and second.islower()):
            # E-mail, DNA-binding: no line ends with one letter of a word.
            return True
        if "-" in one or "-" in two:
            return self._keeps_within(one, two)
        return _is_compound(one, two) or self._are_words(one, two)

    def _keeps_within(self, one: str, two: str) -> bool:
        """Judge a word that has hyphens anyway, such as state-of-the-art or self-employ-ment."""
        last, first = one.rsplit("-", 1)[-1], two.split("-", 1)[0]
        if self._count(last + first):
            return False
        return "-" in two or _is_compound(last, first) or bool(self._count(first))

    def _are_words(self, one: str, two: str) -> bool:
        if two in _LAST_PARTS and self._count(one):
            return True
        return min(len(one), len(two)) >= _LEAST and self._count(one) > 0 and self._count(two) > 0

    def _count(self, word: str) -> int:
        if self._texts is not None:
            texts, self._texts = self._texts, None
            for text in texts:
                self._spelled.update(_WORDS.findall(_CUT.sub(" ", text.casefold())))
        return self._spelled[word]


def _is_compound(one: str, two: str) -> bool:
    least = _PREFIXES.get(one)
    if least is not None:
        return len(two) >= least and not two.startswith(_NO_WORDS)
    return one in _TENS and two in _ONES
