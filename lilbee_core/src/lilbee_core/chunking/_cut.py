"""Cutting a unit into pieces that fit, at the best places."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from lilbee_core.chunking._ruler import TokenRuler
from lilbee_core.text import sentences

_SIGN = re.compile(r"\S")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_WORD_START = re.compile(r"(?<=\s)\S")
_FRESH_START = re.compile(r"(?:[.!?…]+[\"'”’»)\]]*\s|[。！？｡।][」』”’]*|\n)\s*")
_STOPS = "。！？｡।"
_CLOSERS = ".!?…\"'”’»)]」』"
_INDENT_CHARS = 120
_CLUSTER_CHARS = 16


@dataclass(frozen=True, slots=True)
class Cutter:
    """Cuts stretches of `text` into pieces of at most `size` tokens that share about `overlap` tokens.

    A piece ends at a blank line if there is one in its last part, else at the end of a sentence, a line, a word. In
    text whose lines are its units (`line_wise`: code, tables), lines come before sentences.
    """

    text: str
    ruler: TokenRuler
    size: int
    overlap: int
    line_wise: bool = False

    def pieces(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the pieces of ``[start, end)`` in order, without white space around them."""
        floor = start
        while sign := _SIGN.search(self.text, start, end):
            begin = self._with_indent(sign.start(), floor)
            cut = self._end(begin, end)
            if cut <= sign.start():  # the indentation alone fills a piece
                begin = sign.start()
                cut = self._end(begin, end)
            yield begin, _trimmed_end(self.text, begin, cut)
            if cut >= end or not _SIGN.search(self.text, cut, end):
                return
            start = cut if self.overlap == 0 else self._overlap_start(begin, cut)
            floor = begin + 1 if self.overlap else cut

    def _with_indent(self, begin: int, floor: int) -> int:
        """Return the start of the line if only its indentation lies before `begin`."""
        least = max(floor, begin - _INDENT_CHARS)
        at = begin
        while at > least and self.text[at - 1] in " \t":
            at -= 1
        at_line_start = at == 0 or self.text[at - 1] == "\n"
        return at if at_line_start else begin

    def _end(self, begin: int, end: int) -> int:
        """Return where the piece that starts at `begin` ends: at `end` if all of it fits."""
        most = self.ruler.advance(begin, self.size)
        return end if most >= end else self._cut(begin, most, end)

    def _cut(self, begin: int, most: int, end: int) -> int:
        """Return the best place for a cut, ``begin < cut <= most``."""
        low, high = self._window(begin, most, end)
        finders = (self._line, self._sentence) if self.line_wise else (self._sentence, self._line)
        for find in (self._blank_line, *finders, self._word):
            cut = find(low, high)
            if cut is not None:
                return cut
        return self._whole_sign(begin, high)

    def _window(self, begin: int, most: int, end: int) -> tuple[int, int]:
        """Return the stretch in which a cut is wanted: late, or in the middle where two pieces are left."""
        least = min(self.size, max(self.size * 3 // 5, self.overlap + (self.size - self.overlap + 1) // 2))
        two_pieces = (2 * self.size - self.overlap) * 7 // 8
        rest = self.ruler.count(begin, end, two_pieces)
        if rest < two_pieces:
            half = (rest + self.overlap) // 2
            least = max(half * 4 // 5, rest + self.overlap - self.size, self.overlap + 1)
            most = min(most, self.ruler.advance(begin, max(least + 1, min(self.size, half * 6 // 5))))
        low = min(max(self.ruler.advance(begin, least), begin + 1), most)
        return low, most

    def _blank_line(self, low: int, high: int) -> int | None:
        return max((found.end() for found in _BLANK_LINE.finditer(self.text, low, high)), default=None)

    def _sentence(self, low: int, high: int) -> int | None:
        """Return the end of the last sentence, of one that ends its line if there is one."""
        window = self.text[low:high]
        ends = [low + one.end for one in sentences(window)]
        ends = [at for at in ends if at < high and _ends_sentence(self.text, at)]
        at_line_ends = [at for at in ends if self.text[at] == "\n"]
        return max(at_line_ends or ends, default=None)

    def _line(self, low: int, high: int) -> int | None:
        at = self.text.rfind("\n", low, high)
        return at + 1 if at >= 0 else None

    def _word(self, low: int, high: int) -> int | None:
        at = self.text.rfind(" ", low, high)
        if at >= 0:
            return at + 1
        return max((found.start() for found in _WORD_START.finditer(self.text, low, high)), default=None)

    def _whole_sign(self, begin: int, cut: int) -> int:
        """Return `cut`, or the place before it that does not part a letter from its marks."""
        at = cut
        while at > max(begin + 1, cut - _CLUSTER_CHARS) and _continues(self.text, at):
            at -= 1
        return cut if _continues(self.text, at) else at

    def _overlap_start(self, begin: int, cut: int) -> int:
        """Return where the next piece starts: at a sentence, a line or a word in the last tokens before `cut`."""
        least = max(self.ruler.retreat(cut, self.overlap), begin + max(1, (cut - begin) // 4))
        if least >= cut:
            return cut
        fresh = _FRESH_START.search(self.text, least, least + (cut - least) * 2 // 3)
        if fresh:
            return fresh.end()
        word = _WORD_START.search(self.text, least, cut)
        if word:
            return word.start()
        return max(self._whole_sign(begin + 1, least), begin + 1)


def _ends_sentence(text: str, at: int) -> bool:
    return text[at - 1] in _STOPS or (text[at - 1] in _CLOSERS and (text[at].isspace() or text[at - 1] in "」』"))


def _trimmed_end(text: str, begin: int, end: int) -> int:
    while end > begin and text[end - 1].isspace():
        end -= 1
    return end


def _continues(text: str, at: int) -> bool:
    """Say whether the character at `at` belongs to the one before it."""
    sign = text[at] if at < len(text) else " "
    return (
        unicodedata.category(sign) in {"Mn", "Mc", "Me"}
        or sign == "\u200d"
        or text[at - 1] == "\u200d"
        or "\U0001f3fb" <= sign <= "\U0001f3ff"
    )
