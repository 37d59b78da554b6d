"""Units: what stands between two blanks or stops, and the tokens it is made of.

A unit is a word, or several joined by signs that bind (`os.path.join`, `read-only`, `1.250,50`, `a@b.example`). Its
tokens keep their order so that phrases can be found by position; beside them stand the forms by which one may look
for it as well: its parts, joined and whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from lilbee_core.analysis._letters import EMOJI, IDEOGRAPHS, INVISIBLE, MARKS, UNSPACED, clean, fold, lower, written_out

MARKER = "˜"
"""Begins every index token that is not an exact form. No text can have it inside a word."""
LONGEST_TOKEN = 64
_LONGEST_WHOLE = 128

# A unit begins with a character of a word, an emoji or a sigil; then words follow each other over one binding sign.
# Commas and colons bind digits only, an apostrophe binds after letters that elide (l'eau, don't, O'Brien).
_BINDING = r"[-.@&/\\{binding}]|:(?::|//)|(?<=\d)[,:](?=\d)|(?<=[cdjlmnstCDJLMNSTO])['’]"
_UNIT = (
    r"[{word}#@.{first}][{word}]*+(?:(?:" + _BINDING + r")[{word}]++)*(?:[+{plus}][+{plus}](?:\d\d)?|#(?![{word}]))?"
)
_ASCII_UNIT = re.compile(_UNIT.format(word="A-Za-z0-9_", first="", binding="", plus=""), re.ASCII)

_NUMBER = r"[vV]?[0-9]++(?:[.,'][0-9]++)+"
_ASCII_TOKEN = re.compile(rf"{_NUMBER}|[A-Za-z0-9_]++")
_TOKEN = re.compile(
    rf"{_NUMBER}|[{IDEOGRAPHS}]++|[{UNSPACED}]++|[{EMOJI}]|(?:(?![{IDEOGRAPHS}{UNSPACED}])[\w{MARKS}])+"
)
_UNSPACED = re.compile(f"[{IDEOGRAPHS}{UNSPACED}]")
_LETTER = re.compile(rf"[{IDEOGRAPHS}]|[\u0e40-\u0e44\u0ec0-\u0ec4]?.[{MARKS}{INVISIBLE}]*", re.DOTALL)

# Names of which signs are a part; they are one token each.
_NAMED = frozenset({"c++", "g++", "c#", "f#", "j#", "q#", ".net", "notepad++"})
_STANDARD = re.compile(r"([cg]\+\+)\d\d", re.IGNORECASE)
_SIGILS = "#@."
_EMPTY = "#@._-/\\&:'"
_OWNERS = ("self.", "cls.", "this.")
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_]+(?:\.[A-Za-z_][A-Za-z0-9_]*)+")
_SIGNS = re.compile(r"[-/\\@&:']")
_JOINED = re.compile(r"\w\W+\w")
_SEGMENTS = re.compile(r"[/\\@&]|:+/*")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:-\w+){1,3}")
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])+")

_GROUPED = re.compile(r"(\d{1,3}(?:([.,'])\d{3})(?:\2\d{3})*)(?:[.,](\d+))?")
_DECIMAL = re.compile(r"(\d+)[.,](\d+)")
_TELLING_DIGITS = 3

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+(?:[A-Z](?![a-z]))?")
_MOST_PARTS = 12
_MOST_MIXED = 4


@lru_cache(maxsize=1)
def _any_unit() -> re.Pattern[str]:
    word = r"\w" + MARKS + INVISIBLE
    return re.compile(_UNIT.format(word=word, first="＃＠" + EMOJI, binding="\u2010\u2011－．／＼＠＆", plus="＋"))


def unit_pattern(text: str) -> re.Pattern[str]:
    """Return the pattern whose matches in `text` are its units."""
    return _ASCII_UNIT if text.isascii() else _any_unit()


class Unit(NamedTuple):
    """What a unit is made of."""

    tokens: tuple[str, ...] = ()
    """In text order, case and accents kept."""
    joins: tuple[str, ...] = ()
    """To be stemmed: cooperate of co-operate, usa of U.S.A."""
    wholes: tuple[str, ...] = ()
    """Folded, with their signs: co-operate, os.path.join, 2026-03-14."""


def split_unit(unit: str) -> Unit:
    """Return the parts of a unit found by `unit_pattern`. A token of it is a unit of that one token."""
    if unit.isascii():
        if unit.replace("_", "").isalnum():
            return Unit((unit,))
        if _DOTTED.fullmatch(unit):
            return _dotted(unit)
        return _named(unit) or _joined(unit.lower(), _ASCII_TOKEN.findall(unit))
    text = clean(unit)
    if text.isascii():
        return split_unit(text) if text else Unit()
    tokens = _TOKEN.findall(text)
    if tokens == [text] or _UNSPACED.search(text):
        return Unit(tuple(tokens))
    return _joined("".join(fold(text).split()), tokens)


def _dotted(unit: str) -> Unit:
    """What code is full of, without the detours: an attribute and its owners."""
    tokens = tuple(unit.split("."))
    whole = unit.lower()
    if whole.startswith(_OWNERS):
        whole = whole.partition(".")[2]
    return Unit(tokens, (), (whole,) if "." in whole else ())


def _named(text: str) -> Unit | None:
    if text[-1] in "+#" or text[0] == ".":
        if text.lower() in _NAMED:
            return Unit((text,))
    elif standard := _STANDARD.fullmatch(text):
        return Unit((standard[1],), wholes=(text.lower(),))
    return None


def _joined(whole: str, tokens: list[str]) -> Unit:
    """Return a unit with its joined and whole forms, `whole` being all of it, folded."""
    if len(whole) > _LONGEST_WHOLE or whole.strip(_EMPTY) == "":
        return Unit(tuple(tokens))
    if len(tokens) < 2:
        return Unit(tuple(tokens), wholes=(whole,) if whole[0] in "#@" and whole[-1] not in "+#" else ())
    if whole[0] in _SIGILS:
        whole = whole[1:]
    if whole.startswith(_OWNERS):
        whole = whole.partition(".")[2]
    joins: tuple[str, ...] = ()
    wholes: tuple[str, ...] = (whole,) if _JOINED.search(whole) else ()
    if _SIGNS.search(whole):
        if "'" in whole or _HYPHENATED.fullmatch(whole):
            joins = (re.sub(r"[-.']", "", whole),)
        if "'" in whole and "-" not in whole:
            wholes = ()
        wholes += tuple(
            dict.fromkeys(part for part in _SEGMENTS.split(whole) if part != whole and _JOINED.search(part))
        )
    elif len(whole) < 2 * len(tokens) and _INITIALS.fullmatch(whole):
        joins = (whole.replace(".", ""),)
    return Unit(tuple(tokens), joins, wholes)


class Word(NamedTuple):
    """All forms of one token, folded where nothing else is said."""

    exact: tuple[str, ...] = ()
    """The token itself; in a script without blanks pairs of its letters, or its one letter."""
    stemmed: str = ""
    """What to stem, accents kept; empty in a script without blanks."""
    parts: tuple[str, ...] = ()
    """To be stemmed: flush, ledger and rows of flush_ledger_rows; umlauts written as two letters."""
    accented: str = ""
    """As written, when that is not the exact form."""
    spelled: str = ""
    """With umlauts written as two letters."""
    letters: tuple[str, ...] = ()
    """In a script without blanks."""


_NOTHING = Word()


def split_token(token: str) -> Word:
    """Return the forms of a token of `split_unit`."""
    if not token.isascii():
        return _run(fold(token)) if _UNSPACED.match(token) else _foreign(token[:LONGEST_TOKEN])
    token = token[:LONGEST_TOKEN]
    word = token.lower()
    if is_plain(token):
        return Word((word,), word)
    joined = word.replace("_", "")
    if joined.isalnum():
        return Word((word,), joined, _parts(token, joined))
    if word in _NAMED:
        return Word((word,), word)
    return Word((word,), *_value(word)) if joined else _NOTHING


def _foreign(token: str) -> Word:
    word = lower(token)
    exact = fold(word)
    joined = word.replace("_", "")
    if not exact or not joined:
        return _NOTHING
    parts = () if is_plain(token) else _parts(token, joined)
    if exact == word:
        return Word((exact,), joined, parts)
    return Word((exact,), joined, parts, word, written_out(word))


def _parts(token: str, joined: str) -> tuple[str, ...]:
    if token.isascii():
        parts = _PART.findall(token)
        forms = () if _is_hash(token, parts) else tuple([part.lower() for part in parts if len(part) > 1])
    else:
        forms = tuple(lower(token[start:end]) for start, end in part_spans(token))
    return () if forms == (joined,) else forms


def _is_hash(token: str, parts: Sequence[object]) -> bool:
    """Tell whether an identifier was cut into too many parts, or where no writer would have cut it."""
    if len(parts) <= _MOST_MIXED:
        return "_" not in token and token.startswith(("0x", "0X"))
    return len(parts) > _MOST_PARTS or ("_" not in token and (token.islower() or token.isupper()))


def is_plain(token: str) -> bool:
    """Tell whether a token has no inner structure: one word in one of the usual cases."""
    return token.isalpha() and (token.islower() or token[1:].islower() or token.isupper())


def _run(run: str) -> Word:
    letters = tuple(_LETTER.findall(run))
    if len(letters) <= 1:
        return Word(letters, letters=letters)
    return Word(tuple(first + second for first, second in pairwise(letters)), letters=letters)


def run_letters(run: str) -> Iterator[re.Match[str]]:
    """Find the letters of a run: characters, with their signs where a script binds them."""
    return _LETTER.finditer(run)


def _value(number: str) -> tuple[str, tuple[str, ...]]:
    """Return a number the way it is written without grouping and with a point, and its telling parts."""
    digits = number.lstrip("v")
    if grouped := _GROUPED.fullmatch(digits):
        whole = re.sub(r"\D", "", grouped[1])
        return (f"{whole}.{grouped[3]}" if grouped[3] else whole), ()
    if fraction := _DECIMAL.fullmatch(digits):
        return f"{fraction[1]}.{fraction[2]}", ()
    return digits, tuple(part for part in re.split(r"\D", digits) if len(part) >= _TELLING_DIGITS)


def part_spans(token: str) -> list[tuple[int, int]]:
    """Return where an identifier has its parts: cut where its writer meant a blank. None in a plain word or a hash."""
    shape = token if token.isascii() else "".join(map(_shape, token))
    spans = [match.span() for match in _PART.finditer(shape)]
    return [] if _is_hash(shape, spans) else [(start, end) for start, end in spans if 1 < end - start < len(token)]


def _shape(char: str) -> str:
    if char == "_":
        return "_"
    if char.isdigit():
        return "0"
    return "A" if char.isupper() else "a"
