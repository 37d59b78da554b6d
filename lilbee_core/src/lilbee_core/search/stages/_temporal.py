"""Dates in the words of a query: from `last week` to the days that are searched."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lilbee_core.protocols import ChunkReader, QueryAnalyzer, SearchContext, SearchStage
from lilbee_core.search._dates import Days, TimeWords, read_dates, without_recent
from lilbee_core.search._keys import ANALYZED, LANGUAGE, TIME
from lilbee_core.search._pipeline import run_stage
from lilbee_core.search.stages._parse import unquoted
from lilbee_core.types import Filter, Part, Query, Ranking, Scored, SearchState, Variant

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery

_WORD = re.compile(r"\w+")
_UNTOLD = (
    "happen happened happens change changed changes new news show list find documents document files file notes note "
    "entries everything anything all neu neues passiert geändert dokumente dateien notizen "
    "nouveau nouveaux passé fichiers nuevo nuevos pasó documentos archivos notas"
)
_NO_SUBJECT = frozenset(_UNTOLD.split())
"""Words that name nothing to look for where the rest of a query is about time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeSense:
    """What a query says about time, as the stages behind `Temporal` use it.

    `newest` says that newer is better; `alone` that nothing but time words remains, so that documents are listed by
    their dates. `before` is the query as it was, with its wording and its tokens, should the days leave nothing; `told`
    is what the user was told of them.
    """

    days: Days | None = None
    newest: bool = False
    alone: bool = False
    told: str = ""
    before: tuple[Query, tuple[Variant, ...], AnalyzedQuery | None]


@dataclass(frozen=True, slots=True)
class Temporal:
    """Take the days that a query names out of its words and search only documents of these days.

    The days are whole days of the user's calendar, weeks begin on Monday, and the user is told which are searched. A
    date filter that was given counts more: the words then stay words. So do dates that leave out no document, since
    those tell what a text is about. Where no document is of these days, the search goes on without them, with a
    warning.
    """

    reader: ChunkReader
    analyzer: QueryAnalyzer
    name: str = "temporal"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        query = state.query
        read = read_dates(query.text, context.clock.now().date(), language=state.get(LANGUAGE))
        if read is None or not state.variants:
            return replace(state, note="no time words")
        for message in read.warnings:
            state = state.warn(message)
        sense = TimeSense(newest=read.newest, before=(query, state.variants, state.get(ANALYZED)))
        given = [text for text in (query.filters.after, query.filters.before) if text]
        if read.days is None or given:
            note = "the search is already limited to dates" if read.days else ""
            return self._boosted(state, read, sense, note=note)
        filters = query.filters.merge(_filter(read.days))
        count = self.reader.count(filters=filters, scope=query.scope)
        if not count:
            return self._boosted(state.warn(_nothing(read.days)), read, sense, note=f"nothing {read.days}")
        if read.by_date and not _is_alone(read.rest, state) and count == self._all(query):
            return self._boosted(state, read, sense, note=f"everything is {read.days}")
        told = f"searched only what is dated {read.days}: {', '.join(read.phrases)}"
        state = self._limited(state.warn(told), read, replace(sense, days=read.days, told=told), filters)
        return replace(state, note=f"{', '.join(read.phrases)}: {read.days}")

    def _all(self, query: Query) -> int:
        return self.reader.count(filters=query.filters, scope=query.scope)

    def _limited(self, state: SearchState, read: TimeWords, sense: TimeSense, filters: Filter) -> SearchState:
        query = replace(state.query, filters=filters)
        if _is_alone(read.rest, state):
            return self._listed(replace(state, query=query), sense)
        known = state.get(ANALYZED)
        words = self.analyzer.query(read.rest, languages=known.languages if known else ())
        state = state.put(ANALYZED, words).put(TIME, sense)
        first = replace(state.variants[0], text=unquoted(read.rest), vector=None)
        return replace(state, query=replace(query, text=read.rest), variants=(first, *state.variants[1:]))

    def _boosted(self, state: SearchState, read: TimeWords, sense: TimeSense, *, note: str) -> SearchState:
        """Leave the words as they are; where the newest are asked for, and nothing else, list those."""
        if not read.newest:
            return replace(state, note=note or "no time words")
        note = "; ".join(part for part in (note, "newer is better") if part)
        if _is_alone(without_recent(state.query.text), state):
            return replace(self._listed(state, sense), note=note)
        return replace(state.put(TIME, sense), note=note)

    def _listed(self, state: SearchState, sense: TimeSense) -> SearchState:
        from lilbee_core.analysis import AnalyzedQuery

        state = state.put(ANALYZED, AnalyzedQuery()).put(TIME, replace(sense, alone=True))
        return replace(state, variants=())


@dataclass(frozen=True, slots=True)
class Newest:
    """List the newest documents, each by its first chunk: for a query of which nothing but time words remains."""

    reader: ChunkReader
    candidates: int = 100
    name: str = "newest"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.RANKINGS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        query = state.query
        limit = max(self.candidates, query.top_k)
        found = self.reader.newest(limit=limit, filters=query.filters, scope=query.scope)
        entries = tuple(Scored(id_, 1 - at / len(found)) for at, id_ in enumerate(found))
        return replace(state, rankings=(*state.rankings, Ranking(name=self.name, entries=entries)))


class Undated:
    """Searches once more without the days that `Temporal` took from the words, where they leave nothing.

    It wraps what retrieves. A filter that was given stays.
    """

    def __init__(self, stage: SearchStage) -> None:
        self.stages: tuple[SearchStage, ...] = (stage,)
        self.name = stage.name
        self.reads, self.writes = stage.reads, stage.writes

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        after = run_stage(self.stages[0], state, context)
        sense = after.get(TIME)
        if sense is None or sense.days is None or any(ranking.entries for ranking in after.rankings):
            return after
        query, variants, analyzed = sense.before
        more = tuple(variant for variant in after.variants if variant.kind != "original")
        kept = tuple(message for message in after.warnings if message != sense.told)
        again = replace(after, warnings=kept).warn(_nothing(sense.days))
        again = again.put(TIME, replace(sense, days=None, alone=False))
        if analyzed is not None:
            again = again.put(ANALYZED, analyzed)
        return run_stage(self.stages[0], replace(again, query=query, variants=(*variants, *more), rankings=()), context)


def is_listed(state: SearchState) -> bool:
    """Say whether documents are listed by date, since the query has nothing but time words."""
    sense = state.get(TIME)
    return sense is not None and sense.alone


def has_subject(state: SearchState) -> bool:
    """Say whether the query has more than time words."""
    return not is_listed(state)


def newer_is_better(state: SearchState) -> bool:
    """Say whether the query asks for what is recent."""
    sense = state.get(TIME)
    return sense is not None and sense.newest and not sense.alone


def _filter(days: Days) -> Filter:
    return Filter(
        after=days.first.isoformat() if days.first else None, before=days.end.isoformat() if days.end else None
    )


def _nothing(days: Days) -> str:
    return f"nothing was found that is dated {days}, so all dates were searched"


def _is_alone(rest: str, state: SearchState) -> bool:
    """Say whether nothing is left to look for: no word, or such as name nothing."""
    from lilbee_core.analysis import function_words

    common = function_words().get(state.get(LANGUAGE) or "en", frozenset())
    words = (word for word in _WORD.findall(rest.casefold()) if len(word) > 1)
    return all(word in _NO_SUBJECT or word in common for word in words)
