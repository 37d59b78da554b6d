"""Measuring a long text in tokens without holding all of its tokens."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Sequence

from lilbee_core.protocols import TokenCounter

_BLOCK_CHARS = 1 << 18
_BLOCKS_KEPT = 4
_SPACE = re.compile(r"\s")
_BLANKS = " " * 8
"""Most tokenizers leave white space out of their tokens; some, and estimates by length, count it."""
CHARS_PER_TOKEN_MAX = 12
"""A token may not stand for more characters than this: tokenizers read a long unbroken string as one unknown word."""


class TokenRuler:
    """Finds the place that lies a number of tokens before or after another one.

    The text is tokenized once, block by block, as far as it is asked for; only the last few blocks are kept.
    """

    def __init__(self, text: str, start: int, counter: TokenCounter) -> None:
        self._text = text
        self._counter = counter
        self._edges = [start]  # where blocks begin, and where the last one ends
        self._firsts = [0]  # how many tokens lie before each block
        self._blocks: OrderedDict[int, Sequence[int]] = OrderedDict()
        self._blanks_count = counter.count_tokens(_BLANKS) > 0

    def advance(self, start: int, tokens: int) -> int:
        """Return the largest end at which ``[start, end)`` holds at most `tokens` tokens."""
        limit = min(len(self._text), start + tokens * CHARS_PER_TOKEN_MAX)
        first = self._index(start)
        whole = tokens - 1 if self._cuts_a_token(start, first) else tokens
        end = min(self._offset(first + whole, limit), limit)
        # An estimate by length is one more where the stretch begins with one of the longer tokens.
        while self._blanks_count and end > start and self._counter.count_tokens(self._text[start:end]) > tokens:
            end -= 1
        return end

    def retreat(self, end: int, tokens: int) -> int:
        """Return the smallest start at which ``[start, end)`` holds at most `tokens` tokens."""
        limit = max(self._edges[0], end - tokens * CHARS_PER_TOKEN_MAX)
        first = self._index(end) - tokens
        return max(self._offset(first, len(self._text)) if first > 0 else self._edges[0], limit)

    def count(self, start: int, end: int, limit: int) -> int:
        """Return the number of tokens of ``[start, end)``, or `limit` if there are more.

        Long tokens count by their length.
        """
        if self.advance(start, limit) < end:
            return limit
        by_length = -((start - end) // CHARS_PER_TOKEN_MAX)
        return min(limit, max(by_length, self._index(end) - self._index(start)))

    def _cuts_a_token(self, offset: int, index: int) -> bool:
        """Say whether `offset`, which has `index` tokens before it, lies inside of a token: its rest is one more."""
        if offset >= len(self._text) or (self._text[offset].isspace() and not self._blanks_count):
            return False
        return self._offset(index, offset + 1) != offset

    def _index(self, offset: int) -> int:
        """How many tokens start before `offset`."""
        number = self._block_at(offset)
        return self._firsts[number] + bisect_left(self._block(number), offset - self._edges[number])

    def _offset(self, index: int, limit: int) -> int:
        """Where the token number `index` starts; `limit`, or something behind it, when it lies there."""
        while self._firsts[-1] <= index and self._edges[-1] < limit:
            self._load_next()
        number = bisect_right(self._firsts, index) - 1
        if number >= len(self._edges) - 1:
            return limit
        return self._edges[number] + self._block(number)[index - self._firsts[number]]

    def _block_at(self, offset: int) -> int:
        while self._edges[-1] <= offset and self._edges[-1] < len(self._text):
            self._load_next()
        return min(bisect_right(self._edges, offset), len(self._edges) - 1) - 1 if len(self._edges) > 1 else 0

    def _load_next(self) -> None:
        start = self._edges[-1]
        end = min(start + _BLOCK_CHARS, len(self._text))
        if end < len(self._text):
            gap = _SPACE.search(self._text, end, end + _BLOCK_CHARS)
            end = gap.start() if gap else end
        starts = self._counter.token_starts(self._text[start:end])
        self._keep(len(self._edges) - 1, starts)
        self._edges.append(end)
        self._firsts.append(self._firsts[-1] + len(starts))

    def _block(self, number: int) -> Sequence[int]:
        starts = self._blocks.get(number)
        if starts is None:
            if number >= len(self._edges) - 1:
                return ()
            starts = self._counter.token_starts(self._text[self._edges[number] : self._edges[number + 1]])
            self._keep(number, starts)
        return starts

    def _keep(self, number: int, starts: Sequence[int]) -> None:
        self._blocks[number] = starts
        while len(self._blocks) > _BLOCKS_KEPT:
            self._blocks.popitem(last=False)
