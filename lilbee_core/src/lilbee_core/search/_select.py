"""Which of the hits an answer is made from."""

from __future__ import annotations

from dataclasses import replace

from lilbee_core.clock import SystemClock
from lilbee_core.protocols import ChunkReader, Clock, QueryAnalyzer
from lilbee_core.search._combinators import When
from lilbee_core.search._context import InlineExecutor, RunContext
from lilbee_core.search._keys import ANALYZED
from lilbee_core.search._parse import parse_query
from lilbee_core.search._pipeline import run_stage
from lilbee_core.search.stages import Cover, Limit, Neighbors
from lilbee_core.types import SearchResult, SearchState


def select_for_answer(
    result: SearchResult,
    *,
    reader: ChunkReader,
    analyzer: QueryAnalyzer,
    most: int = 5,
    clock: Clock | None = None,
) -> SearchResult:
    """Return the result with the hits that an answer is made from, and with the trace of how they were chosen.

    At most `most` are taken: those that together speak of all that was asked, or the first ones where a reranker has
    put them in order. Those that follow each other in one document are joined. Their ranks are those of the search. A
    result in which nothing was found stays as it is.
    """
    if not result.found:
        return result
    context = RunContext(clock=clock or SystemClock(), executor=InlineExecutor())
    started = context.clock.monotonic()
    state = SearchState(query=result.query, hits=result.hits, warnings=result.warnings, reports=result.reports)
    words = result.get(ANALYZED)
    if words is None:
        words = analyzer.query(parse_query(result.query.text).words, languages=tuple(reader.languages()))
    state = state.put(ANALYZED, words)
    cover = When(_is_not_reranked, Cover(analyzer, most), otherwise="the order of the reranker counts")
    for stage in (cover, Limit(most), Neighbors(reader)):
        state = run_stage(stage, state, context)
    seconds = result.seconds + context.clock.monotonic() - started
    return replace(result, hits=state.hits, warnings=state.warnings, reports=state.reports, seconds=seconds)


def _is_not_reranked(state: SearchState) -> bool:
    return not any(report.name == "rerank" and report.status == "ok" for report in state.reports)
