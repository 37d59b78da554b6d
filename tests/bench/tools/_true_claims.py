"""True claims: sentences said in other words, by rules that keep what they say."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from tests.bench.tools._false_claims import written
from tests.bench.tools._prose import MONTHS

Edit = Callable[[str, random.Random], str | None]

_SPELLED = dict(
    enumerate(("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=2)
)
_SYNONYMS = (
    ("began", "started"), ("large", "big"), ("many", "numerous"), ("built", "constructed"), ("received", "got"),
    ("located", "situated"), ("created", "made"), ("often", "frequently"), ("several", "various"), ("near", "close to"),
    ("important", "significant"), ("main", "principal"), ("called", "termed"), ("people", "persons"),
    ("area", "region"),
    ("however", "nevertheless"), ("also", "additionally"), ("because", "since"), ("known", "renowned"),
    ("increase", "growth"), ("usually", "normally"), ("primarily", "mainly"), ("different", "distinct"),
    ("famous", "well-known"), ("help", "aid"), ("required", "needed"), ("difficult", "hard"), ("rapidly", "quickly"),
    ("include", "comprise"), ("includes", "comprises"), ("caused", "brought about"), ("ended", "finished"),
    ("obtain", "get"), ("purchased", "bought"), ("approximately", "about"), ("major", "main"), ("entire", "whole"),
    ("amount", "quantity"), ("method", "way"), ("example", "instance"), ("developed", "worked out"),
    ("provides", "supplies"), ("provide", "supply"), ("allows", "lets"), ("show", "demonstrate"),
    ("shown", "demonstrated"),
    ("attempt", "try"), ("common", "widespread"), ("produced", "made"), ("powerful", "strong"),
    ("formed", "established"),
    ("established", "founded"), ("argued", "contended"), ("killed", "slain"), ("land", "soil"), ("king", "monarch"),
    ("war", "armed conflict"), ("city", "town"), ("law", "statute"), ("students", "pupils"), ("forced", "compelled"),
)  # fmt: skip
_EXPANDED = (("is not", "isn't"), ("was not", "wasn't"), ("were not", "weren't"), ("are not", "aren't"),
             ("did not", "didn't"), ("does not", "doesn't"), ("do not", "don't"), ("cannot", "can't"),
             ("could not", "couldn't"), ("has not", "hasn't"), ("had not", "hadn't"), ("would not", "wouldn't"),
             ("it is", "it's"))  # fmt: skip
_TIME_LAST = re.compile(r"^([A-Z][^,;:()]{25,}?) ((?:in|by|since|until) (?:the )?(?:\d{4}s?|\d{1,2}th century))\.$")
_TIME_FIRST = re.compile(r"^(In|By|Since|Until|During|After|Before) ([^,;]{3,40}), ([^;]{25,})\.$")
_PASSIVE = re.compile(
    r"^((?:The |A |An )?[A-Z]?[\w' -]{3,50}?) (was|were) (\w{3,}ed) by ((?:the |a |an )?[A-Z]?[\w' -]{3,50})\.$"
)
_ASIDE = re.compile(r" \([^()]{3,80}\)")
_RELATIVE = re.compile(r", (?:which|who|whose|where)\b[^,;.()]{8,90}(,|(?=\.$))")
_LAST_ADJUNCT = re.compile(
    r", (?:including|such as|especially|particularly|for example|as well as|resulting|making|giving)\b[^;.]{8,120}\.$"
)
_MONTH = "|".join(MONTHS)
_DATE = re.compile(rf"\b({_MONTH}) (\d{{1,2}}), (\d{{4}})\b|\b(\d{{1,2}}) ({_MONTH}) (\d{{4}})\b")
_CONNECTIVE = re.compile(
    r"^(?:However|Thus|Therefore|Moreover|Furthermore|Additionally|Also|Nevertheless|Hence|Consequently), "
)


# ---------------------------------------------------------------- light edits


def typed_otherwise(sentence: str, chance: random.Random) -> str | None:
    """Change quotation marks, dashes and blanks."""
    made = sentence.replace('"', "").replace("’", "'").replace("–", "-").replace("  ", " ")
    return made if chance.random() < 0.5 else made.replace("'", "’").replace(", ", ",  ")


def without_stop(sentence: str, chance: random.Random) -> str | None:
    return sentence.rstrip(".")


def without_connective(sentence: str, chance: random.Random) -> str | None:
    if not _CONNECTIVE.match(sentence):
        return None
    rest = _CONNECTIVE.sub("", sentence)
    return rest[0].upper() + rest[1:]


def contracted(sentence: str, chance: random.Random) -> str | None:
    both = [found for pair in _EXPANDED for found in (pair, pair[::-1])]
    held = [(one, other) for one, other in both if f" {one} " in sentence]
    if not held or '"' in sentence:  # a quotation is not changed
        return None
    one, other = chance.choice(held)
    return sentence.replace(f" {one} ", f" {other} ", 1)


def introduced(sentence: str, chance: random.Random) -> str | None:
    """Say where it is from."""
    if not re.match(r"(?:The|In|It|He|She|They|This|These|A|An) ", sentence):
        return None
    lead = chance.choice(("According to the passage, ", "The text says that ", "As the document states, "))
    return lead + sentence[0].lower() + sentence[1:]


def in_bold(sentence: str, chance: random.Random) -> str | None:
    words = sentence.split()
    at = chance.randrange(len(words))
    return " ".join([*words[:at], f"**{words[at]}**", *words[at + 1 :]])


LIGHT: dict[str, Edit] = {
    "typed otherwise": typed_otherwise, "without stop": without_stop, "without connective": without_connective,
    "contracted": contracted, "introduced": introduced, "in bold": in_bold,
}  # fmt: skip


# ---------------------------------------------------------------- paraphrases


def numbers_respelled(sentence: str, chance: random.Random) -> str | None:
    """Write numbers, shares and dates in another way."""
    made = _DATE.sub(_other_order, sentence)
    made = re.sub(r"(\d)%", r"\1 percent", made) if "%" in made else made.replace(" percent", "%")
    made = re.sub(r"(?<!,)\b(\d{1,3}),(\d{3})\b(?!,)", r"\1\2", made)
    made = re.sub(r"\b(\d+)\.(\d) million\b", lambda m: f"{int(m[1] + m[2]) * 100_000:,}", made)
    for value, word in _SPELLED.items():
        made = re.sub(rf"(?<![\w.,$£€-]){value}(?= [a-z])(?! (?:[A-Z]|million|billion|thousand|hundred))", word, made)
    if made == sentence:
        for value, word in _SPELLED.items():
            made = re.sub(rf"(?<![\w-]){word}(?= [a-z])(?! (?:hundred|thousand|million))", str(value), made)
    return None if made == sentence else made


def _other_order(match: re.Match[str]) -> str:
    day, month, year = match[2] or match[4], match[1] or match[5], match[3] or match[6]
    return written(day, month, year, day_first=match[1] is not None)


def with_synonyms(sentence: str, chance: random.Random) -> str | None:
    """Put one or two words in others of the same meaning."""
    held = [
        (one, other) for pair in _SYNONYMS for one, other in (pair, pair[::-1]) if re.search(rf"\b{one}\b", sentence)
    ]
    if not held:
        return None
    made = sentence
    for one, other in chance.sample(held, min(len(held), 2)):
        made = re.sub(rf"\b{one}\b", other, made, count=1)
    return made


def reordered(sentence: str, chance: random.Random) -> str | None:
    """Move when it was to the other end."""
    if match := _TIME_LAST.match(sentence):
        said, when = match.groups()
        return f"{when[0].upper()}{when[1:]}, {_lowered(said)}."
    if match := _TIME_FIRST.match(sentence):
        word, when, said = match.groups()
        return f"{said[0].upper()}{said[1:]} {word.lower()} {when}." if said.count(",") == 0 else None
    return None


def active(sentence: str, chance: random.Random) -> str | None:
    """Make the doer of a passive sentence its subject."""
    match = _PASSIVE.match(sentence)
    if match is None:
        return None
    done, _, verb, doer = match.groups()
    return f"{doer[0].upper()}{doer[1:]} {verb} {_lowered(done)}."


def shortened(sentence: str, chance: random.Random) -> str | None:
    """Leave out what is said by the way."""
    made = sentence
    for pattern in chance.sample((_ASIDE, _RELATIVE, _LAST_ADJUNCT), 3):
        made = pattern.sub("." if pattern is _LAST_ADJUNCT else "", made, count=1)
    return made if made != sentence and len(made.split()) > 5 else None


def _lowered(text: str) -> str:
    first = text.partition(" ")[0]
    return (
        text[0].lower() + text[1:] if first in ("The", "A", "An", "It", "He", "She", "They", "This", "These") else text
    )


PARAPHRASES: dict[str, Edit] = {
    "respelled": numbers_respelled, "synonyms": with_synonyms, "reordered": reordered, "active": active,
    "shortened": shortened,
}  # fmt: skip


_SINGLE = tuple(PARAPHRASES.values())


def several(sentence: str, chance: random.Random) -> str | None:
    """Make as many of these changes as go together, two at least."""
    made, count = sentence, 0
    for edit in chance.sample(_SINGLE, len(_SINGLE)):
        changed = edit(made, chance)
        if changed is not None:
            made, count = changed, count + 1
    return made if count >= 2 else None


PARAPHRASES["several"] = several


def is_telling(sentence: str) -> bool:
    """Say whether a sentence can stand alone well enough to be a claim."""
    return not re.search(r"[;:]|\.\.\.", sentence) and len(sentence.split()) >= 7
