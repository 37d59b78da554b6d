"""Stages made of stages. Policy is a wrapper, never a flag in the runner."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from lilbee_core.errors import Cancelled, LilbeeError, StageError
from lilbee_core.protocols import SearchContext, SearchStage
from lilbee_core.search._pipeline import check_order, inner_stages, run_stage
from lilbee_core.text import without_output
from lilbee_core.types import Part, SearchState, StageReport

log = logging.getLogger(__name__)


class Chain:
    """Several stages as one, in order."""

    def __init__(self, *stages: SearchStage) -> None:
        self.stages: tuple[SearchStage, ...] = stages
        self.name = f"chain({', '.join(stage.name for stage in stages)})"
        self.reads, self.writes = _parts(stages)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        for stage in self.stages:
            state = run_stage(stage, state, context)
        return state


class Parallel:
    """Several stages side by side, from the same state, on the context's executor.

    The result holds the rankings of all of them, in the order of the list whichever ends first. Only one branch may
    write variants, and only one may write hits.

    Raises:
        StageError: If two branches write the same part and it cannot be joined.
    """

    def __init__(self, *stages: SearchStage, name: str = "") -> None:
        self.stages: tuple[SearchStage, ...] = stages
        self.name = name or f"parallel({', '.join(stage.name for stage in stages)})"
        self.reads = frozenset[Part]().union(*(stage.reads for stage in stages))
        self.writes = frozenset[Part]().union(*(stage.writes for stage in stages))
        for part in (Part.VARIANTS, Part.HITS):
            writers = [stage.name for stage in stages if part in _written(stage)]
            if len(writers) > 1:
                raise StageError(
                    f"{self.name}: {' and '.join(writers)} both write {part}", hint="Put one behind the other."
                )

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        ends = context.executor.map(lambda stage: run_stage(stage, state, context), self.stages)
        joined = state
        for end in ends:
            joined = _join(state, joined, end)
        return joined


class When:
    """Runs a stage only if a condition holds; the trace says when it was skipped, and why.

    It promises no writes, since it may do nothing.
    """

    def __init__(self, condition: Callable[[SearchState], bool], stage: SearchStage, *, otherwise: str = "") -> None:
        self.condition = condition
        self.stages: tuple[SearchStage, ...] = (stage,)
        self.otherwise = otherwise or f"{getattr(condition, '__name__', 'the condition')} does not hold"
        self.name = stage.name
        self.reads = stage.reads
        self.writes: frozenset[Part] = frozenset()

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        stage = self.stages[0]
        if self.condition(state):
            return run_stage(stage, state, context)
        report = StageReport(name=stage.name, status="skipped", note=self.otherwise)
        return replace(state, reports=(*state.reports, report))


class Tolerant:
    """Survives a stage that fails: the search goes on without it, with a warning for the user.

    It promises no writes. A wish to stop is no failure.

    Args:
        stage: What may fail.
        warning: What the user is told; the error's message and its hint are added.
        catch: Which errors are survived; everything else is raised.
    """

    def __init__(
        self, stage: SearchStage, *, warning: str = "", catch: tuple[type[Exception], ...] = (Exception,)
    ) -> None:
        self.stages: tuple[SearchStage, ...] = (stage,)
        self.warning = warning or f"The search stage {stage.name} failed and was left out"
        self.catch = catch
        self.name = stage.name
        self.reads = stage.reads
        self.writes: frozenset[Part] = frozenset()

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        stage = self.stages[0]
        started = context.clock.monotonic()
        try:
            return run_stage(stage, state, context)
        except Cancelled:
            raise
        except self.catch as error:
            log.info("search stage %s failed", stage.name)
            log.debug("in search stage %s", stage.name, exc_info=True)
            message = without_output(error.message) if isinstance(error, LilbeeError) else type(error).__name__
            hint = f". {error.hint}" if isinstance(error, LilbeeError) and error.hint else ""
            seconds = context.clock.monotonic() - started
            report = StageReport(name=stage.name, status="failed", seconds=seconds, note=message)
            warned = state.warn(f"{self.warning}: {message}{hint}")
            return replace(warned, reports=(*warned.reports, report))


def _parts(stages: tuple[SearchStage, ...]) -> tuple[frozenset[Part], frozenset[Part]]:
    """Return what a chain reads from before it, and what it writes."""
    reads: frozenset[Part] = frozenset()
    writes: frozenset[Part] = frozenset()
    for stage in stages:
        reads |= stage.reads - writes
        writes |= stage.writes
    check_order(stages, reads)
    return reads, writes


def _written(stage: SearchStage) -> frozenset[Part]:
    """Return what a stage may write, whatever it promises."""
    inner = inner_stages(stage)
    return frozenset[Part]().union(*map(_written, inner)) if inner else stage.writes


def _join(base: SearchState, joined: SearchState, end: SearchState) -> SearchState:
    known = {id(ranking) for ranking in base.rankings}
    fresh = tuple(ranking for ranking in end.rankings if id(ranking) not in known)
    for message in end.warnings:
        joined = joined.warn(message)
    old = {id(pair) for pair in base.private}
    changed = tuple(pair for pair in end.private if id(pair) not in old)
    kept = tuple(pair for pair in joined.private if pair[0] not in {name for name, _ in changed})
    return replace(
        joined,
        query=end.query if end.query is not base.query else joined.query,
        variants=end.variants if end.variants is not base.variants else joined.variants,
        rankings=(*joined.rankings, *fresh),
        hits=end.hits if end.hits is not base.hits else joined.hits,
        reports=(*joined.reports, *end.reports[len(base.reports) :]),
        private=(*kept, *changed),
    )
