"""Where a text matches a query, as places in the text as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lilbee_core.analysis._compounds import LANGUAGES as COMPOUNDING
from lilbee_core.analysis._compounds import tails
from lilbee_core.analysis._letters import EMOJI, IDEOGRAPHS, INVISIBLE, MARKS, UNSPACED, clean, fold, lower
from lilbee_core.analysis._stems import Stems
from lilbee_core.analysis._table import Table
from lilbee_core.analysis._units import MARKER, Unit, part_spans, run_letters, split_token, split_unit, unit_pattern

Span = tuple[int, int]

# The words inside a unit as it was written, so with invisible characters in them.
_INNER = re.compile(
    rf"[vV]?\d++(?:[.,'’]\d++)+|[{IDEOGRAPHS}]++|[{UNSPACED}{INVISIBLE}]++|[{EMOJI}]"
    rf"|(?:(?![{IDEOGRAPHS}{UNSPACED}])[\w{MARKS}{INVISIBLE}])+"
)
_UNSPACED = re.compile(f"[{IDEOGRAPHS}{UNSPACED}]")
_MOST_UNITS = 20_000


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
        self._seen: dict[str, tuple[Span, ...]] = {}

    def spans(self, text: str) -> tuple[Span, ...]:
        """Return the places in the order of the text; those that touch are one."""
        seen = self._seen
        found: list[Span] = []
        for match in unit_pattern(text).finditer(text):
            unit = match[0]
            inside = seen.get(unit)
            if inside is None:
                inside = self._look_into(unit)
            if inside:
                _append(found, inside, match.start())
        return tuple(found)

    def _look_into(self, unit: str) -> tuple[Span, ...]:
        if len(self._seen) >= _MOST_UNITS:
            self._seen.clear()
        inside: tuple[Span, ...] = ()
        for table in self._indexed:
            if table.has(unit, self._terms):
                inside = tuple(sorted(self._find(unit)))
                break
        self._seen[unit] = inside
        return inside

    def _find(self, text: str) -> Iterator[Span]:
        unit = split_unit(text)
        if len(unit.tokens) == 1 and text.startswith(unit.tokens[0]):
            yield from self._in_word(unit.tokens[0], 0)
            return
        inner = [(match.start(), match.group()) for match in _INNER.finditer(text)]
        found = [span for start, word in inner for span in self._in_word(word, start)]
        everything = [(start, start + len(word)) for start, word in inner]
        if everything and (found == everything or self._is_whole(unit)):
            yield everything[0][0], everything[-1][1]
        else:
            yield from found

    def _is_whole(self, unit: Unit) -> bool:
        return any(MARKER + whole in self._terms for whole in unit.wholes[:1]) or any(map(self._has_stem, unit.joins))

    def _in_word(self, word: str, start: int) -> Iterator[Span]:
        if _UNSPACED.match(word):
            spans = self._in_run(word)
        elif self._is_found(word):
            spans = iter([(0, len(word))])
        else:
            spans = (part for part in part_spans(word) if self._is_part(word[slice(*part)]))
        yield from ((start + first, start + last) for first, last in spans)

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
        return any(map(self._has_stem, forms)) or any(map(self._has_tail, forms))

    def _has_stem(self, form: str) -> bool:
        return any(MARKER + table[form] in self._terms for table in self._tables)

    def _has_tail(self, form: str) -> bool:
        return any(MARKER + tail in self._terms for table in self._compounding for tail in tails(table[form]))


def _append(found: list[Span], inside: Sequence[Span], offset: int) -> None:
    for first, last in inside:
        start, end = offset + first, offset + last
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
