"""A statement laid beside a sentence: which of its terms are found there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from lilbee_core.text._figures import Figure
from lilbee_core.text._grammar import PRONOUNS
from lilbee_core.text._terms import DENIAL, NAME, SMALL, WORD, Term, fold

Terms = Sequence[Term]

_STEP = 6  # terms that one side may have more than the other, from one match to the next
_FEWEST_OF_LONG = 5  # words of a statement that may have one which the sentence lacks
_SHORTEST_PART = 6  # letters of a part of a German compound
_GERMAN = frozenset(
    ("der", "die", "das", "und", "nicht", "ist", "wurde", "ein", "eine", "im", "den", "von", "mit", "dem")
)
_PRONOUNS = frozenset(map(fold, PRONOUNS))


@dataclass(frozen=True, slots=True)
class Setting:
    """What surrounds a sentence: terms of its headings, the sentence before it, and all words of its passage."""

    context: Terms = ()
    before: Terms = ()
    known: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    """Stems of all words of the passage."""


@dataclass(slots=True)
class Alignment:
    """Terms of a statement with the terms of a sentence that match them. `conflict` names what cannot be true."""

    statement: Terms
    sentence: Terms
    pairs: dict[int, int] = field(default_factory=dict[int, int])
    granted: set[int] = field(default_factory=set[int])
    """Terms that the sentence leaves to a pronoun."""
    conflict: str = ""
    at_fault: str = ""

    @property
    def content(self) -> list[int]:
        """The terms that say something."""
        return [at for at, term in enumerate(self.statement) if term.kind not in (SMALL, DENIAL)]

    @property
    def coverage(self) -> float:
        """The share of the terms that say something which are found."""
        content = self.content
        return sum(at in self.pairs or at in self.granted for at in content) / len(content) if content else 0.0

    def holds(self, share: float) -> bool:
        """Say whether enough of the statement is found; of a short one, all of it."""
        return not self.missing or (len(self.content) >= _FEWEST_OF_LONG and self.coverage >= share)

    @property
    def missing(self) -> list[int]:
        return [at for at in self.content if at not in self.pairs and at not in self.granted]


# ---------------------------------------------------------------- matching


def name_key(word: str) -> str:
    """Return a name without the ending of a genitive or plural."""
    return word[:-1] if len(word) > 3 and word[-1] == "s" else word


def match_terms(found: Alignment) -> None:
    by_stem: dict[str, list[int]] = {}
    by_name: dict[str, list[int]] = {}
    figures: list[int] = []
    for at, term in enumerate(found.sentence):
        if term.figure is not None:
            figures.append(at)
        elif term.kind != DENIAL:
            by_stem.setdefault(term.stem, []).append(at)
            by_name.setdefault(name_key(term.word), []).append(at)
    # "40", as an answer, leaves it to the question what is counted.
    bare = len(found.content) <= 1
    used: set[int] = set()
    course = _Course()
    for at, term in enumerate(found.statement):
        if term.kind in (SMALL, DENIAL):
            continue
        places = _places(term, found.sentence, figures, by_stem, by_name, bare)
        free = [place for place in places if place not in used]
        # "The Court" is rather that one than any court.
        alike = [place for place in free if found.sentence[place].capital == term.capital]
        if free:
            found.pairs[at] = course.nearest(at, free if term.opens else alike or free)
            used.add(found.pairs[at])
    _short_forms(found, used)


class _Course:
    """Where the next term is expected, if both sides go on side by side. A single jump does not change that."""

    def __init__(self) -> None:
        self._offset = 0
        self._before = 0

    def nearest(self, at: int, places: Sequence[int]) -> int:
        """Return the place that is nearest to where it is expected."""
        found = min(places, key=lambda place: abs(place - at - self._offset))
        offset = found - at
        if abs(offset - self._offset) <= _STEP or abs(offset - self._before) <= 2:
            self._offset = offset
        self._before = offset
        return found


def _places(
    term: Term,
    sentence: Terms,
    figures: list[int],
    by_stem: dict[str, list[int]],
    by_name: dict[str, list[int]],
    bare: bool,
) -> list[int]:
    if term.figure is not None:
        same = [at for at in figures if term.figure.same_value(_figure(sentence[at]))]
        fitting = [at for at in same if term.figure.fits_unit(_figure(sentence[at]))]
        return fitting or (same if bare and term.figure.unit is None else [])
    if term.kind == NAME:
        return by_name.get(name_key(term.word)) or _parts(term, sentence)
    return by_stem.get(term.stem) or by_name.get(name_key(term.word)) or _parts(term, sentence)


def _figure(term: Term) -> Figure:
    assert term.figure is not None
    return term.figure


def _parts(term: Term, sentence: Terms) -> list[int]:
    """Return where a word stands as part of a German compound, or a compound of which it names a part."""
    if len(term.word) < _SHORTEST_PART or sum(one.word in _GERMAN for one in sentence) < 2:
        return []
    short = term.stem if len(term.stem) >= _SHORTEST_PART else term.word
    return [
        at
        for at, one in enumerate(sentence)
        if len(one.word) >= _SHORTEST_PART and (one.word.startswith(short) or one.word.endswith(term.word))
    ]


def _short_forms(found: Alignment, used: set[int]) -> None:
    """Match "UN" with "United Nations", either way round."""
    for at, term in enumerate(found.statement):
        if at in found.pairs or not term.upper:
            continue
        if 2 <= len(term.word) <= 6 and (place := _initials(term.word, found.sentence)) is not None:
            found.pairs[at] = place
            used.add(place)
    for at, term in enumerate(found.sentence):
        if at in used or not (2 <= len(term.word) <= 6) or not term.upper:
            continue
        start = _initials(term.word, found.statement)
        if start is not None and start not in found.pairs:
            run = _capitals(found.statement, start, len(term.word))
            found.pairs[start] = at
            found.granted.update(place for place in run if place not in found.pairs)


def _initials(letters: str, terms: Terms) -> int | None:
    for at, term in enumerate(terms):
        if term.capital and term.word[:1] == letters[0]:
            run = _capitals(terms, at, len(letters))
            if "".join(terms[place].word[:1] for place in run) == letters:
                return at
    return None


def _capitals(terms: Terms, start: int, count: int) -> list[int]:
    found: list[int] = []
    for at in range(start, min(len(terms), start + count + 3)):
        if terms[at].capital and len(terms[at].word) > 1:
            found.append(at)
        elif terms[at].kind != SMALL:
            break
        if len(found) == count:
            break
    return found


# ---------------------------------------------------------------- what a sentence leaves to its surroundings


def grant_subject(found: Alignment, setting: Setting) -> None:
    """Accept a subject that the sentence names by a pronoun only: from its headings or the sentence before it.

    It must open the statement, and nothing else may stand in its place in the sentence.
    """
    anchors = [at for at in sorted(found.pairs) if found.statement[at].kind == WORD]
    if not anchors:
        return
    head = [at for at in range(anchors[0]) if at not in found.pairs and found.statement[at].kind in (NAME, WORD)]
    if not head:
        return
    matched = set(found.pairs.values())
    opening = [one for at, one in enumerate(found.sentence[: found.pairs[anchors[0]]]) if at not in matched]
    if any(one.kind in (NAME, WORD) for one in opening) or not _has_pronoun(found, anchors[0]):
        return
    subject = _subject(setting.before)
    given = {name_key(one.word) for one in (*setting.context, *subject)} | {
        one.stem for one in (*setting.context, *subject)
    }
    found.granted.update(
        at for at in head if name_key(found.statement[at].word) in given or found.statement[at].stem in given
    )


def _has_pronoun(found: Alignment, anchor: int) -> bool:
    stop = found.pairs[anchor]
    opening = [one for one in found.sentence[:stop] if one.kind == SMALL]
    return not opening or any(one.word in _PRONOUNS for one in opening)


def _subject(sentence: Terms) -> Terms:
    """Return the terms by which a sentence begins, up to the first word behind its first name or noun."""
    run: list[Term] = []
    for term in sentence:
        if term.kind in (NAME, WORD):
            run.append(term)
        elif run:
            break
    return run
