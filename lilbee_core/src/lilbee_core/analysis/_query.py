"""A query as words with weights, phrases and what to mark in a result."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import NamedTuple

from lilbee_core.analysis._fillers import parts
from lilbee_core.analysis._function_words import function_words
from lilbee_core.analysis._letters import fold
from lilbee_core.analysis._stems import Stems, StemTable
from lilbee_core.analysis._units import MARKER, Unit, Word, split_token, split_unit, unit_pattern

# How often a term is repeated in the query, which multiplies its BM25 score. Measured over five sets of questions:
# docs/explanation/words.md has the table. A word found as typed scores EXACT + STEM, an inflected one STEM alone.
EXACT, STEM, PART, WHOLE, ACCENTED, PAIR, LETTER = 1, 4, 3, 1, 1, 3, 1
MOST_TERMS = 1024

_QUOTED = re.compile(
    r"""(?<![0-9A-Za-z"])"(?=[^\s"])([^"]*[^\s"])"(?![0-9A-Za-z"])"""
    r"|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|「([^「」]+)」|『([^『』]+)』|＂([^＂]+)＂"
)
_NEGATED = re.compile(r"n['’]t$")
_CLIPPED = frozenset({"s", "t", "d", "m", "ll", "re", "ve"})
_LEAST_HITS = 2
_NO_WORDS = frozenset[str]()
_PAIR_LETTERS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class AnalyzedQuery:
    """What to look for in the words column, and what a hit may show as found."""

    terms: tuple[str, ...] = ()
    """Tokens of the column, each once, in the order of the query."""
    weights: tuple[int, ...] = ()
    """How often each term counts."""
    phrases: tuple[tuple[str, ...], ...] = ()
    """What was put in quotes: exact tokens that must follow each other."""
    runs: tuple[tuple[str, ...], ...] = ()
    """Pairs of characters that stood together, in scripts without blanks: better hits have them in this order."""
    highlights: tuple[str, ...] = ()
    """The words as typed, function words left out; of a run without blanks, what it is about."""
    languages: tuple[str, ...] = ()
    """Whose stems are among the terms."""

    def __post_init__(self) -> None:
        if len(self.terms) != len(self.weights):
            raise ValueError(f"{len(self.terms)} terms have {len(self.weights)} weights")

    @property
    def match_text(self) -> str:
        """The terms for one match query, each repeated as often as it counts."""
        return " ".join(" ".join([term] * weight) for term, weight in zip(self.terms, self.weights, strict=True))

    @property
    def is_empty(self) -> bool:
        """Whether nothing can be found: the text had no words."""
        return not self.terms


class _Piece(NamedTuple):
    surface: str
    unit: Unit
    words: tuple[Word, ...]
    weak: bool
    """Whether it is only the clipped end of a word: the s of what's."""
    named: bool
    """Whether it may be a name even if it looks like a function word: May, Will, The Who."""
    about: tuple[str, ...]
    """What it is about: all of it, but in scripts without blanks, where it may have fillers."""
    silent: frozenset[str] = _NO_WORDS
    """Terms that only its fillers have."""


def analyze(text: str, languages: Sequence[str], stems: Stems) -> AnalyzedQuery:
    """Return `text` as a query; stems are made for each of `languages`."""
    pieces = list(_pieces(text))
    weak = _function_words_in(pieces, tuple(languages))
    strong = [piece for piece in pieces if not _is_weak(piece, weak)]
    if not strong:
        strong, weak = [piece._replace(about=(piece.surface,), silent=_NO_WORDS) for piece in pieces], _NO_WORDS
    tables = [stems.table(language) for language in languages]
    terms: dict[str, int] = {}
    for piece in strong:
        for term, weight in _weighted(piece, weak, tables):
            if weight > terms.get(term, 0) and (term in terms or len(terms) < MOST_TERMS):
                terms[term] = weight
    runs = (word.exact for piece in strong for word in piece.words if len(word.letters) > _PAIR_LETTERS)
    return AnalyzedQuery(
        terms=tuple(terms),
        weights=tuple(terms.values()),
        phrases=tuple(dict.fromkeys(_phrases(text))),
        runs=tuple(dict.fromkeys(runs)),
        highlights=tuple(dict.fromkeys(part for piece in strong for part in piece.about)),
        languages=tuple(languages),
    )


def _pieces(text: str) -> Iterator[_Piece]:
    """Yield each unit of the text once."""
    seen: set[tuple[str, bool]] = set()
    for match in unit_pattern(text).finditer(text):
        surface, start = match.group(), match.start()
        clipped = start > 0 and text[start - 1] in "'’" and surface.lower() in _CLIPPED
        if (surface, clipped) in seen:
            continue
        seen.add((surface, clipped))
        unit = split_unit(surface)
        words = tuple(word for token in unit.tokens if (word := split_token(token)).exact)
        if words:
            named = start > 0 and len(surface) > 1 and surface.istitle()
            weak = clipped or bool(_NEGATED.search(surface))
            about, fillers = parts(surface)
            yield _Piece(surface, unit, words, weak or not about, named, about, _silent(about, fillers))


def _silent(about: Sequence[str], fillers: Sequence[str]) -> frozenset[str]:
    return _run_terms(fillers) - _run_terms(about) if fillers else _NO_WORDS


def _run_terms(runs: Iterable[str]) -> frozenset[str]:
    words = [split_token(token) for run in runs for token in split_unit(run).tokens]
    return frozenset(term for word in words for term in (*word.exact, *(MARKER + letter for letter in word.letters)))


def _is_weak(piece: _Piece, weak: frozenset[str]) -> bool:
    """Tell whether nothing in it is worth looking for. Where words are joined, the whole is."""
    if piece.weak or piece.named or piece.unit.wholes:
        return piece.weak
    elided = bool(piece.unit.joins)
    return all(token in weak or (elided and token in _CLIPPED) for word in piece.words for token in word.exact)


def _weighted(piece: _Piece, weak: frozenset[str], tables: Sequence[StemTable]) -> Iterator[tuple[str, int]]:
    for word in piece.words:
        if piece.named or word.exact[0] not in weak:
            yield from (one for one in _word_terms(word, tables) if one[0] not in piece.silent)
    for join in piece.unit.joins:
        yield from _stemmed(join, tables, STEM)
    for whole in piece.unit.wholes:
        yield MARKER + whole, WHOLE


def _word_terms(word: Word, tables: Sequence[StemTable]) -> Iterator[tuple[str, int]]:
    exact = PAIR if len(word.letters) > 1 else EXACT
    for token in word.exact:
        yield token, exact
    if word.stemmed:
        yield from _stemmed(word.stemmed, tables, STEM)
    for part in word.parts:
        yield from _stemmed(part, tables, PART)
    if word.spelled:
        yield word.spelled, EXACT
        yield from _stemmed(word.spelled, tables, STEM)
    if word.accented:
        yield MARKER + word.accented, ACCENTED
    for letter in word.letters:
        yield MARKER + letter, LETTER


def _stemmed(form: str, tables: Sequence[StemTable], weight: int) -> list[tuple[str, int]]:
    return [(MARKER + stem, weight) for stem in dict.fromkeys([table[form] for table in tables])]


def _phrases(text: str) -> Iterator[tuple[str, ...]]:
    for match in _QUOTED.finditer(text):
        quoted = next(group for group in match.groups() if group is not None)
        yield from (phrase for phrase in _sequences(quoted) if phrase)


def _sequences(quoted: str) -> Iterator[tuple[str, ...]]:
    """Cut at single characters of scripts without blanks: in a text their neighbors would make them a pair."""
    sequence: list[str] = []
    for unit in unit_pattern(quoted).findall(quoted):
        for word in map(split_token, split_unit(unit).tokens):
            if len(word.letters) == 1:
                yield tuple(sequence)
                sequence = []
            else:
                sequence.extend(word.exact)
    yield tuple(sequence)


@lru_cache(maxsize=1)
def _folded_function_words() -> dict[str, frozenset[str]]:
    return {language: frozenset(map(fold, words)) for language, words in function_words().items()}


def _function_words_in(pieces: Iterable[_Piece], languages: tuple[str, ...]) -> frozenset[str]:
    """Return the function words of the language the query seems to be in.

    With several languages to choose from, two words must tell one other than the most frequent: "war" in "world war"
    is no German in an English library.
    """
    lists = {language: words for language in languages if (words := _folded_function_words().get(language))}
    tokens = {token for piece in pieces for word in piece.words for token in word.exact}
    hits = {language: len(tokens & words) for language, words in lists.items()}
    most = max(hits.values(), default=0)
    best = [language for language in lists if hits[language] == most]
    if most < _LEAST_HITS and languages[0] not in best:
        best = list(lists)
    return reduce(frozenset[str].intersection, (lists[language] for language in best)) if best else _NO_WORDS
