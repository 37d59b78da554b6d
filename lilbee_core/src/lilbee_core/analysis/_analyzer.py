"""The analyzer: the one place that says what a word is, for the index and for queries."""

from __future__ import annotations

from collections.abc import Sequence

from lilbee_core.analysis._language import DEFAULT_LANGUAGE
from lilbee_core.analysis._query import AnalyzedQuery, analyze
from lilbee_core.analysis._spans import Marker
from lilbee_core.analysis._stems import Stems, snowball_version
from lilbee_core.analysis._table import Budget, Table

_VERSION = "1"
_CONTEXT_REPEAT = 2
_MOST_MARKERS = 8


class Analyzer:
    """Turns text and queries into the same tokens, before any index sees them.

    The index column holds exact tokens in text order, so that phrases can be found by position, then, behind a marker,
    stems, parts and whole forms. It is split at ASCII white space and nothing else. A query repeats its terms as
    often as they count.

    It keeps caches and no other state: threads may share one, and a pickled one arrives empty.
    """

    def __init__(self) -> None:
        self._stems = Stems()
        self._budget = Budget()
        self._tables: dict[str, Table] = {}
        self._markers: dict[tuple[tuple[str, ...], tuple[str, ...]], Marker] = {}

    def __reduce__(self) -> tuple[type[Analyzer], tuple[()]]:
        return Analyzer, ()

    @property
    def version(self) -> str:
        """Changes whenever the same text gives other tokens: an index made by another version must be rebuilt."""
        return f"{_VERSION}/snowball-{snowball_version()}"

    def index_text(self, text: str, *, language: str | None, context: Sequence[str] = ()) -> str:
        """Return what the index column holds for `text`.

        `context` is what stands beside it: title, headings, path, symbol. Its words count more than those of the text.
        Without a language, Latin words are stemmed as English, which suits code.
        """
        table = self._table(language or DEFAULT_LANGUAGE)
        columns = [*table.tokens(text)]
        for line in context:
            exact, marked = table.tokens(line)
            columns += [exact, *[marked] * _CONTEXT_REPEAT]
        return " ".join(filter(None, columns))

    def query(self, text: str, *, languages: Sequence[str] = ()) -> AnalyzedQuery:
        """Return `text` as a query. Any string is one; without words it is empty.

        `languages` are those of the library that are worth stemming for, the most frequent first.
        """
        return analyze(text, tuple(dict.fromkeys(languages)) or (DEFAULT_LANGUAGE,), self._stems)

    def spans(self, text: str, query: AnalyzedQuery, *, language: str | None = None) -> tuple[tuple[int, int], ...]:
        """Return where in `text` the query is found: sorted, without overlap, ends exclusive."""
        languages = (language,) if language in query.languages else query.languages
        return self._marker(query.terms, languages).spans(text)

    def tokens(self, text: str) -> tuple[str, ...]:
        """Return the exact tokens of `text` in order."""
        table = self._table(DEFAULT_LANGUAGE)
        return tuple(table.tokens(text)[0].split())

    def _marker(self, terms: tuple[str, ...], languages: tuple[str, ...]) -> Marker:
        marker = self._markers.get((terms, languages))
        if marker is None:
            if len(self._markers) >= _MOST_MARKERS:
                self._markers.clear()
            tables = [self._table(language) for language in languages]
            marker = Marker(frozenset(terms), languages, self._stems, tables=tables)
            self._markers[terms, languages] = marker
        return marker

    def _table(self, language: str) -> Table:
        table = self._tables.get(language)
        if table is None:
            table = self._tables[language] = Table(language, self._stems, self._budget)
        return table
