"""The first stage: from what was typed to words, filters and a language."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from lilbee_core.errors import EmptyQuery
from lilbee_core.protocols import ChunkReader, QueryAnalyzer, SearchContext
from lilbee_core.search._keys import ANALYZED, LANGUAGE
from lilbee_core.search._parse import ParsedQuery, parse_query
from lilbee_core.types import Filter, Part, Query, SearchState, Variant

_QUOTES = dict.fromkeys(map(ord, '"“”„«»「」『』＂'), " ")


@dataclass(frozen=True, slots=True)
class Parse:
    """Take the query apart: filters out of the text, words to tokens, and its language where it can be told.

    Filters given as values count more than those in the text. Words are read in every language that holds at least
    `least_share` of the chunks.
    """

    analyzer: QueryAnalyzer
    reader: ChunkReader
    detect: Callable[[str], str | None]
    collections: Callable[[], Collection[str]] | None = None
    least_share: float = 0.01
    name: str = "parse"
    reads: frozenset[Part] = field(default=frozenset(), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        query = state.query
        named = self.collections is not None and "collection:" in query.text
        parsed = parse_query(query.text, collections=self.collections() if self.collections and named else None)
        if not parsed.words.strip():
            raise _empty(query)
        languages = tuple(code for code, share in self.reader.languages().items() if share >= self.least_share)
        analyzed = self.analyzer.query(parsed.words, languages=languages)
        wordless = ("the query has no words to look for",) if analyzed.is_empty else ()
        for message in (*parsed.warnings, *_overruled(parsed.filters, query.filters), *wordless):
            state = state.warn(message)
        state = state.put(ANALYZED, analyzed)
        language = self.detect(parsed.words)
        if language:
            state = state.put(LANGUAGE, language)
        return replace(
            state,
            query=replace(query, text=parsed.words, filters=parsed.filters.merge(query.filters)),
            variants=(Variant(text=unquoted(parsed.words)),),
            note=_note(parsed, language),
        )


def _empty(query: Query) -> EmptyQuery:
    typed = query.text.strip()
    if typed:
        return EmptyQuery(f"The query {typed!r} has no words.", hint="Add the words to look for.")
    return EmptyQuery("The query is empty.", hint="Give the words to look for.")


def _overruled(typed: Filter, given: Filter) -> tuple[str, ...]:
    """Say which filters of the text do not count, since the caller restricts the same field."""
    names = ("paths", "media_types", "languages", "collections", "after", "before")
    both = [name for name in names if getattr(typed, name) and getattr(given, name)]
    both = [name for name in both if getattr(typed, name) != getattr(given, name)]
    return tuple(f"the filter in the text for {name} does not count: the search is already limited" for name in both)


def unquoted(words: str) -> str:
    """Return the words without the marks of quoted phrases, which say nothing about meaning."""
    return " ".join(words.translate(_QUOTES).split()) or words


def _note(parsed: ParsedQuery, language: str | None) -> str:
    parts = [f"language {language}"] if language else []
    if not parsed.filters.is_empty:
        parts.append("filters")
    return ", ".join(parts)
