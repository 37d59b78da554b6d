"""Estimates of token counts, where no tokenizer is at hand."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence

CHARS_PER_TOKEN = 3.5
_DIGITS, _SIGNS = "0123456789", r"""!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~"""

# Thai, Hangul, kana and Han: no blanks between words, and about a token for every character.
_DENSE_RUN = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]+"
)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a model reads for `text` (3.5 characters each, rounded up)."""
    return -int(-len(text) // CHARS_PER_TOKEN)


def tokens_at_most(text: str) -> int:
    """Return how many tokens a chat model reads for `text`, rather too many than too few.

    Three characters each, and more where tokenizers cut small: digits, punctuation, scripts without blanks. No
    tokenizer is asked: the count is for what must fit whatever the model is.
    """
    digits, signs = sum(map(text.count, _DIGITS)), sum(map(text.count, _SIGNS))
    tokens = digits + signs / 2
    if text.isascii():
        return int(tokens + (len(text) - digits - signs) / 3) + 1
    ascii_only = sum(letter.isascii() for letter in text)
    dense = sum(letter >= "\u2e80" for letter in text)
    tokens += (ascii_only - digits - signs) / 3 + (len(text) - ascii_only - dense) * 0.8 + dense * 1.3
    return int(tokens) + 1


def fold_space(text: str) -> str:
    """Return `text` with every run of white space as one blank, and none around it."""
    return " ".join(text.split())


class EstimatedTokens:
    """Counts tokens by length: 3.5 characters each, and one for every character of a script without blanks.

    For embedders whose tokenizer is not known. Threads may share it.
    """

    kind = "estimated"

    def count_tokens(self, text: str) -> int:
        """Return about how many tokens a model reads for `text`."""
        if text.isascii() or not _DENSE_RUN.search(text):
            return estimate_tokens(text)
        return len(self.token_starts(text))

    def token_starts(self, text: str) -> Sequence[int]:
        """Return where tokens would start, ascending."""
        starts = array("I")
        at = 0
        for run in () if text.isascii() else _DENSE_RUN.finditer(text):
            starts.extend(_even_starts(at, run.start()))
            starts.extend(range(run.start(), run.end()))
            at = run.end()
        starts.extend(_even_starts(at, len(text)))
        return starts


def _even_starts(start: int, end: int) -> array[int]:
    """Return the starts of tokens of three and four characters in turn."""
    first, second = array("I", range(start, end, 7)), array("I", range(start + 3, end, 7))
    starts = array("I", bytes(4 * (len(first) + len(second))))
    starts[0::2] = first
    starts[1::2] = second
    return starts
