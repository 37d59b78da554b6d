"""Where a text matches a query, as places in the text as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from lilbee_core.analysis._compounds import LANGUAGES as COMPOUNDING
from lilbee_core.analysis._compounds import tails
from lilbee_core.analysis._letters import EMOJI, IDEOGRAPHS, INVISIBLE, MARKS, UNSPACED, clean, fold, lower
from lilbee_core.analysis._stems import Stems
from lilbee_core.analysis._units import MARKER, part_spans, run_letters, split_token, split_unit, unit_pattern

Span = tuple[int, int]

# The words inside a unit as it was written, so with invisible characters in them.
_INNER = re.compile(
    rf"[vV]?\d++(?:[.,'’]\d++)++|(?P<unspaced>[{IDEOGRAPHS}]++|[{UNSPACED}{INVISIBLE}]++)|[{EMOJI}]"
    rf"|(?:(?![{IDEOGRAPHS}{UNSPACED}])[\w{MARKS}{INVISIBLE}])++"
)


def matching_spans(text: str, terms: frozenset[str], languages: Sequence[str], stems: Stems) -> tuple[Span, ...]:
    """Return the spans of words in `text` of which a form is among the terms; parts of names alone where they match."""
    marker = _Marker(terms, languages, stems)
    spans: list[Span] = []
    for match in unit_pattern(text).finditer(text):
        for first, last in sorted(marker.in_unit(match.group())):
            start, end = match.start() + first, match.start() + last
            if spans and start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
            else:
                spans.append((start, end))
    return tuple(spans)


class _Marker:
    """Finds the terms in one unit after the other and remembers units it has seen."""

    def __init__(self, terms: frozenset[str], languages: Sequence[str], stems: Stems) -> None:
        self._terms = terms
        self._tables = [stems.table(language) for language in languages]
        self._compounding = [stems.table(language) for language in languages if language in COMPOUNDING]
        self._seen: dict[str, tuple[Span, ...]] = {}

    def in_unit(self, unit: str) -> tuple[Span, ...]:
        found = self._seen.get(unit)
        if found is None:
            found = self._seen[unit] = tuple(self._find(unit))
        return found

    def _find(self, unit: str) -> Iterator[Span]:
        inner = list(_INNER.finditer(unit))
        found = [span for match in inner for span in self._in_word(match)]
        if len(found) > 1 and [match.span() for match in inner] == found:
            yield found[0][0], found[-1][1]
        else:
            yield from found

    def _in_word(self, match: re.Match[str]) -> Iterator[Span]:
        start, word = match.start(), match.group()
        if match["unspaced"]:
            yield from ((start + first, start + last) for first, last in self._in_run(word))
        elif self._is_found(word):
            yield match.span()
        else:
            parts = part_spans(word)
            yield from ((start + first, start + last) for first, last in parts if self._is_part(word[first:last]))

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
