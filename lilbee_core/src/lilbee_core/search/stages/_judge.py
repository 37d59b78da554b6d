"""Whether what was found answers the query at all."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TypeAlias

from lilbee_core.protocols import SearchContext
from lilbee_core.search._calibration import Calibrated, uncalibrated
from lilbee_core.search._keys import ANALYZED, FOUND, TIME
from lilbee_core.text import subjects
from lilbee_core.types import Hit, Part, SearchState

_WORDS_COUNT = 0.5
_LEAD_COUNTS = 2.0
_LEAST_TOGETHER = 0.8
_PLACE_COUNTS = 1.25
_FEWEST_FOR_LEAD = 30
_LEAST_OF_SUBJECT = 0.6
_SAME_LETTERS = 4
_TYPED = re.compile(r"[^\s,;:!?()\"“”„«»]+")
_UNSPACED = "\u0e00"

Rule: TypeAlias = Callable[[float, float], float]
"""Returns how near a cosine with a share of words comes to what is asked; 1 is enough."""


@dataclass(frozen=True, slots=True)
class Judge:
    """Say whether any hit is near enough to the query, in words and in meaning. It stands behind `Mark`.

    A hit with all words of the query always is. Otherwise, where the embedder's cosines have been measured, the
    cosine and half the share of words must reach `floor` together. With another embedder the cosine counts by its
    place between what unrelated and related texts reach in this library (`calibration`). Where that is not known, the
    hit must hold `least_words` of the words, or fewer if its cosine leads the rest of the list by far; of a question
    about several things, each may be in another hit, with most of its words. Documents that are listed by date, for a
    query of time words alone, are what was asked for.
    """

    floor: float | None = None
    least_words: float = 0.5
    calibration: Calibrated = uncalibrated
    name: str = "judge"
    reads: frozenset[Part] = field(default=frozenset({Part.HITS}), init=False)
    writes: frozenset[Part] = field(default=frozenset(), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        sense = state.get(TIME)
        if sense is not None and sense.alone:
            return replace(state.put(FOUND, bool(state.hits)), note="listed by date")
        rule, farthest = self._rule(state), _farthest_cosine(state)
        best = max((self._nearness(hit, state, rule, farthest) for hit in state.hits), default=None)
        if best is not None and best < 1 and (farthest is None or not self._knows_cosines()):
            best = max(best, share_of_subjects(state) / _LEAST_OF_SUBJECT)
        found = best is not None and best >= 1
        note = "no hits" if best is None else f"{'found' if found else 'nothing near enough'}, best {best:.2f} of 1"
        return replace(state.put(FOUND, found), note=note)

    def _knows_cosines(self) -> bool:
        known = self.calibration()
        return self.floor is not None or (known is not None and known.tells)

    def _rule(self, state: SearchState) -> Rule:
        floor, least_words = self.floor, self.least_words
        if floor is not None:
            return lambda cosine, words: (cosine + _WORDS_COUNT * words) / floor
        known = self.calibration()
        if known is not None and known.tells:
            return lambda cosine, words: (words + _PLACE_COUNTS * known.place(cosine)) / _LEAST_TOGETHER
        usual = _usual_cosine(state)
        if usual is None:
            return lambda cosine, words: words / least_words
        return lambda cosine, words: max(
            words / least_words, (words + _LEAD_COUNTS * (cosine - usual)) / _LEAST_TOGETHER
        )

    def _nearness(self, hit: Hit, state: SearchState, rule: Rule, farthest: float | None) -> float:
        """Return how near the hit comes to what is asked of it; 1 is enough."""
        words = share_of_words(hit, state)
        if words >= 1:
            return 1.0
        # What the search by meaning passed over is no nearer than the last that it listed.
        cosine = dict(hit.scores).get("dense", farthest)
        return words / self.least_words if cosine is None else rule(cosine, words)


def share_of_words(hit: Hit, state: SearchState) -> float:
    """Return how many of the query's words the hit holds, by what `Mark` found in it.

    In scripts without blanks the pairs of characters of a run take the place of words.
    """
    analyzed = state.get(ANALYZED)
    if analyzed is None or not analyzed.highlights:
        return 0.0
    runs = [word for word in analyzed.highlights if max(word) >= _UNSPACED]
    others = len(analyzed.highlights) - len(runs)
    text = hit.chunk.text
    held = {text[start:end].casefold() for start, end in hit.highlights}
    spaced = {word for word in held if max(word, default="") < _UNSPACED}
    asked = {word.casefold() for word in analyzed.highlights if word not in runs}
    return (min(others, _held(asked, spaced)) + sum(_share_of_pairs(run, text) for run in runs)) / len(
        analyzed.highlights
    )


def share_of_subjects(state: SearchState) -> float:
    """Return how much of each thing that the query asks about is in one hit: of the one that is held least.

    0 where it asks about one thing only.
    """
    analyzed = state.get(ANALYZED)
    if analyzed is None:
        return 0.0
    words = {word.casefold() for word in analyzed.highlights}
    parts = [_TYPED.findall(part.casefold()) for part in subjects(state.query.text)]
    named = [words.intersection([*part, *(word.strip(".'’") for word in part)]) for part in parts]
    asked = [part for part in named if part]
    if len(asked) < 2:
        return 0.0
    held = [{hit.chunk.text[start:end].casefold() for start, end in hit.highlights} for hit in state.hits]
    return min(
        max(sum(any(_is_form(one, word) for one in found) for word in part) / len(part) for found in held)
        for part in asked
    )


def _held(asked: Collection[str], found: Collection[str]) -> int:
    """Return how many of the words asked for are among those found, of which several may be forms of one."""
    alike = {word: {one for one in found if _is_form(one, word)} for word in asked}
    forms = set[str]().union(*alike.values())
    # What begins otherwise is another spelling, or a part of a longer name: it stands for a word of its own.
    return sum(map(bool, alike.values())) + len(set(found) - forms)


def _is_form(one: str, other: str) -> bool:
    letters = min(_SAME_LETTERS, len(one), len(other))
    return one == other or (letters > 1 and one[:letters] == other[:letters])


def _share_of_pairs(run: str, text: str) -> float:
    pairs = {run[at : at + 2] for at in range(len(run) - 1)} or {run}
    return sum(pair in text for pair in pairs) / len(pairs)


def _usual_cosine(state: SearchState) -> float | None:
    """Return the middle cosine of what was searched, where there is enough of it to tell."""
    cosines = _cosines(state)
    return median(cosines) if len(cosines) >= _FEWEST_FOR_LEAD else None


def _farthest_cosine(state: SearchState) -> float | None:
    """Return the last cosine that the search by meaning listed, None where it had no vote."""
    return min(_cosines(state), default=None)


def _cosines(state: SearchState) -> list[float]:
    return [entry.score for ranking in state.rankings if ranking.name == "dense" for entry in ranking.entries]
