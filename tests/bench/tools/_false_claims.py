"""False claims, made of true sentences by one change each."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from tests.bench.tools._prose import MONTHS, Paragraph, names, replaced

_NUMBER = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\w])|(?<![\w.,/-])\d+(?:\.\d+)?(?![\w/-]|,\d)")
_SPELLED = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "twenty", "thirty",
    "forty", "fifty",
)  # fmt: skip
_SPELLED_AT = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b(?!-)")
_UNITS = (
    ("years", "months", "days", "weeks", "hours", "minutes", "decades", "centuries"),
    ("million", "billion", "thousand", "trillion"),
    ("percent", "people", "million"),
    ("kilometers", "miles", "meters", "feet", "km", "mi", "m", "ft", "inches"),
    ("square miles", "square kilometers", "acres", "hectares"),
    ("tons", "kilograms", "pounds", "grams"),
    ("dollars", "euros", "pounds", "yen"),
)
_ANY_UNIT = re.compile(
    r"(?<=\d )(years|months|days|weeks|hours|minutes|decades|centuries|million|billion|thousand|trillion|percent"
    r"|kilometers|miles|meters|feet|km|mi|m|ft|inches|square miles|square kilometers|acres|hectares|tons|kilograms"
    r"|pounds|grams|dollars)\b|(?<=\d)%|[$£€](?=\d)"
)
_MONTH = "|".join(MONTHS)
_DATE = re.compile(
    rf"\b({_MONTH}) (\d{{1,2}})(?:, (\d{{4}}))?\b|\b(\d{{1,2}}) ({_MONTH})(?: (\d{{4}}))?\b|\b({_MONTH}) (\d{{4}})\b"
)
_YEAR = re.compile(r"(?<=\b[iI]n )(1[0-9]\d\d|20[01]\d)\b(?![-–s])")
_HELPS = re.compile(
    r"\b(is|was|were|are|has been|have been|had been|has|had|can|could|will|would|may|must|should)\b(?! not|n't)"
    r"(?= (?!only\b|no\b)[a-z])"
)
_NOT = re.compile(
    r"\b(?:does|do|did) not |\bnot (?!only\b|just\b|until\b|merely\b)|\bnever |\bcannot\b|(?<=[a-z])n't\b"
)
_NO = re.compile(r"\bno (?!longer|more|less|fewer|one\b|matter)(?=[a-z])|\bwithout\b")
_VERB = re.compile(r"\b(?:is|was|were|are|had|has|have|became|can|could|would|will)\b")
_REFERS = re.compile(r"(?:It|He|She|They|This|These|His|Her|Its|Their|The|That|Those|Such|Both|There|Here)\b")

_PLAIN = frozenset(
    ("the", "and", "was", "were", "are", "has", "had", "have", "been", "with", "that", "this", "which", "from", "for",
     "into", "also", "its", "his", "her", "since", "what", "there", "these", "those", "however", "indeed", "other",
     "when", "how", "thus", "where", "then", "while", "such", "some", "although", "because",
     "additionally", "own", "but", "does")
)  # fmt: skip

Change = Callable[[str, Paragraph, random.Random], str | None]


def another_number(sentence: str, paragraph: Paragraph, chance: random.Random) -> str | None:
    """Change one number, into one of the paragraph or a near one."""
    places = [*_NUMBER.finditer(sentence), *_SPELLED_AT.finditer(sentence)]
    if not places:
        return None
    match = chance.choice(places)
    old = match.group()
    if old in _SPELLED:
        new = chance.choice([one for one in _SPELLED if one != old])
    else:
        value = float(old.replace(",", ""))
        around = [found.group() for found in _NUMBER.finditer(paragraph.text)]
        near = [f"{value + step:,.0f}" if "," in old else f"{value + step:.0f}" for step in (1, 2, -1, 10, 100)]
        new = chance.choice([*(near if value == int(value) else [f"{value + 1:.1f}", f"{value * 10:.1f}"]), *around])
    if _same(old, new) or new.startswith("-") or _holds(sentence, new):
        return None
    return replaced(sentence, match, new)


def another_unit(sentence: str, paragraph: Paragraph, chance: random.Random) -> str | None:
    """Change what a number counts."""
    places = list(_ANY_UNIT.finditer(sentence))
    if not places:
        return None
    match = chance.choice(places)
    old = match.group()
    if old == "%":
        return replaced(sentence, match, chance.choice((" people", " million", " percentage points", " years")))
    if old in "$£€":
        return replaced(sentence, match, chance.choice([one for one in "$£€" if one != old]))
    groups = [group for group in _UNITS if old in group]
    new = chance.choice([one for one in groups[0] if one != old and one != {"miles": "mi", "feet": "ft"}.get(old)])
    if {old, new} in ({"km", "kilometers"}, {"mi", "miles"}, {"ft", "feet"}, {"m", "meters"}):
        return None
    return replaced(sentence, match, new)


def another_date(sentence: str, paragraph: Paragraph, chance: random.Random) -> str | None:
    """Change the day, the month or the year, and now and then the order as well."""
    dates, years = list(_DATE.finditer(sentence)), list(_YEAR.finditer(sentence))
    if not dates or (years and chance.random() < 0.3):
        if not years:
            return None
        match = chance.choice(years)
        new = str(int(match.group()) + chance.choice((-10, -2, -1, 1, 2, 3, 10, 100)))
        return None if new in sentence else replaced(sentence, match, new)
    match = chance.choice(dates)
    month = match[1] or match[5] or match[7]
    day, year = match[2] or match[4], match[3] or match[6] or match[8]
    part = chance.choice([one for one, held in (("day", day), ("month", month), ("year", year)) if held])
    if part == "day":
        day = str(chance.choice([one for one in range(1, 29) if one != int(day)]))
    elif part == "month":
        month = chance.choice([one for one in MONTHS if one != month])
    else:
        year = str(int(year) + chance.choice((-10, -1, 1, 2, 20)))
    return replaced(sentence, match, written(day, month, year, chance.random() < 0.5))


def written(day: str | None, month: str, year: str | None, day_first: bool) -> str:
    """Write a date in one of two orders."""
    if not day:
        return f"{month} {year}"
    if day_first:
        return f"{day} {month} {year}" if year else f"{day} {month}"
    return f"{month} {day}, {year}" if year else f"{month} {day}"


def another_name(sentence: str, paragraph: Paragraph, chance: random.Random) -> str | None:
    """Put another name of the paragraph in the place of one, or let two change places."""
    inside = names(sentence)
    if not inside:
        return None
    if len(inside) > 1 and chance.random() < 0.3:
        return _exchange(sentence, chance)
    match = chance.choice(inside)
    others = [
        other.group() for other in names(paragraph.text)
        if len(other.group()) > 2 and not _shares(other.group(), sentence)
        and other.start() and paragraph.text[other.start() - 2] not in ".!?"
    ]  # fmt: skip
    return replaced(sentence, match, chance.choice(others)) if others else None


def _exchange(sentence: str, chance: random.Random) -> str | None:
    inside = names(sentence)
    one, other = sorted(chance.sample(inside, 2), key=lambda match: match.start())
    between = sentence[one.end() : other.start()]
    # "A and B" says the same as "B and A", and so do lists.
    if _shares(one.group(), other.group()) or re.search(r",|\band\b|\bor\b|\bby\b", between) or len(between) < 6:
        return None
    if re.search(r"\b(?:same|equal|between|with|like|called|known as|is|was|are|were)\b", between) or "(" in sentence:
        return None
    return sentence[: one.start()] + other.group() + between + one.group() + sentence[other.end() :]


def denied(sentence: str, paragraph: Paragraph, chance: random.Random) -> str | None:
    """Put a negation in."""
    places = list(_HELPS.finditer(sentence))
    if not places:
        return None
    match = chance.choice(places)
    kind = chance.random()
    if kind < 0.2 and match.group() in ("is", "was", "were", "are", "could", "would", "has", "had"):
        return replaced(sentence, match, f"{match.group()}n't")
    if kind < 0.4:
        return replaced(sentence, match, f"{match.group()} never")
    return replaced(sentence, match, f"{match.group().split()[0]} not{match.group()[len(match.group().split()[0]) :]}")


def affirmed(sentence: str, paragraph: Paragraph, chance: random.Random) -> str | None:
    """Take a negation out."""
    places = [*_NOT.finditer(sentence), *_NO.finditer(sentence)]
    if len(places) != 1:
        return None
    match = places[0]
    old = match.group()
    return replaced(sentence, match, {"cannot": "can", "without": "with"}.get(old, ""))


def spliced(sentence: str, paragraph: Paragraph, chance: random.Random) -> str | None:
    """Make one sentence of two: the beginning of one and the end of another that speaks of something else."""
    others = [one for one in paragraph.sentences if one != sentence and not _REFERS.match(one)]
    if not others:
        return None
    other = chance.choice(others)
    openings = _opening(sentence), _opening(other)
    # Two sentences that begin with the same thing may well be one.
    if _shares(*openings) or _shares(openings[0], other) or not _beginnings(openings[0]):
        return None
    if chance.random() < 1 / 3 and not _shares(sentence[: len(sentence) // 2], other):
        head, tail = sentence.split(), other.rstrip(".!?").split()
        return " ".join([*head[: len(head) // 2], *tail[len(tail) // 2 :]]) + "."
    return _with_predicate(sentence, other, joined=chance.random() < 0.5)


def _opening(sentence: str) -> str:
    verb = _VERB.search(sentence)
    return sentence[: verb.start() if verb else len(sentence) // 2]


def _with_predicate(sentence: str, other: str, *, joined: bool) -> str | None:
    head, tail = _VERB.search(sentence), _VERB.search(other)
    if head is None or tail is None or min(head.start(), tail.start()) < 8 or len(other[tail.start() :].split()) < 5:
        return None
    if not joined:
        return sentence[: head.start()] + other[tail.start() :]
    clause = re.split(r"[,;]", sentence.rstrip(".!?"))[0]
    return f"{clause} and {other[tail.start() :]}" if len(clause.split()) > 5 else None


CHANGES: dict[str, Change] = {
    "number": another_number,
    "unit": another_unit,
    "date": another_date,
    "name": another_name,
    "negation in": denied,
    "negation out": affirmed,
    "splice": spliced,
}


def neighbor(sentence: str, home: Paragraph, article: Sequence[Paragraph], chance: random.Random) -> Paragraph | None:
    """Return another paragraph of the article that names what the sentence names, and does not hold it."""
    mine = {word for match in names(sentence) for word in match.group().split() if len(word) > 3}
    near = [one for one in article if one.id != home.id and mine & set(re.findall(r"\w+", one.text))]
    return chance.choice(near) if near else None


def _same(one: str, other: str) -> bool:
    return one.replace(",", "") == other.replace(",", "")


def _holds(sentence: str, number: str) -> bool:
    return any(_same(number, match.group()) for match in _NUMBER.finditer(sentence)) or f" {number} " in sentence


def _shares(one: str, other: str) -> bool:
    """Say whether two texts have a word in common, whatever its ending."""
    return bool(_beginnings(one) & _beginnings(other))


def _beginnings(text: str) -> set[str]:
    return {
        word[:3].casefold()
        for word in re.findall(r"\w{3,}|[A-Z]{2,}|[A-Z]\.\d+", text)
        if word.casefold() not in _PLAIN
    }
