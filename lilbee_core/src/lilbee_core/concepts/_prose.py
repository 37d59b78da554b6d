"""Concepts of prose by rules: names, abbreviations, compounds, and phrases between words without a topic.

A tagger knows more; these rules need no model, speak every language whose function words are known, and take a
fraction of its time. What they take wrongly for a phrase is mostly said once and becomes no concept.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from lilbee_core.analysis import MARKS, fold, function_words
from lilbee_core.concepts._candidates import Candidates
from lilbee_core.concepts._normal import Normalizer
from lilbee_core.concepts._weak_words import CALENDAR, general_nouns, no_names, weak_words

STOP, PLAIN, CAPITAL, SHORT, NUMBER, EDGE, GENERAL = range(7)
"""Kinds of words: without a topic; any other; with a capital letter; an abbreviation; digits; what may stand inside a
phrase, not at its edges (`widely used drugs`); and nouns that only say something behind another word."""
Word = tuple[str, int]

_SIGN = r"(?:\+\+|#(?!\w))?"
"""What tells C++ and C# from C."""
_TOKEN = re.compile(rf"[^\W_]+(?:[-'’&.][^\W_]+)*{_SIGN}")
_MARKED_TOKEN = re.compile(rf"(?:[^\W_]|[{MARKS}])+(?:[-'’&.](?:[^\W_]|[{MARKS}])+)*{_SIGN}")
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_GAPS = frozenset({" ", "\n", "  ", "-", " \n", "\u00a0", "\t"})
_SENTENCE = re.compile(r"[.!?:;…|•*#>]|\n\s*\n|^\s*$|\n\s*[-–—]")
_TITLES = frozenset({"Mr", "Mrs", "Ms", "Dr", "St", "Prof", "Jr", "Sr", "Mt"})
_SMALL = frozenset(
    ["a", "an", "the", "and", "or", "of", "in", "on", "for", "to", "with", "by", "at", "from", "as", "vs"]
)
_ALSO_SHORT = frozenset({"WHO", "IT", "US"})
"""Abbreviations that in small letters are function words."""
_JOINING = frozenset(
    ["of", "de", "la", "le", "du", "des", "del", "della", "di", "da", "do", "dos", "von", "van", "der", "den", "al"]
)
"""Small words inside of names."""
_URL = re.compile(r"\w+://\S+|\S+@\S+\.\w+|`[^`\n]*`")
_MOST_WORDS, _LONGEST_NAME = 4, 7
_LEAST_LETTERS, _LONGEST_WORD = 3, 40
_LEAST_SINGLE = 4
_LONGEST_SHORT = 6
_SHOUT, _SHOUT_WORDS = 0.6, 4
_NOUN = re.compile(
    r".{3,}(?:tions?|sions?|ments?|ness|ity|ities|isms?|ists?|ology|ologies|ography|ships?|ance|ence|ency|ures?"
    r"|hood|age|ages|itis|osis|ase|ases|gens?|ines?|ics|phobia|cracy|ware|scopy|metry|pathy|tomy)$"
)
_ADVERB = re.compile(r".{3,}ly$")
_PARTICIPLE = re.compile(r".{3,}(?:ed|ing)$")
_ABBREVIATION = re.compile(r"(?:[A-Z][A-Z0-9&-]*[A-Z0-9]|(?:[A-Z]\.)+[A-Z])s?$")

NAME, ABBREVIATION, PAIR, TRIPLE, SINGLE = 3.0, 2.5, 2.0, 2.2, 1.0
"""How telling each sort of concept is: which are kept where there are more than enough."""


class _Kinds(dict[str, int]):
    """The kind of each word of a language, worked out when it is first met."""

    _MOST = 200_000

    def __init__(self, language: str) -> None:
        super().__init__()
        self.english = language == "en"
        words = function_words().get(language, frozenset())
        self._stops = frozenset(map(fold, words))
        self._general = general_nouns() if self.english else frozenset[str]()
        self._weak = weak_words() if self.english else frozenset[str]()

    def __missing__(self, word: str) -> int:
        if len(self) >= self._MOST:
            self.clear()
        self[word] = kind = self._kind(word)
        return kind

    def _kind(self, word: str) -> int:  # noqa: PLR0911 - a list of cases
        if word[0].isdigit():
            return NUMBER
        lower = fold(word)
        if word in _ALSO_SHORT:
            return SHORT
        if lower in self._stops or word in _JOINING or lower in CALENDAR or len(word) > _LONGEST_WORD:
            return STOP
        if not word.isascii() and _UNSPACED.search(word):
            return STOP
        if len(word) > 1 and _ABBREVIATION.match(word):
            return SHORT if len(word) <= _LONGEST_SHORT or not word.isalpha() else self[word.lower()]
        if word[0].isupper() or any(map(str.isupper, word[1:])):
            return CAPITAL
        if lower in self._general:
            return GENERAL
        if lower in self._weak or len(word) < _LEAST_LETTERS:
            return STOP
        if self.english and (_ADVERB.match(word) or _PARTICIPLE.match(word)):
            return EDGE
        return PLAIN


@cache
def _kinds(language: str) -> _Kinds:
    return _Kinds(language)


class Prose:
    """Finds the concepts of prose. One thread at a time."""

    def __init__(self, normalizer: Normalizer) -> None:
        self._normal = normalizer
        self._pairs: Counter[tuple[str, str]] = Counter()

    def collect(self, text: str, language: str | None, found: Candidates, *, heading: bool = False) -> None:
        """Add what `text` talks about. A heading means each of its words, however often it is there."""
        known = language or "en"
        kinds = _kinds(known)
        if "://" in text or "@" in text or "`" in text:
            text = _URL.sub(" | ", text)
        singles: dict[str, list[str]] = {}
        self._pairs.clear()
        for segment, starts in _segments(text, kinds):
            words = _leveled(segment, kinds)
            self._names(words, known, found, singles, starts=starts)
            self._phrases(words, known, found, singles)
        for pair, times in self._pairs.items():
            if times > 1 and all(kinds[word] != EDGE for word in pair):
                for _ in range(times):
                    found.add(self._normal.key(pair, known), " ".join(pair), "phrase", PAIR)
        for key, surfaces in singles.items():
            found.is_no_name(key)
            if heading or len(surfaces) > 1 or (known == "en" and _NOUN.match(surfaces[0])):
                for surface in surfaces:
                    found.add(key, surface, "phrase", SINGLE)

    # ------------------------------------------------------------------ names

    def _names(
        self, words: Sequence[Word], language: str, found: Candidates, singles: dict[str, list[str]], *, starts: bool
    ) -> None:
        at = 0
        while at < len(words):
            if words[at][1] not in (CAPITAL, SHORT):
                at += 1
                continue
            end = _end_of_name(words, at)
            run = [word for word, _ in words[at:end]]
            if starts and at == 0 and end == 1 and words[0][1] == CAPITAL and words[0][0][1:].islower():
                # The capital letter is that of the sentence: a name shows in the middle of another one.
                word = run[0].lower()
                if _kinds(language)[word] == PLAIN and len(word) >= _LEAST_SINGLE:
                    singles.setdefault(self._normal.key([word], language), []).append(word)
            else:
                self._name(run, words[at][1], language, found)
            at = end

    def _name(self, run: list[str], kind: int, language: str, found: Candidates) -> None:
        run = run[1:] if len(run) > 1 and run[0] in _TITLES else run
        if len(run) == 1:
            word = run[0]
            if kind == SHORT:
                found.add(self._normal.key([word], "en", name=True), word, "entity", ABBREVIATION)
            elif _is_long(word) and (language != "en" or fold(word) not in no_names()):
                german = language == "de"
                sort, weight = ("phrase", SINGLE) if german else ("entity", NAME - 0.5)
                found.add(self._normal.key(run, language, name=not german), _bare(word), sort, weight)
            return
        surface = " ".join([*run[:-1], _bare(run[-1])])
        found.add(self._normal.name_key(run), surface, "entity", NAME)

    # ------------------------------------------------------------------ phrases

    def _phrases(self, words: Sequence[Word], language: str, found: Candidates, singles: dict[str, list[str]]) -> None:
        for run in _runs(words, nouns_last=language == "de"):
            if language != "en" and len(run) > 2:
                self._pairs.update(pairwise(word for word, _ in run))
            plain = any(kind in (PLAIN, GENERAL) for _, kind in run)
            names = [word for word, kind in run if kind in (CAPITAL, SHORT)]
            if not plain or len(names) > len(run) / 2 + 1:
                continue
            phrase = [word for word, _ in (run if len(run) <= _MOST_WORDS else run[-(_MOST_WORDS - 1) :])]
            if len(phrase) == 1:
                if len(phrase[0]) >= _LEAST_SINGLE:
                    singles.setdefault(self._normal.key(phrase, language), []).append(phrase[0])
                continue
            weight = PAIR if len(phrase) == 2 else TRIPLE
            found.add(self._normal.key(phrase, language), " ".join(phrase), "phrase", weight)
            head = phrase[-1]
            if len(head) >= _LEAST_SINGLE and run[-1][1] == PLAIN:
                singles.setdefault(self._normal.key([head], language), []).append(head)


def _segments(text: str, kinds: _Kinds) -> Iterator[tuple[list[Word], bool]]:
    """Yield the words between two signs, and whether a sentence begins with them."""
    words: list[Word] = []
    last = 0
    starts = begins = True
    for match in (_TOKEN if text.isascii() else _MARKED_TOKEN).finditer(text):
        token, start = match[0], match.start()
        gap = text[last:start]
        last = match.end()
        if words and gap not in _GAPS and not _is_initial(words[-1][0], gap):
            yield words, begins
            starts = bool(_SENTENCE.search(gap))
            words = []
        if not words:
            begins = starts or bool(not last)
        words.append((token, kinds[token]))
    if words:
        yield words, begins


def _is_initial(word: str, gap: str) -> bool:
    return gap in (". ", ".") and ((len(word) == 1 and word.isupper()) or word in _TITLES)


def _end_of_name(words: Sequence[Word], at: int) -> int:
    """Return where the name that begins at `at` ends: small words join, a number may follow."""
    end = at + 1
    while end < len(words) and end - at < _LONGEST_NAME:
        kind = words[end][1]
        if kind in (CAPITAL, SHORT):
            end += 1
        elif words[end][0] in _JOINING:
            step = end + 1
            if step < len(words) and words[step][0] in ("the", "la", "los", "las", "der", "den"):
                step += 1
            if step >= len(words) or words[step][1] != CAPITAL or step - at >= _LONGEST_NAME:
                break
            end = step + 1
        elif kind == NUMBER and len(words[end][0]) <= 4:
            return end + 1
        else:
            break
    return end


def _runs(words: Sequence[Word], *, nouns_last: bool) -> Iterator[Sequence[Word]]:
    """Yield the words between two without a topic, less what may not stand at an edge.

    With `nouns_last` a phrase ends with a capital letter, which is what nouns have in German.
    """
    start = 0
    unfit = (EDGE, PLAIN) if nouns_last else (EDGE,)
    for at in range(len(words) + 1):
        if at < len(words) and words[at][1] in (PLAIN, CAPITAL, SHORT, EDGE, GENERAL):
            continue
        end = at
        while start < end and words[start][1] in (EDGE, GENERAL):
            start += 1
        while end > start and words[end - 1][1] in unfit:
            end -= 1
        if end > start:
            yield words[start:end]
        start = at + 1


def _leveled(words: list[Word], kinds: _Kinds) -> list[Word]:
    """Return the words of a line without the capital letters that all of it has."""
    if _shouts(words):
        return [(word, kinds[word.lower()] if kind in (SHORT, CAPITAL) else kind) for word, kind in words]
    if kinds.english and _is_title(words):
        return [(word, kinds[word.lower()] if kind == CAPITAL else kind) for word, kind in words]
    return words


def _shouts(words: Sequence[Word]) -> bool:
    """Tell whether a line is in capitals all over, so that they say nothing."""
    if len(words) < _SHOUT_WORDS:
        return False
    return sum(kind == SHORT for _, kind in words) >= _SHOUT * len(words)


def _is_title(words: Sequence[Word]) -> bool:
    """Tell whether every word has a capital letter but those that have none in an English title."""
    telling = [kind for _, kind in words if kind in (CAPITAL, SHORT)]
    return len(telling) >= _SHOUT_WORDS and all(
        kind in (CAPITAL, SHORT, NUMBER) or word[0].isupper() or word in _SMALL for word, kind in words
    )


def _is_long(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS or word[-1] == "#"


def _bare(word: str) -> str:
    return re.sub(r"['’]s?$", "", word)
