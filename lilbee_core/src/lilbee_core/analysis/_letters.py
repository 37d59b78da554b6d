"""Letters: what is dropped, what counts as the same, and which scripts are written without blanks."""

from __future__ import annotations

import re
from collections.abc import Callable
from unicodedata import category, decimal, normalize

# Classes for regular expressions. Combining marks belong to their word although `\w` leaves them out; the ranges
# reach over letters and unassigned places between marks, never over white space, punctuation or symbols. Each range
# beyond the first plane slows every match down, so of those there are two living scripts and the variation selectors.
MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u0711-\u07f3\u07fd\u0816-\u082d\u0859-\u085b\u0898-\u08e1"
    "\u08e3-\u0963\u0981-\u09e3\u09fe-\u0a75\u0a81-\u0ae3\u0afa-\u0b63\u0b82-\u0bd7\u0c00-\u0c63\u0c81-\u0c83"
    "\u0cbc-\u0d4d\u0d57-\u0d63\u0d81-\u0df3\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u0f18\u0f19\u0f35\u0f37"
    "\u0f39\u0f3e-\u0f84\u0f86-\u0fbc\u0fc6\u102b-\u103e\u1056-\u109d\u135d-\u135f\u1712-\u1734\u1752-\u17d3"
    "\u17dd\u180b-\u180d\u180f-\u193b\u1a17-\u1a1b\u1a55-\u1a7f\u1ab0-\u1b44\u1b6b-\u1b73\u1b80-\u1bf3"
    "\u1c24-\u1c37\u1cd0-\u1cd2\u1cd4-\u1dff\u20d0-\u20f0\u2cef-\u2cf1\u2d7f-\u2dff\u302a-\u302f\u3099\u309a"
    "\ua66f-\ua672\ua674-\ua67d\ua69e-\ua6f1\ua802-\ua827\ua82c\ua880-\ua8c5\ua8e0-\ua8f1\ua8ff-\ua92d"
    "\ua947-\ua953\ua980-\ua9c0\ua9e5-\uaa4d\uaa7b-\uaac1\uaaeb-\uaaef\uaaf5\uaaf6\uabe3-\uabea\uabec\uabed"
    "\ufb1e\ufe00-\ufe0f\ufe20-\ufe2f\U00011100-\U00011134\U0001e944-\U0001e94a\U000e0100-\U000e01ef"
)
# Soft hyphen, zero-width and direction characters: they may stand inside a word and mean nothing to it.
INVISIBLE = "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
# Han, kana, bopomofo, Hangul: written without blanks, cut into pairs of characters.
IDEOGRAPHS = (
    "\u1100-\u11ff\u3005-\u3007\u3021-\u3029\u3031-\u3035\u3038-\u303c\u3041-\u3096\u3099\u309a\u309d-\u309f"
    "\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97c\uac00-\ud7fb\uf900-\ufad9\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
# Thai, Lao, Myanmar, Khmer: no blanks between words either, and signs are bound to their consonant.
UNSPACED = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u109d\u1780-\u17d3\u17d7\u17dc\u17dd"
    "\ua9e0-\ua9fe\uaa60-\uaa7f"
)
EMOJI = "\u2600-\u266e\u2670-\u2767\u2776-\u27bf\u2b50\u2b55\U0001f300-\U0001faff"

# Accents and points that are no vowels: Latin, Greek and Cyrillic accents, Hebrew points, Arabic signs, tatweel,
# variation selectors.
_ACCENTS = re.compile(
    "[\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08d3-\u08ff\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u180b-\u180d"
    "\ufe00-\ufe0f\ufe20-\ufe2f\U000e0100-\U000e01ef]"
)
# Letters that no Unicode rule takes apart, and spellings that everybody mixes.
_SPECIAL = {
    "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i", "ŋ": "n", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe",
    "ё": "е", "ѐ": "е", "ѝ": "и",
    "ى": "ي", "ة": "ه", "ٱ": "ا", "ک": "ك", "ی": "ي",
    "ँ": "ं", "\u093c": "",
}  # fmt: skip
_PUNCTUATION = {"\u2010": "-", "\u2011": "-", "\u2019": "'", "\u2018": "'", "\u02bc": "'"}
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ø": "oe", "å": "aa"})
_VARIATION = re.compile("[\u180b-\u180d\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_CYRILLIC = ("\u0400", "\u052f")


class Table(dict[int, str]):
    """A table for `str.translate` that works out a character when it is first met."""

    def __init__(self, rule: Callable[[str], str]) -> None:
        self._rule = rule

    def __missing__(self, code: int) -> str:
        self[code] = letter = self._rule(chr(code))
        return letter


def _plain(char: str) -> str:
    """Drop what is not heard in a name typed on a foreign keyboard: accents, points, digits of other scripts."""
    if char in _SPECIAL:
        return _SPECIAL[char]
    if char in _PUNCTUATION:
        return _PUNCTUATION[char]
    if category(char) == "Cf":
        return ""
    if category(char) == "Nd":
        return str(decimal(char))
    if _CYRILLIC[0] <= char <= _CYRILLIC[1]:
        return char  # й and ї are letters of their own
    parts = _ACCENTS.sub("", normalize("NFD", char))
    return "".join(_SPECIAL.get(part, part) for part in normalize("NFC", parts))


def _clean(char: str) -> str:
    """Drop invisible characters, nothing else."""
    if char in _PUNCTUATION:
        return _PUNCTUATION[char]
    if category(char) == "Nd":
        return str(decimal(char))
    return "" if category(char) == "Cf" or _VARIATION.match(char) else char


_PLAIN = Table(_plain)
_CLEAN = Table(_clean)


def fold(text: str) -> str:
    """Return `text` as far as spelling counts for search: no case, no accents, no width, nothing invisible.

    ß becomes ss, ä becomes a; vowel signs of Indic scripts and й stay, since they make other words.
    Folding folded text changes nothing.
    """
    if text.isascii():
        return text.lower()
    while (folded := normalize("NFKC", text).casefold().translate(_PLAIN)) != text:
        text = folded
    return text


def clean(text: str) -> str:
    """Return `text` in compatible form without invisible characters; case and accents stay."""
    if text.isascii():
        return text
    return normalize("NFKC", normalize("NFKC", text).translate(_CLEAN))


def lower(text: str) -> str:
    """Return `text` without case, accents kept."""
    return text.lower() if text.isascii() else normalize("NFKC", text.casefold().replace("i\u0307", "i"))


def written_out(word: str) -> str:
    """Return a lower case word with its umlauts as two letters, folded: müller, mueller. Empty without umlauts."""
    longer = word.translate(_UMLAUTS)
    return "" if longer == word else fold(longer)
