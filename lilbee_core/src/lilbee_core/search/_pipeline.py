"""The search list: what is checked when it is built, and how it is run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from lilbee_core.background import foreground
from lilbee_core.clock import SystemClock
from lilbee_core.errors import StageError
from lilbee_core.protocols import CancelToken, Clock, Executor, SearchContext, SearchStage
from lilbee_core.search._context import InlineExecutor, RunContext
from lilbee_core.search._keys import ANALYZED, FOUND
from lilbee_core.types import Hit, Part, Query, SearchResult, SearchState, StageReport

_WRITERS = {
    Part.VARIANTS: "put `Parse(analyzer)` before it",
    Part.RANKINGS: "put a retriever such as `Lexical(reader, analyzer)` or `Dense(reader, embedder)` before it",
    Part.HITS: "put `Fetch(reader)` before it",
}

# Handed on to what answers. The rest is between stages, and may be big.
_KEPT = frozenset({ANALYZED.name})


class Composite(Protocol):
    """A stage made of stages. Its inner stages report themselves, so it gets no report of its own."""

    @property
    def stages(self) -> tuple[SearchStage, ...]: ...


def inner_stages(stage: SearchStage | Composite) -> tuple[SearchStage, ...]:
    """Return what a stage is made of; nothing for a plain one."""
    # Not `isinstance`: with a protocol it takes longer than some stages.
    stages: tuple[SearchStage, ...] = getattr(stage, "stages", ())
    return stages


class Searcher:
    """Runs a query through a list of stages, in that order; there is no hidden stage. Threads may share it.

    Stages state what they read and write, so a wrong order fails here and not in a search.

    Raises:
        StageError: If a stage reads what no stage before it writes.
    """

    def __init__(
        self, stages: Sequence[SearchStage], *, clock: Clock | None = None, executor: Executor | None = None
    ) -> None:
        self.stages = tuple(stages)
        self._clock = clock or SystemClock()
        self._executor = executor or InlineExecutor()
        check_order(self.stages)

    def search(self, query: Query, *, cancel: CancelToken | None = None) -> SearchResult:
        """Return the hits, best first, with the trace of how they came about.

        The result's query is the one that was asked, with the filters that were used.

        Raises:
            EmptyQuery: If the query holds nothing but blanks and filters.
            StageError: If a stage breaks a rule of the pipeline.
            Cancelled: If `cancel` says so.
        """
        with foreground():
            return self._search(query, cancel)

    def _search(self, query: Query, cancel: CancelToken | None) -> SearchResult:
        context = RunContext(clock=self._clock, executor=self._executor, cancel=cancel)
        started = context.clock.monotonic()
        state = SearchState(query=query)
        for stage in self.stages:
            state = run_stage(stage, state, context)
        hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(state.hits, start=1))
        found = state.get(FOUND)
        return SearchResult(
            query=replace(query, filters=state.query.filters),
            hits=hits,
            found=bool(hits) and found is not False,
            warnings=state.warnings,
            reports=state.reports,
            seconds=context.clock.monotonic() - started,
            private=tuple(pair for pair in state.private if pair[0] in _KEPT),
        )


def run_stage(stage: SearchStage, state: SearchState, context: SearchContext) -> SearchState:
    """Run one stage: check cancellation, time, run, check, and add a `StageReport`."""
    context.check()
    if inner_stages(stage):
        return stage.run(state, context)
    started = context.clock.monotonic()
    after = stage.run(replace(state, dropped=(), note="") if state.dropped or state.note else state, context)
    seconds = context.clock.monotonic() - started
    _check_result(stage, state, after)
    report = StageReport(
        name=stage.name,
        seconds=seconds,
        count_in=_count_in(stage, state),
        count_out=_count_out(stage, state, after),
        note=after.note,
        dropped=after.dropped,
    )
    return replace(after, reports=(*after.reports, report), dropped=(), note="")


def check_order(stages: Iterable[SearchStage], have: frozenset[Part] = frozenset()) -> frozenset[Part]:
    """Return the parts that are there after these stages.

    Raises:
        StageError: If a stage reads a part that no stage before it writes.
    """
    for stage in stages:
        missing = [part for part in Part if part in stage.reads and part not in have]
        if missing:
            raise StageError(
                f"stage {stage.name} reads {missing[0]}, which no stage before it writes",
                hint=f"In the list of stages, {_WRITERS[missing[0]]}.",
            )
        have |= stage.writes
    return have


def _check_result(stage: SearchStage, before: SearchState, after: SearchState) -> None:
    for part in Part:
        if part not in stage.writes and getattr(after, part) is not getattr(before, part):
            raise StageError(
                f"stage {stage.name} changed {part}, which it does not say it writes",
                hint=f"Add {part} to the `writes` of the stage, or leave it out of the list.",
            )
    if after.hits is not before.hits:
        problem = _problem_of(after.hits)
        if problem:
            raise StageError(
                f"stage {stage.name} returned {problem}", hint="Mend the stage, or leave it out of the list."
            )


def _problem_of(hits: Sequence[Hit]) -> str | None:
    last = math.inf
    for hit in hits:
        if not math.isfinite(hit.score):
            return f"the score {hit.score} for chunk {hit.chunk.id}"
        if hit.score > last:
            return f"chunk {hit.chunk.id} with {hit.score} behind a hit with {last}: scores must not rise"
        last = hit.score
    ids = {hit.chunk.id for hit in hits}
    return None if len(ids) == len(hits) else "a chunk twice"


def _count_in(stage: SearchStage, state: SearchState) -> int:
    if Part.HITS in stage.reads:
        return len(state.hits)
    if Part.RANKINGS in stage.reads:
        return len({entry.chunk_id for ranking in state.rankings for entry in ranking.entries})
    return len(state.variants) if Part.VARIANTS in stage.reads else 1


def _count_out(stage: SearchStage, before: SearchState, after: SearchState) -> int:
    if Part.HITS in stage.writes:
        return len(after.hits)
    if not stage.writes:
        return _count_in(stage, before)
    if Part.RANKINGS in stage.writes:
        known = {id(ranking) for ranking in before.rankings}
        return sum(len(ranking.entries) for ranking in after.rankings if id(ranking) not in known)
    return len(after.variants)
