"""Where a text matches a query, as places in the text as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from itertools import compress, pairwise
from operator import itemgetter
from typing import NamedTuple

from lilbee_core.analysis._compounds import LANGUAGES as COMPOUNDING
from lilbee_core.analysis._compounds import tails
from lilbee_core.analysis._letters import EMOJI, IDEOGRAPHS, INVISIBLE, MARKS, UNSPACED, clean, fold, lower
from lilbee_core.analysis._stems import Stems
from lilbee_core.analysis._table import Table
from lilbee_core.analysis._units import (
    LONGEST_TOKEN,
    MARKER,
    Unit,
    is_plain,
    part_spans,
    run_letters,
    split_token,
    split_unit,
    unit_pattern,
)

Span = tuple[int, int]

# The words inside a unit as it was written, so with invisible characters in them.
_INNER = re.compile(
    rf"[vV]?\d++(?:[.,'’]\d++)+|[{IDEOGRAPHS}]++|[{UNSPACED}{INVISIBLE}]++|[{EMOJI}]"
    rf"|(?:(?![{IDEOGRAPHS}{UNSPACED}])[\w{MARKS}{INVISIBLE}])+"
)
_UNSPACED = re.compile(f"[{IDEOGRAPHS}{UNSPACED}]")
_MOST_UNITS = 20_000
_UNIT_OF = itemgetter(0)


class _Known(NamedTuple):
    """What was found out about units and the words in them, in texts before."""

    seen: set[str]
    found: dict[str, tuple[Span, ...]]
    """Of the units that have a term."""
    words: dict[str, list[Span]]


class Marker:
    """Finds in one text after the other the words of which a form is among the terms of a query.

    It remembers what each unit has, since the texts that a query finds share most of theirs. Only units that have a
    term in the index, which `tables` know, are looked into: that takes long. Of a name, only the parts that match are
    marked where the whole does not. Threads may share it.
    """

    def __init__(
        self, terms: frozenset[str], languages: Sequence[str], stems: Stems, *, tables: Sequence[Table]
    ) -> None:
        self._terms = terms
        self._indexed = tables
        self._tables = [stems.table(language) for language in languages]
        self._compounding = [stems.table(language) for language in languages if language in COMPOUNDING]
        self._known = _Known(set(), {}, {})

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the places in the order of the text; those that touch are one."""
        known = self._known
        if len(known.seen) >= _MOST_UNITS:
            known = self._known = _Known(set(), {}, {})
        matches = list(unit_pattern(text).finditer(text))
        units = list(map(_UNIT_OF, matches))
        new = set(units).difference(known.seen)
        if new:
            self._look_into(new, known)
        # Most units have no term: those are passed over without a step of Python.
        insides = list(map(known.found.get, units))
        found: list[Span] = []
        for match, inside in zip(compress(matches, insides), filter(None, insides), strict=True):
            _append(found, inside, match.start())
        return tuple(found)

    def _look_into(self, units: Set[str], known: _Known) -> None:
        for table in self._indexed:
            for unit in table.having(units, self._terms):
                if unit not in known.found:
                    known.found[unit] = tuple(sorted(self._find(unit, known.words)))
        # Last, since another thread that sees them here takes the rest for found.
        known.seen.update(units)

    def _find(self, text: str, words: dict[str, list[Span]]) -> list[Span]:
        if text.isascii() and is_plain(text):
            return self._in_word(text, words)
        unit = split_unit(text)
        if len(unit.tokens) == 1 and text.startswith(unit.tokens[0]):
            return self._in_word(unit.tokens[0], words)
        inner = [(match.start(), match.group()) for match in _INNER.finditer(text)]
        found = [(start + first, start + last) for start, word in inner for first, last in self._in_word(word, words)]
        everything = [(start, start + len(word)) for start, word in inner]
        if everything and (found == everything or self._is_whole(unit)):
            return [(everything[0][0], everything[-1][1])]
        return found

    def _in_word(self, word: str, words: dict[str, list[Span]]) -> list[Span]:
        spans = words.get(word)
        if spans is None:
            spans = words[word] = self._look_at(word)
        return spans

    def _look_at(self, word: str) -> list[Span]:
        if word.isascii() and is_plain(word):
            form = word[:LONGEST_TOKEN].lower()
            return [(0, len(word))] if form in self._terms or self._has_form(form) else []
        if _UNSPACED.match(word):
            return list(self._in_run(word))
        if self._is_found(word):
            return [(0, len(word))]
        return [part for part in part_spans(word) if self._is_part(word[slice(*part)])]

    def _is_whole(self, unit: Unit) -> bool:
        return any(MARKER + whole in self._terms for whole in unit.wholes[:1]) or any(map(self._has_stem, unit.joins))

    def _is_part(self, part: str) -> bool:
        form = lower(clean(part))
        return bool(form) and self._has_stem(form)

    def _in_run(self, run: str) -> Iterator[Span]:
        letters = [(fold(match.group()), match.span()) for match in run_letters(run)]
        letters = [(letter, span) for letter, span in letters if letter]
        for letter, span in letters:
            if letter in self._terms:
                yield span
        for (first, (start, _)), (second, (_, end)) in pairwise(letters):
            if first + second in self._terms:
                yield start, end

    def _is_found(self, word: str) -> bool:
        unit = split_unit(word)
        words = [split_token(token) for token in unit.tokens]
        if any(not self._terms.isdisjoint(word.exact) for word in words):
            return True
        forms = [word.stemmed for word in words if word.stemmed] + list(unit.joins)
        return any(map(self._has_form, forms))

    def _has_form(self, form: str) -> bool:
        return self._has_stem(form) or self._has_tail(form)

    def _has_stem(self, form: str) -> bool:
        return any(MARKER + table[form] in self._terms for table in self._tables)

    def _has_tail(self, form: str) -> bool:
        if not self._compounding:
            return False
        return any(MARKER + tail in self._terms for table in self._compounding for tail in tails(table[form]))


def _append(found: list[Span], inside: Sequence[Span], offset: int) -> None:
    for first, last in inside:
        start, end = offset + first, offset + last
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
