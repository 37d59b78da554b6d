"""Dates as people type them: which days a query is about, and which of its words say so.

English throughout; the everyday forms of German, French and Spanish beside it. Pure functions: today is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from lilbee_core.search._date_words import (
    AHEAD,
    ALONE,
    COUNTED,
    MONTHS,
    NUMBERS,
    ONLY_IN,
    OPENS,
    RECENT,
    RELATIVE,
    UNITS,
)

_LAST_MONTH = 12


@dataclass(frozen=True, slots=True)
class Days:
    """Whole days, from `first` up to but not including `end`; None is open."""

    first: date | None = None
    end: date | None = None

    @property
    def is_empty(self) -> bool:
        return self.first is not None and self.end is not None and self.first >= self.end

    def meet(self, other: Days) -> Days:
        """Return the days that are in both."""
        return Days(
            max((one for one in (self.first, other.first) if one), default=None),
            min((one for one in (self.end, other.end) if one), default=None),
        )

    def reach(self, other: Days) -> Days:
        """Return the days of both and those between them."""
        first = None if self.first is None or other.first is None else min(self.first, other.first)
        return Days(first, None if self.end is None or other.end is None else max(self.end, other.end))

    def __str__(self) -> str:
        last = None if self.end is None else _moved(self.end, -1)
        if self.first is not None and self.first == last:
            return self.first.isoformat()
        parts = [f"from {self.first}"] if self.first else []
        parts += [f"to {last}" if last else f"before {self.end}"] if self.end else []
        return " ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeWords:
    """What the time words of a text say. `rest` is the text without them; `phrases` are they.

    `by_date` says that days are named by the calendar and not from today.
    """

    rest: str
    phrases: tuple[str, ...] = ()
    days: Days | None = None
    by_date: bool = False
    newest: bool = False
    warnings: tuple[str, ...] = ()


def read_dates(text: str, today: date, *, language: str | None = None) -> TimeWords | None:
    """Return what a text says about time, None when it says nothing.

    ``yesterday``, ``last week``, ``since March 2024``, ``between 2024-03 and 2024-05`` name days; ``recent`` and
    ``latest`` only say that newer is better and stay words. A date with nothing before it, and a year but in
    ``since 2024``, mostly tell what a text is about, not when it was written, and stay words too. So does all that
    stands in quotes.

    Args:
        text: The words of a query.
        today: The user's day.
        language: Of the text, where it can be told: some words are time words in one language only.
    """
    if _hint().search(text) is None:
        return None
    found = list(_expressions(text, today, language))
    warnings = [one.problem for one in found if one.problem]
    used = [one for one in found if one.days is not None]
    days = _joined(used)
    if days is not None and days.is_empty:
        warnings.append(_nothing_between(used))
        days, used = None, []
    rest = _without(text, used)
    newest = without_recent(rest) != rest
    if days is None and not newest and not warnings:
        return None
    return TimeWords(
        rest=rest,
        phrases=tuple(text[one.start : one.stop] for one in used),
        days=days,
        by_date=any(one.by_date for one in used),
        newest=newest,
        warnings=tuple(warnings),
    )


def without_recent(text: str) -> str:
    """Return the text without the words that only say that newer is better."""
    return _recent().sub(lambda match: "" if match.lastgroup == "word" else match.group(), text)


# --------------------------------------------------------------------------- expressions


@dataclass(frozen=True, slots=True)
class _Expression:
    """Where an expression stands, and the days that it names, or what is wrong with it."""

    start: int
    stop: int
    days: Days | None = None
    is_bound: bool = False
    by_date: bool = False
    problem: str = ""
    dates: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Point:
    """Days that an expression names by one word or date."""

    days: Days | None
    is_date: bool = False
    is_year: bool = False


def _expressions(text: str, today: date, language: str | None) -> Iterator[_Expression]:
    matches = [match for match in _pattern().finditer(text) if match["at"]]
    skip = False
    for match, following in zip(matches, [*matches[1:], None], strict=False):
        if skip:
            skip = False
            continue
        skip = following is not None and _is_pair(match, following)
        found = _pair(match, following, today) if following and skip else _single(match, today, language)
        if found is not None:
            yield found


def _is_pair(one: re.Match[str], other: re.Match[str]) -> bool:
    """Say whether both are one expression: ``between one and other``."""
    follow = OPENS.get(_fold(one["before"] or ""), ())
    return not one.string[one.end() : other.start()].strip() and _fold(other["before"] or "") in follow


def _pair(one: re.Match[str], other: re.Match[str], today: date) -> _Expression | None:
    low, high = one["at"], other["at"]
    points = [(words, _point(words, today)) for words in (low, high)]
    if all(point.is_year for _, point in points):
        return None
    said = one.string[one.start() : other.end()]
    problem = "; ".join(_no_date(words) for words, point in points if point.days is None)
    days = None
    if not problem:
        first, last = (point.days or Days() for _, point in points)
        days = Days(first.first, last.end)
        if days.is_empty:
            problem = f"{said} is taken as words: no day lies between {low} and {high}"
    if problem:
        return _Expression(one.start(), other.end(), problem=problem)
    by_date = any(point.is_date for _, point in points)
    return _Expression(one.start(), other.end(), days, by_date=by_date, dates=(low, high))


def _single(match: re.Match[str], today: date, language: str | None) -> _Expression | None:
    words, meaning = match["at"], ALONE.get(_fold(match["before"] or ""))
    start = match.start() if meaning else match.start("at")
    point = _point(words, today)
    if meaning is None and (point.is_date or not _is_meant(match, language)):
        return None
    if point.is_year and meaning not in ("since", "after"):
        return None
    if point.days is None:
        return _Expression(start, match.end(), problem=_no_date(words))
    days = {
        "since": Days(point.days.first, None),
        "after": Days(point.days.end, None),
        "before": Days(None, point.days.first),
        "until": Days(None, point.days.end),
    }.get(meaning or "", point.days)
    if days == Days():
        return None
    return _Expression(start, match.end(), days, is_bound=days != point.days, by_date=point.is_date, dates=(words,))


def _is_meant(match: re.Match[str], language: str | None) -> bool:
    """Say whether a bare word is about time: not one of another language, and no name such as USA Today."""
    words = match["at"]
    only = ONLY_IN.get(words.casefold())
    if only is not None and only != language:
        return False
    return not match.string[: match.start("at")].strip() or not words[0].isupper() or match.string.isupper()


def _joined(found: Sequence[_Expression]) -> Days | None:
    """Return the days of all expressions: named days and what lies between them, within all bounds."""
    whole: Days | None = None
    for one in found:
        if not one.is_bound and one.days is not None:
            whole = one.days if whole is None else whole.reach(one.days)
    for one in found:
        if one.is_bound and one.days is not None:
            whole = one.days if whole is None else whole.meet(one.days)
    return whole


def _nothing_between(found: Sequence[_Expression]) -> str:
    dates = [text for one in found for text in one.dates]
    return f"the dates are taken as words: no day fits both {' and '.join(dict.fromkeys(dates))}"


def _no_date(text: str) -> str:
    return f"{text} is taken as words: there is no such date"


def _without(text: str, found: Sequence[_Expression]) -> str:
    kept: list[str] = []
    at = 0
    for one in found:
        kept.append(text[at : one.start])
        at = one.stop
    return " ".join("".join([*kept, text[at:]]).split()) if found else text


# --------------------------------------------------------------------------- days


def _point(text: str, today: date) -> _Point:
    folded = _fold(text)
    for kind, pattern in _relative().items():
        if pattern.fullmatch(folded):
            return _Point(_relative_days(kind, today))
    counted = _counted().fullmatch(folded)
    if counted:
        return _Point(_last(next((one for one in counted.groups() if one), "1"), folded, today))
    return _absolute(folded)


def _relative_days(kind: str, today: date) -> Days:
    unit, back = kind.split()
    shift = -int(back)
    if unit == "day":
        return _day(_moved(today, shift))
    if unit == "week":
        monday = _moved(today, -today.weekday())
        return Days(_moved(monday, 7 * shift), _moved(monday, 7 * (shift + 1)))
    return _month(today.year, today.month + shift) if unit == "month" else _year(today.year + shift)


def _last(count: str, text: str, today: date) -> Days:
    """Return the last so many days, weeks, months or years up to today."""
    number = NUMBERS.get(count) or int(count)
    unit = next(unit for unit, names in UNITS.items() if re.search(rf"\b(?:{names})\b", text))
    end = _moved(today, 1)
    if unit in ("day", "week"):
        return Days(_moved(today, -number * (7 if unit == "week" else 1)), end)
    months = number * (12 if unit == "year" else 1)
    start = _month(today.year, today.month - months)
    if start.first is None or start.end is None:
        return Days(None, end)
    last = _moved(start.end, -1)
    return Days(start.first if last is None else min(last, start.first.replace(day=min(today.day, last.day))), end)


def _absolute(text: str) -> _Point:
    for pattern, order in _dates():
        match = pattern.fullmatch(text)
        if match is None:
            continue
        parts = dict(zip(order, match.groups(), strict=True))
        year, month = int(parts["y"]), MONTHS.get(parts.get("m", "")) or int(parts.get("m") or 0)
        if "d" not in parts:
            days = _month(year, month) if "m" in parts and 1 <= month <= _LAST_MONTH else None
            days = _year(year) if "m" not in parts else days
            return _Point(days if days and days != Days() else None, is_date=True, is_year="m" not in parts)
        try:
            return _Point(_day(date(year, month, int(parts["d"]))), is_date=True)
        except ValueError:
            return _Point(None, is_date=True)
    return _Point(None, is_date=True)


def _day(first: date | None) -> Days:
    return Days(first, None if first is None else _moved(first, 1))


def _month(year: int, month: int) -> Days:
    """Return a month; months before the first and after the last of a year belong to its neighbors."""
    return Days(_first_of(year, month), _first_of(year, month + 1))


def _year(year: int) -> Days:
    return Days(_first_of(year, 1), _first_of(year + 1, 1))


def _first_of(year: int, month: int) -> date | None:
    carry, index = divmod(month - 1, _LAST_MONTH)
    return date(year + carry, index + 1, 1) if 1 <= year + carry <= date.max.year else None


def _moved(day: date | None, days: int) -> date | None:
    """Return the day so many days later, None where the calendar ends."""
    try:
        return None if day is None else day + timedelta(days=days)
    except OverflowError:
        return None


# --------------------------------------------------------------------------- patterns


@lru_cache(maxsize=1)
def _hint() -> re.Pattern[str]:
    """Match what every text with time words has: the one look that is taken at all others."""
    return re.compile(rf"\b(?:{AHEAD})", re.IGNORECASE)


@lru_cache(maxsize=1)
def _recent() -> re.Pattern[str]:
    return re.compile(rf'"[^"]*"|(?<![\w/.-])(?P<word>{RECENT})(?![\w/-]|\.\w)', re.IGNORECASE)


@lru_cache(maxsize=1)
def _relative() -> dict[str, re.Pattern[str]]:
    return {kind: re.compile(words) for kind, words in RELATIVE.items()}


@lru_cache(maxsize=1)
def _counted() -> re.Pattern[str]:
    return re.compile(COUNTED)


@lru_cache(maxsize=1)
def _dates() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((re.compile(shape, re.ASCII), order) for shape, order in _shapes())


def _shapes() -> Iterator[tuple[str, str]]:
    """Yield the forms of dates, and which of year, month and day each of their groups is."""
    name = f"({'|'.join(sorted(MONTHS, key=len, reverse=True))})"
    yield r"([0-9]{4})[-/]([0-9]{1,2})[-/]([0-9]{1,2})", "ymd"
    yield r"([0-9]{4})[-/]([0-9]{1,2})", "ym"
    yield r"([0-9]{1,2})\.\s?([0-9]{1,2})\.\s?([0-9]{4})", "dmy"
    yield rf"([0-9]{{1,2}})(?:st|nd|rd|th|\.|er|º)? (?:of |de )?{name}\.?,? (?:de )?([0-9]{{4}})", "dmy"
    yield rf"{name}\.? ([0-9]{{1,2}})(?:st|nd|rd|th)?,? ([0-9]{{4}})", "mdy"
    yield rf"{name}\.?,? (?:of |de )?([0-9]{{4}})", "my"
    yield r"([0-9]{4})", "y"


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    """Match a quoted phrase, which is passed over, or what says days (``at``) with the word `before` it."""
    shapes = [_without_groups(shape) for shape, _ in _shapes()]
    at = "|".join([_without_groups(COUNTED), *RELATIVE.values(), *shapes])
    words = {*ALONE, *OPENS, *(word for words in OPENS.values() for word in words)}
    before = "|".join(sorted(words, key=len, reverse=True))
    whole = rf"(?:(?P<before>{before}) )?(?P<at>{at})"
    # In a text any white space and both apostrophes may stand; `_fold` makes them one.
    whole = whole.replace(" ", r"\s+").replace("'", "['’]")
    return re.compile(rf'"[^"]*"|(?<![\w./-]){whole}(?![\w/-]|\.\w)', re.IGNORECASE)


def _without_groups(pattern: str) -> str:
    return re.sub(r"\((?!\?)", "(?:", pattern)


def _fold(text: str) -> str:
    return " ".join(text.casefold().replace("’", "'").split())
