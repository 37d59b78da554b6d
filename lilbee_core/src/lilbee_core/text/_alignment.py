"""What speaks against a statement: numbers, names, negations, opposites, things that have changed places."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from lilbee_core.text._clauses import is_passed_over, main_clause, names_a_thing
from lilbee_core.text._grammar import BY, OPENERS, OPPOSITES, PRONOUNS, denies
from lilbee_core.text._matching import Alignment, Setting, Terms, grant_subject, match_terms, name_key
from lilbee_core.text._terms import DENIAL, FIGURE, NAME, SMALL, WORD, Term, fold, widens

_SCOPE = 6  # words behind or before a negation that it may deny
_APART = 4  # words that a statement may leave out, besides one for every word that it takes over
_NOT_NAMES = ("ed", "ing", "ly")
_PERSONS = frozenset(("he", "she", "it", "they", "er", "sie", "es", "il", "elle", "ils", "elles"))
_EQUALS = frozenset(("and", "or", "und", "oder", "et", "ou", "y", "o", "e", "the", "a", "an"))
_BY, _OPENERS, _PRONOUNS = (frozenset(map(fold, words)) for words in (BY, OPENERS, PRONOUNS))
_ALONE = Setting()


def align(statement: Terms, sentence: Terms, setting: Setting = _ALONE) -> Alignment:
    """Lay a statement beside a sentence."""
    found = Alignment(statement, sentence)
    match_terms(found)
    grant_subject(found, setting)
    for check in (_figures, _names, _denials, _opposites, _subjects, _exchanged, _replaced, _counted, _scattered):
        found.conflict, found.at_fault = check(found, setting)
        if found.conflict:
            break
    return found


# ---------------------------------------------------------------- what speaks against it


def _figures(found: Alignment, setting: Setting) -> tuple[str, str]:
    above = [one.figure for one in setting.context if one.figure is not None]
    told = [*above, *(one.figure for one in found.sentence if one.figure is not None)]
    for at, term in enumerate(found.statement):
        figure = term.figure
        if figure is None or at in found.pairs:
            continue
        taken = set(found.pairs.values())
        others = any(one.figure is not None and place not in taken for place, one in enumerate(found.sentence))
        if not others and any(figure.same_value(one) and figure.fits_unit(one) for one in above):
            found.granted.add(at)
            continue
        if any(figure.values == one.values and (figure.unit, figure.factor) != (one.unit, one.factor) for one in told):
            return "unit", term.word
        return ("date" if figure.is_date else "number"), term.word
    return "", ""


def _names(found: Alignment, setting: Setting) -> tuple[str, str]:
    context = {name_key(one.word) for one in setting.context}
    told = Counter(name_key(one.word) for one in found.sentence)
    for at, term in enumerate(found.statement):
        if at in found.pairs or at in found.granted or not _is_name(found.statement, at, setting):
            continue
        again = told[name_key(term.word)] > 0
        if name_key(term.word) in context and not again and _has_room(found, at):
            found.granted.add(at)
            continue
        return "name", term.word
    return "", ""


def _is_name(terms: Terms, at: int, setting: Setting) -> bool:
    term = terms[at]
    if term.kind == NAME:
        return True
    if term.kind != WORD or not term.capital or term.word in _OPENERS:
        return False
    following = terms[at + 1] if at + 1 < len(terms) else None
    if following is not None and following.kind == NAME:
        return True
    return term.word not in setting.known and not term.word.endswith(_NOT_NAMES)


def _has_room(found: Alignment, at: int) -> bool:
    """Say whether a name that stands over the passage may be what the sentence speaks of, without saying so.

    Not where the sentence has a name that the statement lacks: then one was put in the place of the other.
    """
    matched = set(found.pairs.values())
    anchors = {one: place for one, place in found.pairs.items() if found.statement[one].kind == WORD}
    opens = all(at < one for one in anchors)
    stop = min(anchors.values(), default=len(found.sentence)) if opens else len(found.sentence)
    return not any(
        one.kind == NAME or (one.opens and one.capital and one.kind == WORD)
        for place, one in enumerate(found.sentence[:stop])
        if place not in matched
    )


def _denials(found: Alignment, setting: Setting) -> tuple[str, str]:
    """Hold the negations of both sides against each other, by the words that they deny."""
    back = {place: at for at, place in found.pairs.items()}
    told = [
        at
        for at in _negations(found.sentence)
        if _is_about(found.sentence, at, back) or _is_cut_out(found.statement, found.sentence, at)
    ]
    for at in _negations(found.statement):
        near = _scope(found.statement, at)
        scope = next((found.pairs[one] for one in near if one in found.pairs), None)
        if not near and any(_negations(found.sentence)) and not _is_cut_out(found.sentence, found.statement, at):
            if len(list(_negations(found.statement))) == len(list(_negations(found.sentence))):
                told = [one for one in told if _scope(found.sentence, one)]
            continue
        same = next((one for one in told if scope is None or scope in _scope(found.sentence, one)), None)
        if same is None:
            return "negation", found.statement[at].word
        told.remove(same)
    return ("negation", found.sentence[told[0]].word) if told else ("", "")


def _negations(terms: Terms) -> Iterator[int]:
    for at, term in enumerate(terms):
        answers = at == 0 and len(terms) > 1 and terms[1].sign == ","  # "No, it was built later"
        if term.kind == DENIAL and not widens(tuple(terms[at : at + 2]), 0) and not answers:
            yield at


def _scope(terms: Terms, at: int) -> list[int]:
    """Return the terms that a negation is about: the next two that say something, or where none follows, the last."""
    behind = [one for one in range(at + 1, min(len(terms), at + _SCOPE)) if terms[one].kind not in (SMALL, DENIAL)]
    if behind or (at + 1 < len(terms) and not terms[at + 1].sign):
        return behind[:2]
    before = [one for one in range(at - 1, max(-1, at - _SCOPE), -1) if terms[one].kind not in (SMALL, DENIAL)]
    return before[:1]


def _is_about(terms: Terms, at: int, matched: dict[int, int]) -> bool:
    """Say whether a negation of the sentence denies something that the statement has taken over."""
    scope = _scope(terms, at)
    behind = [one for one in scope if one > at]
    if not behind:
        return any(one in matched for one in scope)
    return behind[0] in matched or (len(behind) > 1 and behind[1] in matched and any(one < at for one in matched))


def _is_cut_out(statement: Terms, sentence: Terms, at: int) -> bool:
    """Say whether a statement has the words around a negation side by side (or one word between them)."""
    if at == 0 or at + 1 >= len(sentence):
        return False
    before, behind = sentence[at - 1].word, sentence[at + 1].word
    for place, term in enumerate(statement[:-1]):
        after = [one.word for one in statement[place + 1 : place + 3]]
        if term.word == before and behind in after and statement[place + 1].kind != DENIAL:
            return True
    return False


def _opposites(found: Alignment, setting: Setting) -> tuple[str, str]:
    told = {one.stem for one in found.sentence}
    said = {one.stem for one in found.statement}
    words = {one.word for one in found.sentence}
    for at, term in enumerate(found.statement):
        if at in found.pairs or term.kind not in (WORD, SMALL, NAME) or term.stem in told:
            continue
        against = OPPOSITES.get(term.stem)
        if against and any(one in told and one not in said for one in against):
            return "opposite", term.word
        if term.kind == WORD and any(denies(term.word, one) for one in words):
            return "opposite", term.word
    return "", ""


def _subjects(found: Alignment, setting: Setting) -> tuple[str, str]:
    """Find a statement that says of one thing what the sentence says of another.

    The sentence begins with words that the statement lacks, and the statement puts others in their place that the
    passage has elsewhere. A word that the passage does not have may mean the same.
    """
    if not found.pairs:
        return "", ""
    if is_passed_over(found):
        return "subject", next(term.word for term in found.statement if term.kind != SMALL)
    wrong, start = _displaced(found, setting, 0), main_clause(found.sentence)
    if any(place >= start > 0 for place in found.pairs.values()):
        inside = _displaced(found, setting, start)
        # "On Monday, the ferry sank" says of the ferry what "The ferry sank on Monday" does.
        wrong = inside if wrong is None or found.pairs.get(wrong, -1) >= start else wrong
    return ("subject", found.statement[wrong].word) if wrong is not None else ("", "")


def _displaced(found: Alignment, setting: Setting, start: int) -> int | None:
    """Return a word of the statement that stands where the sentence, from `start` on, has another subject."""
    back = {place: at for at, place in found.pairs.items() if place >= start}
    first = min(back)
    opens = found.statement[0].word
    if opens == found.sentence[0].word and opens in _PERSONS:
        return None
    opening = found.sentence[start:first]
    lead = main_clause(found.statement) if start else 0
    head = [at for at in range(lead, back[first]) if found.statement[at].kind in (NAME, WORD)]
    if not names_a_thing(opening):
        # "There was a ..." has no subject, so that none can have been put in other words.
        empty = bool(opening) and not any(one.word in _PRONOUNS for one in opening)
        dated = any(one.kind in (NAME, WORD) for one in opening)
        if not (empty or dated) or any(at in found.pairs or at in found.granted for at in head):
            return None
    return next((at for at in head if found.statement[at].stem in setting.stems), None)


def _exchanged(found: Alignment, setting: Setting) -> tuple[str, str]:
    """Find two names or figures that have changed places: each stands where the other does in the sentence."""
    said, told = _neighbors(found, list(found.pairs.items()))
    if _is_passive(found.statement) != _is_passive(found.sentence):
        return "", ""
    things = [at for at in found.pairs if found.statement[at].kind in (NAME, FIGURE) or found.statement[at].capital]
    for number, one in enumerate(things):
        for other in things[number + 1 :]:
            if not _of_one_kind(found.statement[one], found.statement[other]):
                continue
            beside = _changed_places(found.statement, said, told, *sorted((one, other)))
            if beside or any(_swapped(said, told, one, other, side) for side in (0, 1)):
                return "order", found.statement[one].word
    return "", ""


def _of_one_kind(one: Term, other: Term) -> bool:
    """Say whether one could stand where the other does: a date is not taken for a sum."""
    if one.figure is None or other.figure is None:
        return one.figure is other.figure
    return (one.figure.is_date, one.figure.unit) == (other.figure.is_date, other.figure.unit)


def _swapped(
    said: dict[int, tuple[int, int]], told: dict[int, tuple[int, int]], one: int, other: int, side: int
) -> bool:
    apart = said[one][side] != said[other][side]
    return apart and said[one][side] == told[other][side] and said[other][side] == told[one][side]


def _changed_places(
    terms: Terms, said: dict[int, tuple[int, int]], told: dict[int, tuple[int, int]], one: int, other: int
) -> bool:
    """Say the same of two that stand side by side; those that are joined as equals may change places."""
    swapped = said[one][1] == other and told[other][1] == one
    inside = said[one][0] == told[other][0] and said[other][1] == told[one][1]
    return swapped and inside and any(term.kind == SMALL and term.word not in _EQUALS for term in terms[one:other])


def _neighbors(
    found: Alignment, pairs: list[tuple[int, int]]
) -> tuple[dict[int, tuple[int, int]], dict[int, tuple[int, int]]]:
    """Return for each matched term what stands before and behind it on both sides, as places in the statement."""
    said: dict[int, tuple[int, int]] = {}
    told: dict[int, tuple[int, int]] = {}
    orders = (sorted(at for at, _ in pairs), [at for at, _ in sorted(pairs, key=lambda pair: pair[1])])
    for order, into, terms, place in (
        (orders[0], said, found.statement, {at: at for at, _ in pairs}),
        (orders[1], told, found.sentence, dict(pairs)),
    ):
        for number, at in enumerate(order):
            left = number - 1
            while left >= 0 and _one_name(terms, place[order[left]], place[order[left + 1]]):
                left -= 1
            right = number + 1
            while right < len(order) and _one_name(terms, place[order[right - 1]], place[order[right]]):
                right += 1
            into[at] = (order[left] if left >= 0 else -1, order[right] if right < len(order) else -2)
    return said, told


def _one_name(terms: Terms, one: int, other: int) -> bool:
    return other - one == 1 and terms[one].capital and terms[other].capital


def _is_passive(terms: Terms) -> bool:
    return any(term.word in _BY for term in terms)


def _replaced(found: Alignment, setting: Setting) -> tuple[str, str]:
    """Find a name or figure that stands where the sentence has another one, which the statement lacks."""
    matched = set(found.pairs.values())
    said, told = found.statement, found.sentence
    for at, place in found.pairs.items():
        after = _next(said, at)
        there = _next(told, place)
        if after is None or there is None or there in matched or found.pairs.get(after) is None:
            continue
        kinds = (_thing(said[after]), _thing(told[there]))
        # Behind another preposition it is something else that was left out.
        same = said[after - 1].word == told[there - 1].word or (after - 1 == at and there - 1 == place)
        same = same and said[after].sign == told[there].sign
        if kinds[0] and kinds[0] == kinds[1] and same:
            return ("number" if kinds[0] == FIGURE else "name"), said[after].word
    return "", ""


def _scattered(found: Alignment, setting: Setting) -> tuple[str, str]:
    """Find a statement whose words stand far apart in a long sentence, while others of it are lacking."""
    if not found.missing or not found.pairs:
        return "", ""
    first, last = min(found.pairs.values()), max(found.pairs.values())
    between = sum(term.kind not in (SMALL, DENIAL) for term in found.sentence[first : last + 1])
    if between > 2 * len(found.pairs) + _APART:
        return "words", found.statement[found.missing[0]].word
    return "", ""


def _next(terms: Terms, at: int) -> int | None:
    """Return the next term that says something, unless the sentence ends or something is denied before it."""
    for one in range(at + 1, min(len(terms), at + 4)):
        if terms[one].kind != SMALL:
            return one
    return None


def _thing(term: Term) -> str:
    return term.kind if term.kind in (NAME, FIGURE) else ""


def _counted(found: Alignment, setting: Setting) -> tuple[str, str]:
    """Find a number that counts something else: in the sentence, that thing has a number of its own."""
    for at, place in found.pairs.items():
        figure = found.statement[at].figure
        if figure is None or figure.is_date or at + 1 not in found.pairs:
            continue
        thing = found.pairs[at + 1]
        if found.sentence[thing].figure is not None or found.sentence[thing].kind != WORD:
            continue
        own = found.sentence[thing - 1].figure if thing else None
        if figure.unit is None and own is not None and thing - 1 != place and not figure.same_value(own):
            return "number", found.statement[at].word
    return "", ""
