"""Texts as terms: figures, names, words, small words and negations, each with its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeVar

from lilbee_core.text import _figures as figures
from lilbee_core.text._figures import Figure
from lilbee_core.text._grammar import FUNCTION, NEGATIONS, REPORTING, WIDENING, stem

_T = TypeVar("_T")
FIGURE, NAME, WORD, SMALL, DENIAL = "figure", "name", "word", "small", "denial"

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u2e80-\u2fdf\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    rf"(?P<date>{figures.DATE.pattern})|(?P<number>{figures.NUMBER.pattern})|(?P<dense>[{_UNSPACED}]+)"
    rf"|(?P<word>[^\W\d_{_UNSPACED}](?:[^\W_{_UNSPACED}]|[\u0300-\u036f])*(?:['’][^\W\d_]+)*[+#]*)"
)
_SUFFIX = re.compile(r"(st|nd|rd|th|ers?|ère|e|ème|º|ª)\b")
_DECADE = re.compile(r"['’]?s\b|er(?= Jahre\b)")
_NEW_SENTENCE = re.compile(r"[.!?…:|\n]")
_MINUS = re.compile(r"(?:^|[\s(])[-−]$")
_TO_UNIT = re.compile(r"[ \u00a0\u202f-]{0,2}")
_TO_DAY = re.compile(r"(?:st|nd|rd|th|er|\.|º)?\s*(?:of|de|,)?\s*")
_TO_YEAR = re.compile(r"(?:st|nd|rd|th)?\s*(?:,|of|de|del)?\s*")
_RANGE = re.compile(r"\s*(?:-|–|—|to|and|or|bis|und|oder|et|ou|à|au|y|o|al?|by|x|×)\s*")
_ELIDED = re.compile(r"(?:[ldnmtscj]|qu|jusqu|lorsqu)['’](?=\w)")
_SQUARES = {"square": 2, "sq": 2, "cubic": 3, "carrés": 2, "cuadrados": 2}
_FLAT = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d"})
_LINKS = frozenset(("of", "de", "del"))
_ALSO_NAMES = frozenset(("may", "will"))
# Denial in scripts that part no words.
_DENSE_DENIAL = frozenset("不没沒無无非未別勿") | {"ない", "ませ", "ず"}


class Term(NamedTuple):
    """A word or figure. `word` is folded to lower case without accents, `stem` without its ending."""

    kind: str
    word: str
    stem: str
    start: int
    end: int
    figure: Figure | None = None
    opens: bool = False
    """Whether it opens a sentence: its capital tells nothing."""
    capital: bool = False
    upper: bool = False
    """Whether it is written in capitals throughout."""
    sign: str = ""
    """The punctuation before it, if any."""

    @property
    def key(self) -> str:
        """What it is compared by: its stem, or the word itself where it has none."""
        return self.stem or self.word


@lru_cache(maxsize=256)
def read_terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a text in order."""
    return _Reader(text).read()


@lru_cache(maxsize=16_384)
def fold(word: str) -> str:
    """Return a word in lower case without accents."""
    if word.isascii():
        return word.lower()
    flat = unicodedata.normalize("NFKD", word.casefold().translate(_FLAT))
    return "".join(letter for letter in flat if not unicodedata.combining(letter))


_FUNCTION, _NEGATIONS, _REPORTING, _WIDENING = (
    frozenset(map(fold, words)) for words in (FUNCTION, NEGATIONS, REPORTING, WIDENING)
)


def _folded(table: Mapping[str, _T]) -> dict[str, _T]:
    return {fold(word): value for word, value in table.items()}


_MONTHS, _SCALES = _folded(figures.MONTHS), _folded(figures.SCALES)
_ORDINALS, _UNITS = _folded(figures.ORDINALS), _folded(figures.UNITS)
_ARTICLES = frozenset(map(fold, figures.ARTICLES)) | {"a"}
_NUMERIC = frozenset((*_MONTHS, *_ORDINALS, *_ARTICLES, *map(fold, figures.WORDS)))


class _Reader:
    """Reads one text. Tokens are read in order; a number looks ahead for what belongs to it."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(_TOKEN.finditer(text))
        self._terms: list[Term] = []
        self._mixed = not text.isupper()

    def read(self) -> tuple[Term, ...]:
        at = 0
        while at < len(self._tokens):
            at = self._step(at)
        return tuple(self._terms)

    def _step(self, at: int) -> int:
        token = self._tokens[at]
        kind = token.lastgroup
        if kind == "number":
            return self._number(at, figures.values_of(token.group()), at + 1)
        if kind == "dense":
            self._dense(token)
            return at + 1
        if kind == "word":
            return self._word(at)
        date = figures.date_of(figures.DATE.match(self._text, token.start()) or token)
        if date is not None:
            self._add_figure(date, token.start(), token.end())
        return at + 1

    # -- numbers ---------------------------------------------------------------------------------

    def _number(self, at: int, values: tuple[float, ...], following: int) -> int:
        """Take a number whose tokens end before `following`, with scale, unit, ordinal or decade."""
        text, start, end = self._text, self._tokens[at].start(), self._tokens[following - 1].end()
        before = text[max(0, start - 4) : start]
        if _MINUS.search(before):
            values = tuple(-value for value in values)
        money = figures.MONEY.search(before)
        scale, following, end = self._scale(following, end, money is not None)
        values = tuple(value * scale for value in values)
        figure = Figure(values=values)
        if decade := _DECADE.match(text, end):
            figure, end = Figure(values=values, decade=True), decade.end()
            following += following < len(self._tokens) and self._tokens[following].start() < end
        elif suffix := _SUFFIX.match(text, end):
            figure, end = Figure(values=values, ordinal=True), suffix.end()
            following += following < len(self._tokens) and self._tokens[following].start() < end
        unit, following, end = self._unit(following, end)
        if unit is None and money is not None:
            unit = _UNITS[fold(money[1])]
        if unit is None and self._terms and self._terms[-1].word in ("ad", "bc"):
            unit = _UNITS[self._terms.pop().word]
        if unit is not None:
            figure = replace(figure, unit=unit[0], factor=unit[1])
        self._add_figure(figure, start, end)
        return following

    def _scale(self, following: int, end: int, money: bool) -> tuple[float, int, int]:
        scale = 1.0
        while following < len(self._tokens):
            token = self._tokens[following]
            word = fold(token.group())
            gap = self._text[end : token.start()]
            if (
                word not in _SCALES
                or gap not in ("", " ", "\u00a0", "-")
                or (len(word) < 3 and not (money and not gap))
            ):
                break
            scale, following, end = scale * _SCALES[word], following + 1, token.end()
        return scale, following, end

    def _unit(self, following: int, end: int) -> tuple[tuple[str, float] | None, int, int]:
        """Return the unit behind a number, and where reading goes on."""
        if sign := figures.SIGNS.match(self._text, end):
            unit = _UNITS[fold((sign[1] or sign[2]).replace(" ", ""))]
            while following < len(self._tokens) and self._tokens[following].start() < sign.end():
                following += 1
            return unit, following, sign.end()
        words = self._words_from(following, end, 3)
        power = 1
        if words and words[0] in _SQUARES:
            power, words, following = _SQUARES[words[0]], words[1:], following + 1
        if words and words[0].startswith("quadrat") and words[0][7:] in _UNITS:
            power, words = 2, [words[0][7:], *words[1:]]
        if words[:2] in (["per", "cent"], ["pour", "cent"], ["por", "ciento"]):
            return _UNITS["%"], following + 2, self._tokens[following + 1].end()
        if words[:2] in (["percentage", "points"], ["percentage", "point"]):
            return ("points", 1.0), following + 2, self._tokens[following + 1].end()
        if not words or len(words[0]) < 2 or words[0] in figures.SIGNS_ONLY or words[0] not in _UNITS:
            return None, following - (power > 1), end
        kind, factor = _UNITS[words[0]]
        taken = 1
        if kind == "degree" and len(words) > 1 and words[1] in ("celsius", "fahrenheit"):
            kind, taken = words[1], 2
        elif power == 1 and len(words) > 1 and words[1] in _SQUARES and _SQUARES[words[1]]:
            power, taken = _SQUARES[words[1]], 2
        return (
            (f"{kind}{power}" if power > 1 else kind, factor**power),
            following + taken,
            self._tokens[following + taken - 1].end(),
        )

    def _words_from(self, following: int, end: int, most: int) -> list[str]:
        """Return the next words, as far as nothing but a blank or a hyphen parts them."""
        found: list[str] = []
        for token in self._tokens[following : following + most]:
            if token.lastgroup != "word" or not _TO_UNIT.fullmatch(self._text, end, token.start()):
                break
            found.append(fold(token.group()))
            end = token.end()
        return found

    def _add_figure(self, figure: Figure, start: int, end: int) -> None:
        at = self._joined(start)
        if at is not None and figure.unit is not None:
            before = self._terms[at]
            assert before.figure is not None
            if before.figure.unit is None and not any(1000 <= value <= 2100 for value in before.figure.values):
                shared = replace(before.figure, unit=figure.unit, factor=figure.factor)
                self._terms[at] = before._replace(figure=shared)
        self._terms.append(Term(FIGURE, self._text[start:end], "", start, end, figure, sign=self._sign(start)))

    def _joined(self, start: int) -> int | None:
        """Return which term is a bare number that a word such as "to" joins to what starts here."""
        for at in range(len(self._terms) - 1, max(-1, len(self._terms) - 3), -1):
            term = self._terms[at]
            if term.figure is not None:
                bare = not term.figure.is_date and _RANGE.fullmatch(self._text, term.end, start)
                return at if bare else None
        return None

    # -- words -----------------------------------------------------------------------------------

    def _word(self, at: int) -> int:
        token = self._tokens[at]
        word = fold(token.group())
        if word not in _NUMERIC and "und" not in word:
            self._plain(token)
            return at + 1
        if word in _MONTHS and (taken := self._month(at)):
            return taken
        if (value := self._value(at)) is not None:
            return self._number(at, (value[0],), value[1])
        if word in _ORDINALS and not self._is_unit_here(at):
            figure = Figure(values=(float(_ORDINALS[word]),), ordinal=True)
            unit, following, end = self._unit(at + 1, token.end())
            if unit is not None:
                figure = replace(figure, unit=unit[0], factor=unit[1])
            self._add_figure(figure, token.start(), end)
            return following
        self._plain(token)
        return at + 1

    def _is_unit_here(self, at: int) -> bool:
        return (
            bool(self._terms)
            and self._terms[-1].end + 1 == self._tokens[at].start()
            and (self._terms[-1].kind == FIGURE and fold(self._tokens[at].group()) in _UNITS)
        )

    def _value(self, at: int) -> tuple[float, int] | None:
        """Return the value of the number words from here on, and where they end."""
        word = fold(self._tokens[at].group())
        if word in _ARTICLES:
            words = self._words_from(at + 1, self._tokens[at].end(), 1)
            scale = _SCALES.get(words[0]) if words and len(words[0]) > 3 else None
            return None if scale is None else self._compound(at + 2, scale)
        value = figures.value_of_word(word)
        return None if value is None else self._compound(at + 1, value)

    def _compound(self, following: int, value: float) -> tuple[float, int]:
        """Add what follows: "twenty-one", "two hundred and five"."""
        while following < len(self._tokens):
            words = self._words_from(following, self._tokens[following - 1].end(), 2)
            if not words:
                break
            skip = len(words) > 1 and words[0] == "and" and value >= 100
            small = figures.value_of_word(words[int(skip)])
            if (
                small is not None
                and ((value >= 100 and value % 100 == 0) or (value >= 20 and small < 10))
                and value % 10 == 0
            ):
                value, following = value + small, following + 1 + int(skip)
            elif words[0] in _SCALES and len(words[0]) > 3 and not skip:
                value, following = value * _SCALES[words[0]], following + 1
            else:
                break
        return value, following

    def _month(self, at: int) -> int | None:
        """Take a date that is written with the month's name: its day stands before or behind it, its year behind."""
        token, text = self._tokens[at], self._text
        month = _MONTHS[fold(token.group())]
        day, start = self._day_before(token.start())
        following, end = at + 1, token.end() + (text[token.end() : token.end() + 1] == ".")
        days: tuple[int, ...] = (day,) if day else ()
        year: int | None = None
        for _ in range(2):
            if following >= len(self._tokens):
                break
            number = self._tokens[following]
            if fold(number.group()) in _LINKS and following + 1 < len(self._tokens):
                number = self._tokens[following + 1]
            if number.lastgroup != "number" or not _TO_YEAR.fullmatch(text, end, number.start()):
                break
            written = number.group()
            if not days and len(written) <= 2 and 1 <= int(written) <= 31:
                days, end = (int(written),), number.end()
            elif written.isdigit() and 3 <= len(written) <= 4:
                year, end, following = int(written), number.end(), self._tokens.index(number, following) + 1
                break
            else:
                break
            following = self._tokens.index(number, following) + 1
            if suffix := re.compile(r"(?:st|nd|rd|th)\b").match(text, end):
                end = suffix.end()
                following += following < len(self._tokens) and self._tokens[following].start() < end
        if not days and year is None:
            return None
        if day:
            self._take_day(month, year)
        self._add_figure(Figure(year=year, months=(month,), days=days), start, end)
        return following

    def _day_before(self, month_start: int) -> tuple[int | None, int]:
        before = self._terms[-1] if self._terms else None
        if before is not None and before.word in ("the", "of", "de") and len(self._terms) > 1:
            before = self._terms[-2]
        figure = before.figure if before is not None else None
        if before is None or figure is None or not _TO_DAY.fullmatch(self._text, before.end, month_start):
            return None, month_start
        day = _day_of(figure)
        return (day, before.start) if day else (None, month_start)

    def _take_day(self, month: int, year: int | None) -> None:
        """Drop the day before a month from the terms; a day that is joined to it belongs to the month too."""
        while self._terms[-1].figure is None:
            self._terms.pop()
        day = self._terms.pop()
        at = self._joined(day.start)
        first = self._terms[at].figure if at is not None else None
        number = _day_of(first) if first is not None else None
        if at is not None and number:
            date = Figure(year=year, months=(month,), days=(number,))
            self._terms[at] = self._terms[at]._replace(figure=date)

    def _plain(self, token: re.Match[str]) -> None:
        written, start, end = token.group(), token.start(), token.end()
        opens = self._opens(start)
        lower = written.lower().replace("’", "'")
        if elided := _ELIDED.match(lower):
            if lower[0] == "n" and elided.end() == 2:
                pass  # ``n'`` denies together with its partner
            written, start = written[elided.end() :], start + elided.end()
            lower = lower[elided.end() :]
        if lower.endswith("n't"):
            verb = {"can't": "can", "won't": "will", "shan't": "shall"}.get(lower, lower[:-3])
            self._terms.append(
                Term(SMALL if verb in _FUNCTION else WORD, verb, stem(verb), start, end - 3, opens=opens)
            )
            self._terms.append(Term(DENIAL, "not", "not", end - 3, end))
            return
        if "'" in lower:
            written = written[: lower.index("'")]
        word = fold(written)
        capital = written[:1].isupper()
        upper = capital and len(written) > 1 and written.isupper()
        kind = self._kind(word, opens, capital, upper)
        self._terms.append(Term(kind, word, stem(word), start, end, None, opens, capital, upper, self._sign(start)))

    def _kind(self, word: str, opens: bool, capital: bool, upper: bool) -> str:
        shouts = upper and self._mixed
        inside = capital and not opens
        if word in _NEGATIONS and (not inside or upper):
            return DENIAL
        if word in _FUNCTION and not shouts and not (word in _ALSO_NAMES and inside):
            return SMALL
        if word in _REPORTING and not inside:
            return SMALL
        return NAME if inside or (shouts and word in _FUNCTION) else WORD

    def _sign(self, start: int) -> str:
        gap = self._text[self._terms[-1].end : start] if self._terms else ""
        return "" if gap in ("", " ") else gap.strip()[:1]

    def _opens(self, start: int) -> bool:
        if not self._terms:
            return True
        before = self._terms[-1]
        gap = self._text[before.end : start]
        if not _NEW_SENTENCE.search(gap):
            return False
        return len(before.word) > 1 or not before.capital or "." not in gap

    def _dense(self, token: re.Match[str]) -> None:
        """Take a run of a script that parts no words, as pairs of signs."""
        run, start = token.group(), token.start()
        for at in range(max(1, len(run) - 1)):
            pair = run[at : at + 2]
            denies = pair in _DENSE_DENIAL or pair[0] in _DENSE_DENIAL
            self._terms.append(Term(DENIAL if denies else WORD, pair, pair, start + at, start + at + len(pair)))


def _day_of(figure: Figure) -> int | None:
    if figure.is_date or figure.unit or len(figure.values) != 1:
        return None
    value = figure.values[0]
    return int(value) if value == int(value) and 1 <= value <= 31 else None


def widens(terms: tuple[Term, ...], at: int) -> bool:
    """Say whether the negation at a place denies nothing: "not only", or a "No," that answers."""
    after = terms[at + 1] if at + 1 < len(terms) else None
    return after is not None and after.word in _WIDENING
