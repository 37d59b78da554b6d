"""Why a document is not among the hits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace

from lilbee_core.clock import SystemClock
from lilbee_core.protocols import ChunkReader, Clock, SearchStage
from lilbee_core.search._context import InlineExecutor, RunContext
from lilbee_core.search._keys import ANALYZED
from lilbee_core.search._pipeline import run_stage
from lilbee_core.types import (
    ChunkId,
    DocumentRow,
    DocumentTrace,
    Dropped,
    Filter,
    Query,
    Ranking,
    Scope,
    Scored,
    SearchState,
    Standing,
)

_FARTHEST = 5_000
_TYPED = {"paths": "path", "media_types": "type", "languages": "lang", "collections": "collection"}


def trace_document(
    stages: Sequence[SearchStage],
    query: Query,
    row: DocumentRow,
    reader: ChunkReader,
    *,
    clock: Clock | None = None,
) -> DocumentTrace:
    """Run a query and say what became of a document: where it stood, and which stage left it out and why.

    Args:
        stages: The list of stages, as a `Searcher` runs it.
        query: What was asked, without a mode in its text.
        row: The document, as the ledger has it.
        reader: The index.
        clock: Times the stages.

    Raises:
        EmptyQuery: If the query holds nothing but blanks and filters.
    """
    context = RunContext(clock=clock or SystemClock(), executor=InlineExecutor())
    state = SearchState(query=query)
    for stage in stages:
        state = run_stage(stage, state, context)
    about = DocumentTrace(
        path=row.path,
        collection=row.collection,
        document_id=row.id,
        query=query.text,
        profile=query.profile,
        verdict="",
        reason="",
        warnings=state.warnings,
    )
    kept_out = _kept_out(row, state.query, reader)
    if kept_out is not None:
        verdict, reason, hint = kept_out
        return replace(about, verdict=verdict, reason=reason, hint=hint)
    about = replace(about, standings=tuple(_standings(row, state, reader)))
    return _shown(about, row, state) or _left_out(about, row, state, reader) or _not_ranked(about, state)


# ------------------------------------------------------------------ before any ranking


def _kept_out(row: DocumentRow, query: Query, reader: ChunkReader) -> tuple[str, str, str | None] | None:
    """Return verdict, reason and hint where nothing of the document could be ranked at all."""
    only = Filter(document_ids=(row.id,))
    if not row.holds_chunks:
        reason = f"it is not in the index: {row.state}" + (f", {row.reason}" if row.reason else "")
        return "not_indexed", reason, f"Run `lilbee explain {row.path}` to see what can be done."
    if not reader.count(filters=only, scope=Scope.BOTH):
        return "not_indexed", "it is in the index, but no text came out of it", "Look at it with `lilbee show`."
    if not reader.count(filters=only, scope=query.scope):
        other = Scope.WIKI if query.scope is Scope.RAW else Scope.RAW
        return "out_of_scope", f"the search looks at {query.scope}, it belongs to {other}", f"Search in scope {other}."
    if (row.id in query.filters.document_ids or not query.filters.document_ids) and reader.count(
        filters=query.filters.merge(only), scope=query.scope
    ):
        return None
    names = [name for name in _set_fields(query.filters) if not _passes(name, query.filters, row, reader, query.scope)]
    told = " and ".join(
        f"{_TYPED.get(name, name)}:{_value(query.filters, name)}" for name in names or _set_fields(query.filters)
    )
    return "filtered", f"it does not pass the filter {told}", "Leave the filter out, or widen it."


def _set_fields(filters: Filter) -> list[str]:
    return [one.name for one in fields(filters) if getattr(filters, one.name)]


def _passes(name: str, filters: Filter, row: DocumentRow, reader: ChunkReader, scope: Scope) -> bool:
    if name == "document_ids":
        return row.id in filters.document_ids
    alone = replace(Filter(document_ids=(row.id,)), **{name: getattr(filters, name)})
    return reader.count(filters=alone, scope=scope) > 0


def _value(filters: Filter, name: str) -> str:
    value: str | tuple[str, ...] = getattr(filters, name)
    return value if isinstance(value, str) else ", ".join(value)


# ------------------------------------------------------------------ rankings


def _standings(row: DocumentRow, state: SearchState, reader: ChunkReader) -> Iterable[Standing]:
    """Yield where the document stands by words and by meaning, however far behind, and in every other ranking."""
    query = state.query
    own = query.filters.merge(Filter(document_ids=(row.id,)))
    mine = frozenset(chunk.id for chunk in reader.chunks_of(row.id))
    for ranking in state.rankings:
        standing = _standing(ranking, mine)
        if standing.score is not None or ranking.variant != "original":
            yield standing
        elif ranking.name == "lexical" and (words := state.get(ANALYZED)) is not None:
            best = reader.lexical(words, limit=1, filters=own, scope=query.scope)
            every = reader.lexical(words, limit=_FARTHEST, filters=query.filters, scope=query.scope) if best else ()
            yield _behind(standing, best, every, mine)
        elif ranking.name == "dense" and (vector := state.variants[0].vector) is not None:
            best = reader.dense(vector, limit=1, filters=own, scope=query.scope)
            every = reader.dense(vector, limit=_FARTHEST, filters=query.filters, scope=query.scope) if best else ()
            yield _behind(standing, best, every, mine)
        else:
            yield standing


def _standing(ranking: Ranking, mine: frozenset[ChunkId]) -> Standing:
    name = ranking.name if ranking.variant == "original" else f"{ranking.name}:{ranking.variant}"
    found = next(((rank, one) for rank, one in enumerate(ranking.entries, start=1) if one.chunk_id in mine), None)
    last = ranking.entries[-1].score if ranking.entries else None
    rank, one = found if found is not None else (None, None)
    return Standing(
        ranking=name,
        rank=rank,
        score=one.score if one is not None else None,
        taken=len(ranking.entries),
        last=last,
        chunk_id=one.chunk_id if one is not None else None,
    )


def _behind(standing: Standing, best: Sequence[Scored], every: Sequence[Scored], mine: frozenset[ChunkId]) -> Standing:
    if not best:
        return standing
    rank = next((rank for rank, one in enumerate(every, start=1) if one.chunk_id in mine), None)
    return replace(standing, rank=rank, score=best[0].score, chunk_id=best[0].chunk_id)


# ------------------------------------------------------------------ what became of it


def _shown(about: DocumentTrace, row: DocumentRow, state: SearchState) -> DocumentTrace | None:
    for rank, hit in enumerate(state.hits, start=1):
        if hit.document_id == row.id:
            return replace(about, verdict="found", rank=rank, reason=f"it is hit {rank}, score {hit.score:.4f}")
        if any(place.document_id == row.id for place in hit.also_at):
            reason = f"it says what hit {rank} says, {hit.path}, which lists it"
            return replace(about, verdict="folded", rank=rank, stage="fold", reason=reason)
    return None


def _left_out(about: DocumentTrace, row: DocumentRow, state: SearchState, reader: ChunkReader) -> DocumentTrace | None:
    """Say which stage dropped the document: the last one that had any of its chunks."""
    mine = frozenset(chunk.id for chunk in reader.chunks_of(row.id))
    for report in reversed(state.reports):
        at = next((at for at, one in enumerate(report.dropped) if one.chunk_id in mine), None)
        if at is None:
            continue
        one = report.dropped[at]
        needed = _needed(report.name, state, report.dropped)
        score = f" (its score is {one.score:.4f}, the last one kept has {needed:.4f})" if needed and one.score else ""
        hint = f"Ask for more than {state.query.top_k} hits (--top), or use words that it holds."
        return replace(
            about,
            verdict="dropped",
            stage=report.name,
            needed=needed,
            reason=f"{report.name} left it out: {one.reason}{score}",
            hint="Search with diversify off (--no-diversify) to see it." if report.name == "cap" else hint,
        )
    return None


def _needed(stage: str, state: SearchState, dropped: Sequence[Dropped]) -> float | None:
    """Return the lowest score that the stage kept, where it goes by scores."""
    if stage == "limit":
        return state.hits[-1].score if state.hits else None
    if stage == "fetch" and state.rankings:
        out = frozenset(one.chunk_id for one in dropped)
        kept = [one.score for one in state.rankings[-1].entries if one.chunk_id not in out]
        return min(kept, default=None)
    return None


def _not_ranked(about: DocumentTrace, state: SearchState) -> DocumentTrace:
    matches = [one for one in about.standings if one.score is not None]
    if matches:
        reason = "it matches, but others match better: no ranking took it"
        hint = "Use words that it holds, quote a phrase from it, or limit the search with path: or collection:."
        return replace(about, verdict="not_ranked", reason=reason, hint=hint)
    words = state.get(ANALYZED)
    named = ", ".join(words.highlights) if words is not None and words.highlights else "the query"
    reason = f"it holds none of the words {named}, and nothing in it is near in meaning"
    return replace(about, verdict="not_ranked", reason=reason, hint="Use words that it holds (`lilbee show` shows it).")
