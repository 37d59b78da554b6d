"""What a sentence speaks of: its main clause, and things that are only named on the way to its subject."""

from __future__ import annotations

from lilbee_core.text._grammar import ARTICLES, AUXILIARIES, KINDS_OF, LEADING, RELATIVES, TIME, WITHIN
from lilbee_core.text._matching import Alignment, Terms
from lilbee_core.text._terms import NAME, SMALL, WORD, fold

_PERSONS = frozenset(map(fold, ("he", "she", "it", "they", "er", "sie", "es", "il", "elle", "ils", "elles", "ellos")))
_ARTICLES, _AUXILIARIES, _KINDS_OF, _LEADING, _RELATIVES, _TIME, _WITHIN = (
    frozenset(map(fold, words)) for words in (ARTICLES, AUXILIARIES, KINDS_OF, LEADING, RELATIVES, TIME, WITHIN)
)
_GERMAN = frozenset(map(fold, ("nach", "vor", "bei", "am", "im", "in", "an", "auf", "seit", "während", "trotz", "mit")))


def main_clause(terms: Terms) -> int:
    """Return where the main clause of a sentence begins: behind "On Monday, ...", "After Anna left, ..."; 0 if at once.

    In German that is behind the verb, which stands second.
    """
    if not terms or terms[0].word not in _LEADING:
        return 0
    for at, term in enumerate(terms[1:], 1):
        if "," in term.sign:
            return at
        if terms[0].word in _GERMAN and term.word in _AUXILIARIES:
            return at + 1
    return 0


def names_a_thing(terms: Terms) -> bool:
    """Say whether words may be what a sentence speaks of: not those that only tell the time."""
    return any(term.kind in (NAME, WORD) and term.word not in _TIME for term in terms)


def is_passed_over(found: Alignment) -> bool:
    """Say whether a statement makes a subject of what its sentence names on the way to another one.

    "Anna built the boat" of "After Anna left, Bert built the boat", of "The sister of Anna built the boat" and of
    "The man who met Anna built the boat". Not if the sentence goes on with a pronoun, which may mean her.
    """
    head = next((at for at, term in enumerate(found.statement) if term.kind != SMALL), -1)
    if head not in found.pairs or found.statement[head].kind not in (NAME, WORD):
        return False
    place, key = found.pairs[head], found.statement[head].key
    named_again = any(term.key == key for at, term in enumerate(found.sentence) if at != place)
    start = main_clause(found.sentence)
    matched = sorted(at for one, at in found.pairs.items() if found.statement[one].kind in (NAME, WORD))
    following = next((at for at in matched if at > max(place, start - 1)), None)
    if named_again or following is None or found.statement[0].word in _LEADING:
        return False
    between = found.sentence[place + 1 : following + 1]
    if any(":" in term.sign or term.word in _PERSONS for term in between):
        return False
    if place < start:
        return _has_subject(found.sentence[start:following])
    return not any(start <= at < place for at in matched) and _is_within(found.sentence, start, place)


def _has_subject(opening: Terms) -> bool:
    """Say whether a clause begins with a subject: a name, or a thing behind an article."""
    if not opening or opening[0].word in _RELATIVES or not names_a_thing(opening):
        return False
    return any(term.kind == NAME or term.capital or term.word in _ARTICLES for term in opening)


def _is_within(terms: Terms, start: int, place: int) -> bool:
    """Say whether a thing belongs to another one: "the sister of Anna", "the man who met Anna"."""
    at = place - 1
    while at >= start and (terms[at].word in _ARTICLES or (terms[at].capital and not terms[at].opens)):
        at -= 1
    if at - 1 < start:
        return False
    if terms[at].word in _WITHIN:
        owner = terms[at - 1]
        title = owner.capital and not owner.opens  # the Duke of Wellington, Charles de Gaulle
        return (
            (owner.kind == WORD or owner.word == "son")
            and not title
            and owner.word not in _KINDS_OF
            and owner.word not in _TIME
        )
    if terms[at].kind != WORD:
        return False
    at -= 1
    while at >= start and terms[at].word in _AUXILIARIES:
        at -= 1
    return at >= start and terms[at].word in _RELATIVES
