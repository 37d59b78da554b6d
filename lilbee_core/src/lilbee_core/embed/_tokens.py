"""Counting and placing WordPiece tokens quickly: a word that was seen before is looked up, not tokenized again.

BERT's pre-tokenizer always splits at a space, tab or line break and drops it, so a text falls into words that can be
tokenized one by one. The few thousand words that make up most of a text come from a table, which is several times
faster than the tokenizer; the rest goes through the tokenizer in small batches. Nothing here holds more than a small
piece of the text in tokenized form, however long the text is.
"""

from __future__ import annotations

import re
import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Protocol, TypeAlias, cast

Starts: TypeAlias = Sequence[int]
"""Where the tokens of one word start, in characters from the start of the word."""

_GAPS = " \t\n\r"
_WORD = re.compile(f"[^{_GAPS}]+")
_GAP = re.compile(f"[{_GAPS}]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_LONG_WORD_CHARS = 64
_SAFE_CHARS = 16
"""More than the longest special token (``[MASK]``): what ends this far before a cut is not changed by the cut."""
_WHOLE: Starts = (0,)


class Encoding(Protocol):
    """What the tokenizer returns, as far as it is used here."""

    @property
    def ids(self) -> list[int]:
        """Token ids."""
        ...

    @property
    def offsets(self) -> list[tuple[int, int]]:
        """Start and end of each token in characters of the text."""
        ...

    @property
    def word_ids(self) -> list[int | None]:
        """Number of the word that each token belongs to."""
        ...


class Tokenizer(Protocol):
    """The one call of a ``tokenizers.Tokenizer`` that is used here."""

    def encode(self, sequence: str, *, add_special_tokens: bool) -> Encoding:
        """Tokenize one text."""
        ...


def load_tokenizer(path: Path) -> Tokenizer:
    """Read a ``tokenizer.json`` and switch its padding and truncation off."""
    import tokenizers

    tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return cast("Tokenizer", tokenizer)


class WordPieces:
    """Token counts, places and ids of a BERT tokenizer without truncation. Threads may share it."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        *,
        piece_chars: int = 32_768,
        huge_word_chars: int = 8_192,
        table_words: int = 32_768,
    ) -> None:
        """Take a tokenizer that neither pads nor truncates; the sizes bound memory and never change a result."""
        self._tokenizer = tokenizer
        self._piece_chars = piece_chars
        self._huge_word_chars = huge_word_chars
        self._table_words = table_words
        self._table: dict[str, Starts] = {}
        self._lock = threading.Lock()

    def count(self, text: str) -> int:
        """Number of tokens of the whole text, special ones not counted."""
        total = 0
        for start, end in _pieces(text, self._piece_chars):
            words = _WORD.findall(text, start, end)
            known = self._look_up(words)
            total += sum([len(known[word]) for word in words])
        return total

    def starts(self, text: str) -> Sequence[int]:
        """Where each token starts, in characters of the text; never descending."""
        found = array("q")
        for start, end in _pieces(text, self._piece_chars):
            matches = list(_WORD.finditer(text, start, end))
            words = [match.group() for match in matches]
            known = self._look_up(words)
            for match, word in zip(matches, words, strict=True):
                at, starts = match.start(), known[word]
                if starts is _WHOLE:
                    found.append(at)
                else:
                    found.extend(at + start for start in starts)
        return found

    def ids(self, text: str, limit: int) -> list[int]:
        """The first `limit` token ids; only as much of the text is tokenized as that takes."""
        chars = max(8 * limit, 1024)
        while chars < len(text):
            cut = max(text.rfind(gap, 0, chars) for gap in _GAPS)  # tokens before a gap do not depend on what follows
            ids = self._encode(text[:cut]).ids if cut > 0 else []
            if len(ids) >= limit:
                return ids[:limit]
            chars *= 4
        return self._encode(text).ids[:limit]

    def _look_up(self, words: Iterable[str]) -> dict[str, Starts]:
        """The tokens of all these words; new ones are tokenized and, unless long, remembered."""
        known: dict[str, Starts] = {}
        missing: list[str] = []
        for word in dict.fromkeys(words):
            starts = self._table.get(word)
            if starts is None:
                missing.append(word)
            else:
                known[word] = starts
        if missing:
            self._learn(missing, known)
        return known

    def _learn(self, missing: list[str], known: dict[str, Starts]) -> None:
        huge = [word for word in missing if len(word) > self._huge_word_chars]
        other = [word for word in missing if len(word) <= self._huge_word_chars]
        known.update((word, array("q", self._starts_in_windows(word))) for word in huge)
        known.update(self._tokenize(other))
        with self._lock:
            if len(self._table) + len(other) > self._table_words:
                self._table.clear()
            self._table.update((word, known[word]) for word in other if len(word) <= _LONG_WORD_CHARS)

    def _tokenize(self, words: Sequence[str]) -> Iterator[tuple[str, Starts]]:
        """Tokenize many words in one call, a line each."""
        if not words:
            return
        begins = list(accumulate((len(word) + 1 for word in words), initial=0))
        found: list[list[int]] = [[] for _ in words]
        for start, _ in self._encode("\n".join(words)).offsets:
            index = bisect_right(begins, start) - 1
            found[index].append(start - begins[index])
        for word, starts in zip(words, found, strict=True):
            yield word, _WHOLE if starts == [0] else tuple(starts)

    def _starts_in_windows(self, text: str) -> Iterator[int]:
        """Where tokens start in a text without a single gap, for instance Chinese.

        A window is tokenized, all but its last words are taken, and the next window begins with the first word
        that was not: words depend on nothing before them.
        """
        begin, size = 0, self._huge_word_chars
        while begin < len(text):
            encoding = self._encode(text[begin : begin + size])
            offsets = encoding.offsets
            if begin + size >= len(text):
                yield from (begin + start for start, _ in offsets)
                return
            words = encoding.word_ids
            limit = size - _SAFE_CHARS
            last = next(
                (i for i in reversed(range(len(words))) if _begins_word(words, i) and offsets[i][0] <= limit), 0
            )
            if offsets and offsets[last][0] > 0:
                yield from (begin + start for start, _ in offsets[:last])
                begin, size = begin + offsets[last][0], self._huge_word_chars
            else:
                size *= 2

    def _encode(self, text: str) -> Encoding:
        # Half a surrogate pair, which no UTF-8 holds: some versions refuse it, others make three characters of it.
        # BERT ignores the character that it becomes here.
        sound = text if text.isascii() else _SURROGATE.sub("\ufffd", text)
        return self._tokenizer.encode(sound, add_special_tokens=False)


def _begins_word(words: Sequence[int | None], index: int) -> bool:
    return index == 0 or words[index] != words[index - 1]


def _pieces(text: str, chars: int) -> Iterator[tuple[int, int]]:
    """Cut a text at gaps into pieces of `chars` characters or a little more."""
    start = 0
    while start < len(text):
        gap = _GAP.search(text, start + chars)
        end = gap.start() if gap else len(text)
        yield start, end
        start = end
