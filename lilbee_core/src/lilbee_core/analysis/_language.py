"""Which language a text is in: by script, then by function words and letters of its own.

A home-made profile instead of a library: the stop words are needed for queries anyway, the rest is a table of scripts.
The small libraries are slower by one or two orders of magnitude (n-gram profiles), large, or not deterministic.
"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from unicodedata import name

from lilbee_core.analysis._function_words import function_words
from lilbee_core.analysis._letters import MARKS, Table

DEFAULT_LANGUAGE = "en"
"""What Latin letters are taken for in a text whose language is unknown: code and its comments, mostly."""
_SAMPLE_CHARS = 2400
_WORD = re.compile(rf"(?:[^\W\d_]|[{MARKS}])+")

# First word of a letter's Unicode name, and the language where its script has just one (of which we know).
_SCRIPTS = {
    "LATIN": "L", "CYRILLIC": "C", "GREEK": "G", "ARABIC": "A", "HEBREW": "H", "DEVANAGARI": "D", "CJK": "Z",
    "HIRAGANA": "J", "KATAKANA": "J", "KATAKANA-HIRAGANA": "J", "HANGUL": "K", "THAI": "T", "LAO": "l", "KHMER": "k",
    "MYANMAR": "m", "GEORGIAN": "g", "ARMENIAN": "a", "ETHIOPIC": "e", "BENGALI": "b", "TAMIL": "t", "TELUGU": "u",
    "GUJARATI": "j", "GURMUKHI": "p", "KANNADA": "n", "MALAYALAM": "y", "SINHALA": "s", "TIBETAN": "o", "ORIYA": "r",
}  # fmt: skip
_ONE_LANGUAGE = {
    "G": "el", "T": "th", "K": "ko", "l": "lo", "k": "km", "m": "my", "g": "ka", "a": "hy", "e": "am", "b": "bn",
    "t": "ta", "u": "te", "j": "gu", "p": "pa", "n": "kn", "y": "ml", "s": "si", "o": "bo", "r": "or",
}  # fmt: skip
# Languages that share a script.
_SHARED = {
    "L": "en de fr es it pt ca ro nl sv da no fi pl cs hu tr id vi",
    "C": "ru uk bg",
    "A": "ar fa",
    "H": "he",
    "D": "hi",
}
# What a text in such a script is when its words do not tell.
_USUAL = {"C": "ru", "A": "ar", "H": "he", "D": "hi"}
_LETTER = "*"
# Letters that some of them use and others do not.
_LETTERS = {
    "de": "ßäöü",
    "fi": "äö",
    "sv": "äöå",
    "tr": "öüçğşıâ",
    "hu": "öüőű",
    "da": "åæø",
    "no": "åæø",
    "es": "ñ¿¡",
    "pt": "ãõçêâ",
    "fr": "çœêèùîâ",
    "ca": "çèò",
    "vi": "êăâươđạảấầậếềệộốớợ",
    "it": "èùòì",
    "pl": "łżźśćąęń",
    "cs": "řěůščž",
    "ro": "şățţșîâ",
    "uk": "їієґ",
    "ru": "ыэё",
    "bg": "ъ",
    "fa": "پچژگیک",
    "ar": "ةيىكأإ",
}
# A text is called after a language only if that much speaks for it: words and letters, per word of the text.
_LEAST_EVIDENCE = 1.0
_LEAST_SHARE = 0.03
_ENOUGH_WORDS = 150
_LETTER_WEIGHT = 0.35
_MOST_TIMES = 3
_LEAST_MARGIN = 0.5  # over English
_LEAST_SOURCES = 2  # one foreign-looking name repeated all over a program is no language
_SHORT_WORD_WEIGHT = 0.25  # "a" and "y" are words here and names of variables there
_KANA_SHARE = 0.05


def _script(char: str) -> str:
    return _SCRIPTS.get(name(char, "").partition(" ")[0], "") if char.isalpha() else ""


_SCRIPT_OF = Table(_script)


@lru_cache(maxsize=1)
def _profiles() -> dict[str, dict[str, dict[str, float]]]:
    """Return per script what each function word or letter says for each language: the fewer share it, the more."""
    words = function_words()
    profiles: dict[str, dict[str, dict[str, float]]] = {}
    for script, languages in _SHARED.items():
        users: dict[str, list[str]] = {}
        for language in languages.split():
            for sign in (*words[language], *(_LETTER + letter for letter in _LETTERS.get(language, ""))):
                users.setdefault(sign, []).append(language)
        profiles[script] = {sign: dict.fromkeys(known, _weight(sign) / len(known)) for sign, known in users.items()}
    return profiles


def _weight(sign: str) -> float:
    if sign.startswith(_LETTER):
        return _LETTER_WEIGHT
    return 1.0 if len(sign) > 1 else _SHORT_WORD_WEIGHT


def detect_language(text: str) -> str | None:
    """Return the ISO 639-1 code of the language that most of `text` is in, or None when too little tells.

    Looks at some thousand characters from the beginning, the middle and the end, so it takes well under a millisecond
    for any length. The same text always gives the same answer.
    """
    sample = _sample(text)
    script = "L" if sample.isascii() else _main_script(sample)
    if script in _ONE_LANGUAGE:
        return _ONE_LANGUAGE[script]
    if script in _SHARED:
        return _by_words(sample, script)
    return {"J": "ja", "Z": "zh"}.get(script)


def _sample(text: str) -> str:
    if len(text) <= _SAMPLE_CHARS:
        return text
    third = _SAMPLE_CHARS // 3
    middle = len(text) // 2
    return " ".join((text[:third], text[middle : middle + third], text[-third:]))


def _main_script(sample: str) -> str:
    counts = Counter(sample.translate(_SCRIPT_OF))
    kana, han = counts.pop("J", 0), counts.pop("Z", 0)
    if kana + han:
        # A character of these scripts says about as much as two or three letters.
        counts["J" if kana >= _KANA_SHARE * (kana + han) else "Z"] = 2 * (kana + han)
    return max(sorted(counts), key=counts.__getitem__, default="")


def _by_words(sample: str, script: str) -> str | None:
    profile = _profiles()[script]
    lowered = sample.lower().replace("i\u0307", "i")
    words = _WORD.findall(lowered)
    signs = Counter(words)
    if not sample.isascii():
        signs.update({_LETTER + letter: times for letter, times in Counter(lowered).items() if not letter.isascii()})
    scores = dict.fromkeys(_SHARED[script].split(), 0.0)
    sources = Counter[str]()
    for sign, times in signs.items():
        for language, weight in profile.get(sign, {}).items():
            scores[language] += weight * min(times, _MOST_TIMES)
            sources[language] += 1
    best = max(scores, key=scores.__getitem__)
    if scores[best] < max(_LEAST_EVIDENCE, _LEAST_SHARE * min(len(words), _ENOUGH_WORDS)):
        return _USUAL.get(script)
    if script == "L" and best != DEFAULT_LANGUAGE:
        margin = scores[best] - scores[DEFAULT_LANGUAGE]
        return best if sources[best] >= _LEAST_SOURCES and margin >= _LEAST_MARGIN else None
    return best
