"""Reads a reply as it arrives: plain text, marks such as [2], and what must not be shown.

A reply may come in any pieces; the outcome is the same as for the whole at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LONGEST = 2500
"""Longer links, images and tags than this are not looked for, so that little is ever held back."""
_LONGEST_CODE = 400
_LONGEST_RANGE = 20

_WORD = r"(?:(?:passages?|sources?|documents?|refs?)\s*)?"
_NUMBERS = rf"\s*{_WORD}\^?\d{{1,4}}(?:\s*[-–,;&]\s*\^?\d{{1,4}})*\s*"
_ONE_MARK = rf"(?:\[{_NUMBERS}\](?!\()|【{_NUMBERS}[^】\n]{{0,20}}】)"
_MARKS = re.compile(rf"{_ONE_MARK}(?: ?{_ONE_MARK})*", re.IGNORECASE)
_RANGE = re.compile(r"(\d{1,4})\s*[-–]\s*\^?(\d{1,4})|(\d{1,4})")

_TARGET = r"\((?:[^()]++|\([^()]*+\))*\)"
_IMAGE = re.compile(rf"!\[[^\]]*+\](?:{_TARGET}|\[[^\]]*+\]|(?![\[(]))")
_LINK = re.compile(rf"\[([^\[\]]*+)\]{_TARGET}")
_TAGS = (
    "a|audio|base|button|embed|form|frame|iframe|image|img|input|link|meta|object|picture|script|source|style|svg|video"
)
_TAG = re.compile(rf"</?(?:{_TAGS})(?:[\s/][^>]*+)?>", re.IGNORECASE)
_TAG_START = re.compile(rf"</?(?:{_TAGS})\b", re.IGNORECASE)

# Beginnings of the above, at the end of what has arrived so far.
_OPEN_BRACKET = re.compile(r"!|!?\[[^\]]*+(?:\](?: ?|\((?:[^()]++|\([^()]*+\)?+)*|\[[^\]]*+))?")
_OPEN_MARKS = re.compile(r"[\[【][^\]】\n]*+(?:[\]】] ?(?:[\[【][^\]】\n]*+)?)*")
_OPEN_TAG = re.compile(r"</?(?:[a-zA-Z]{0,8}|[a-zA-Z]{1,8}[\s/][^>]*+)")
# A blank matters only where something that may be left out can follow it.
_SPECIAL = re.compile(r"[`!\[\]<【]| (?=[`!\[<【]|\Z)|(?=https?://|ftp://|www\.[a-z0-9])", re.IGNORECASE)
# Addresses that a viewer may turn into links by itself.
_ADDRESS = re.compile(r"(?:https?://|ftp://|www\.)[^\s<>\"`\[\](){}|\\]*", re.IGNORECASE)
_OPEN_ADDRESS = re.compile(r"(?:h|ht|htt|https?:?|https?:/|f|ft|ftp:?|ftp:/|w|ww|www\.?)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mark:
    """Numbers in brackets, with the blank before them if there is one."""

    numbers: tuple[int, ...]
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Address:
    """An address as text, outside code."""

    text: str


Piece = str | Mark | Address


class ReplyReader:
    """Takes a reply apart, piece by piece. Images, the targets of links and HTML that loads something are left out.

    Code, in backticks or fences, is passed on as it is: brackets there are no marks.
    """

    def __init__(self) -> None:
        self._held = ""
        self._fence = ""
        self.removed = 0
        """How many images, links and tags were left out."""

    def feed(self, text: str) -> Iterator[Piece]:
        """Yield what can be told so far; the rest is held back until more arrives."""
        return self._read(self._held + text, final=False)

    def close(self) -> Iterator[Piece]:
        """Yield what was held back."""
        return self._read(self._held, final=True)

    def _read(self, text: str, *, final: bool) -> Iterator[Piece]:
        at = 0
        while at < len(text):
            step = self._code(text, at, final) if self._fence else self._plain(text, at, final)
            if step is None:
                break
            at, piece = step
            if piece:
                yield piece
        self._held = text[at:]

    def _plain(self, text: str, at: int, final: bool) -> tuple[int, Piece] | None:
        """Return where reading goes on, and what was read; None to wait for more."""
        special = _SPECIAL.search(text, at)
        if special is None:
            end = len(text)
            if not final and (opening := _OPEN_ADDRESS.search(text, at)):
                end = opening.start()
            return (end, text[at:end]) if end > at else None
        if special.start() > at:
            return special.start(), text[at : special.start()]
        readers = {" ": self._blank, "`": self._backticks, "<": self._tag, "]": self._closing}
        if text[at].isalpha():
            return self._address(text, at, final)
        return readers.get(text[at], self._bracket)(text, at, final)

    def _address(self, text: str, at: int, final: bool) -> tuple[int, Piece] | None:
        match = _ADDRESS.match(text, at)
        assert match is not None
        if match.end() == len(text) and not final and match.end() - at <= _LONGEST:
            return None
        end = at + len(match.group().rstrip(".,;:!?*_'"))
        return end, Address(text[at:end])

    def _blank(self, text: str, at: int, final: bool) -> tuple[int, Piece] | None:
        """Let a blank go with the mark behind it, and leave it out with an image that is left out."""
        if at + 1 == len(text):
            return (at + 1, " ") if final else None
        step = self._plain(text, at + 1, final)
        if step is None:
            return None
        end, piece = step
        if isinstance(piece, Mark):
            return end, Mark(piece.numbers, " ")
        if isinstance(piece, Address):
            return at + 1, " "
        return end, f" {piece}" if piece else ""

    def _bracket(self, text: str, at: int, final: bool) -> tuple[int, Piece] | None:
        waits = not final and len(text) - at <= _LONGEST
        if waits and (_OPEN_BRACKET.fullmatch(text, at) or _OPEN_MARKS.fullmatch(text, at)):
            return None
        if image := _short(_IMAGE, text, at):
            return self._leave_out(image.end())
        if link := _short(_LINK, text, at):
            self.removed += 1
            label: str = link.group(1)
            return link.end(), Mark(_numbers(label)) if re.fullmatch(_NUMBERS, label) else label
        if marks := _short(_MARKS, text, at):
            return marks.end(), Mark(_numbers(marks.group()))
        return at + 1, "! " if text.startswith("![", at) else text[at]

    def _closing(self, text: str, at: int, final: bool) -> tuple[int, str] | None:
        """Part what would make an address out of brackets that were not understood."""
        if at + 1 == len(text) and not final:
            return None
        return at + 1, "] " if text[at + 1 : at + 2] in ("(", ":") else "]"

    def _tag(self, text: str, at: int, final: bool) -> tuple[int, str] | None:
        if not final and len(text) - at <= _LONGEST and _OPEN_TAG.fullmatch(text, at):
            return None
        if tag := _short(_TAG, text, at):
            return self._leave_out(tag.end())
        return at + 1, "< " if _TAG_START.match(text, at) else "<"

    def _leave_out(self, end: int) -> tuple[int, str]:
        self.removed += 1
        return end, ""

    def _backticks(self, text: str, at: int, final: bool) -> tuple[int, str] | None:
        end = at
        while end < len(text) and text[end] == "`":
            end += 1
        run = text[at:end]
        if end == len(text) and not final:
            return None
        if len(run) >= 3:
            self._fence = run
            return end, run
        line_end = text.find("\n", end)
        stop = min(line_end if line_end >= 0 else len(text), end + _LONGEST_CODE)
        closing = re.compile(rf"(?<!`){run}(?!`)").search(text, end, stop)
        if closing is not None and (final or closing.end() < len(text)):
            return closing.end(), text[at : closing.end()]
        if not final and stop == len(text):
            return None
        return end, run

    def _code(self, text: str, at: int, final: bool) -> tuple[int, str] | None:
        closing = text.find(self._fence, at)
        if closing >= 0:
            end = closing + len(self._fence)
            self._fence = ""
            return end, text[at:end]
        kept = len(text) if final else len(text.rstrip("`"))
        return (kept, text[at:kept]) if kept > at else None


def _numbers(text: str) -> tuple[int, ...]:
    found: list[int] = []
    for first, last, single in _RANGE.findall(text):
        if single:
            found.append(int(single))
        elif int(first) <= int(last) <= int(first) + _LONGEST_RANGE:
            found += range(int(first), int(last) + 1)
        else:
            found += [int(first), int(last)]
    return tuple(dict.fromkeys(found))


def harmless(text: str) -> str:
    """Return a document's text as it may stand in an answer: nothing in it loads, and its brackets are no marks."""
    reader = ReplyReader()
    pieces = [*reader.feed(text), *reader.close()]
    return "".join(map(_harmless, pieces))


def _harmless(piece: Piece) -> str:
    if isinstance(piece, Mark):
        return f"{piece.lead}({', '.join(map(str, piece.numbers))})"
    return piece.text if isinstance(piece, Address) else piece


def _short(pattern: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    match = pattern.match(text, at)
    return match if match is not None and match.end() - at <= _LONGEST else None
