"""Runs judged queries through the library's own search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from lilbee_core.arguments import checked
from lilbee_core.errors import EmptyQuery, InvalidArgument
from lilbee_core.evaluation._bench import Bench, Values
from lilbee_core.evaluation._collapse import DocumentScores
from lilbee_core.evaluation._comparison import Comparison
from lilbee_core.evaluation._draft import DraftedQueries, draft
from lilbee_core.evaluation._metrics import RELEVANT, in_run_order, score_ranking
from lilbee_core.evaluation._names import Names
from lilbee_core.evaluation._report import EvaluationReport, JudgedQuery, RankedDocument
from lilbee_core.evaluation._set import EvaluationSet
from lilbee_core.evaluation._tuning import SPACE, TUNABLE, TUNED_HITS, Climb, TuningReport, halves
from lilbee_core.events import EventSink, Progress
from lilbee_core.protocols import CancelToken, Clock, StoreLike
from lilbee_core.types import Hit, Query, SearchResult

Queries = Mapping[str, str]
"""Texts of queries by id."""
Qrels = Mapping[str, Mapping[str, int]]
"""Grades by id of the query and name of the document: its id, ``collection/path``, or a path that is unique."""

Search = Callable[[Query], SearchResult]

_WIDER = 4
_WIDEST = 64


@checked
class Evaluation:
    """Measures how well the library finds what is known to be relevant. Threads may share it.

    Args:
        store: Opens the index.
        search: Runs one query.
        profile: What is searched with when no profile is named.
        bench: Searches with other settings, for `tune`.
        clock: Times the searches.
        events: Told how far a run is.
    """

    def __init__(
        self,
        *,
        store: Callable[[], StoreLike],
        search: Callable[[Query], SearchResult],
        profile: Callable[[], str],
        bench: Callable[[], Bench],
        clock: Clock,
        events: EventSink,
    ) -> None:
        self._store = store
        self._search = search
        self._profile = profile
        self._bench = bench
        self._clock = clock
        self._events = events

    def open(self, folder: str | Path) -> EvaluationSet:
        """Return the judged collection of a folder in BEIR layout; `add_documents` takes its `documents()`.

        Raises:
            NotFound: If a file of the layout is missing.
        """
        return EvaluationSet.open(folder)

    def draft_queries(self, limit: int = 100) -> DraftedQueries:
        """Draft judged queries from headings and first sentences of the library's documents.

        They are biased towards word search, since they repeat words of the documents: write them to a folder, rewrite
        them as you would ask, and open that folder for `run` and `tune`.

        Raises:
            InvalidArgument: If `limit` is less than 1.
        """
        if limit < 1:
            raise InvalidArgument(f"limit must be at least 1, got {limit}", hint="Ask for at least one.")
        store = self._store()
        return draft(store.rows(states=("indexed",)), store.text, limit)

    def run(
        self,
        queries: Queries,
        qrels: Qrels,
        *,
        profile: str | None = None,
        limit: int | None = None,
        depth: int = 100,
        cancel: CancelToken | None = None,
    ) -> EvaluationReport:
        """Search for every judged query and compare what is found with the judgments.

        Hits are documents: each counts with its best chunk, and files that a hit lists as holding the same text count
        at its place. Queries without a relevant document are left out, those that find nothing count 0.

        Args:
            queries: Texts by id; those that are not judged are not run.
            qrels: Grades by query and document; 1 and more is relevant.
            profile: The list of stages to measure; without it, the one that searches use.
            limit: Only so many queries, in the order of `queries`.
            depth: How many documents each query is asked for.
            cancel: Ends the run between two queries.

        Raises:
            NotFound: If a judged document is not in the library.
            InvalidArgument: If a judged query has no text, or nothing is judged.
            Cancelled: If `cancel` says so.
        """
        if depth < 1 or (limit is not None and limit < 1):
            raise InvalidArgument(
                f"depth and limit must be at least 1, got {depth} and {limit}", hint="Ask for at least one."
            )
        wanted = list(islice(_judged(queries, qrels), limit))
        names = self._names(qrels)
        chosen = profile or self._profile()

        def search(query: Query) -> SearchResult:
            return self._search(replace(query, profile=chosen))

        # Models and indexes load with the first search; what is measured comes after.
        _hits(search, queries[wanted[0]], depth)
        return self._report(wanted, queries, qrels, names, search, depth=depth, profile=chosen, cancel=cancel)

    def compare(
        self,
        queries: Queries,
        qrels: Qrels,
        profiles: Sequence[str],
        *,
        limit: int | None = None,
        depth: int = 100,
        cancel: CancelToken | None = None,
    ) -> tuple[Comparison, ...]:
        """Run every profile over the same queries, and return what each gains over the first of them.

        Raises:
            InvalidArgument: If fewer than two profiles are named, or one twice; and what `run` raises.
            NotFound: If a judged document is not in the library.
        """
        if len(set(profiles)) < 2 or len(set(profiles)) < len(profiles):
            raise InvalidArgument(
                f"a comparison needs two or more different profiles, got {', '.join(profiles) or 'none'}",
                hint="Name them, for example default,keyword.",
            )
        base, *others = [
            self.run(queries, qrels, profile=profile, limit=limit, depth=depth, cancel=cancel) for profile in profiles
        ]
        return tuple(Comparison(base=base, other=other) for other in others)

    def tune(
        self,
        queries: Queries,
        qrels: Qrels,
        *,
        name: str = "tuned",
        metric: str = "ndcg@10",
        save: bool = True,
        cancel: CancelToken | None = None,
    ) -> TuningReport:
        """Look for settings of fusion, diversity and distance that find more, and keep them as a named profile.

        One half of the queries chooses, the other half judges what was chosen; nothing is written that is worse there
        than the present settings. ``search(profile=name)`` uses what was kept, `Config.unset_profile` forgets it.
        The same queries over the same index always give the same.

        Args:
            queries: Texts by id.
            qrels: Grades by query and document, as for `run`.
            name: What the profile is called; an older one of this name is replaced.
            metric: What is to become better, over the first ten documents.
            save: Write the profile; without it, only say what would be written.
            cancel: Ends the work between two queries.

        Raises:
            InvalidArgument: If fewer than 20 queries are judged, or the metric does not look at ten documents.
            NotFound: If a judged document is not in the library.
            SettingsError: If the name is taken or no name.
            Cancelled: If `cancel` says so; nothing is written then.
        """
        bench = self._bench()
        bench.check(name)
        if metric not in TUNABLE:
            raise InvalidArgument(f"{metric!r} cannot be tuned for", hint=f"Choose one of {', '.join(TUNABLE)}.")
        chosen_on, held_out = halves(_judged(queries, qrels))
        names = self._names(qrels)

        def measure(wanted: Sequence[str], values: Values, title: str) -> EvaluationReport:
            search = bench.trial(values)
            return self._report(
                wanted, queries, qrels, names, search, depth=TUNED_HITS, profile=title, widen=False, cancel=cancel
            )

        present = {setting: bench.setting(setting) for setting in SPACE}
        climb = Climb(present, lambda values: measure(chosen_on, values, name), metric)
        values = climb.run()
        fitted = Comparison(base=climb.report(present), other=climb.report({**present, **values}))
        judged = Comparison(base=measure(held_out, {}, "default"), other=measure(held_out, values, name))
        found = TuningReport(
            name=name,
            metric=metric,
            values=tuple(values.items()),
            fitted=replace(fitted, base=replace(fitted.base, profile="default")),
            held_out=judged,
            trials=climb.trials,
            saved=False,
        )
        if save and found.is_better:
            bench.save(name, values)
            found = replace(found, saved=True)
        return found

    def _names(self, qrels: Qrels) -> Names:
        judged = (name for grades in qrels.values() for name in grades)
        return Names.of(self._store().rows(states=("indexed",)), judged)

    def _report(
        self,
        wanted: Sequence[str],
        queries: Queries,
        qrels: Qrels,
        names: Names,
        search: Search,
        *,
        depth: int,
        profile: str,
        widen: bool = True,
        cancel: CancelToken | None,
    ) -> EvaluationReport:
        judged: list[JudgedQuery] = []
        for query_id in wanted:
            if cancel is not None:
                cancel.check()
            started = self._clock.monotonic()
            hits = _hits(search, queries[query_id], depth)
            seconds = self._clock.monotonic() - started
            documents = DocumentScores()
            documents.take(hits)
            if widen:
                _look_further(documents, hits, search, queries[query_id], depth)
            one = _judged_query(query_id, queries[query_id], qrels[query_id], names, documents, depth)
            judged.append(replace(one, seconds=seconds))
            self._events(Progress(phase="searching", done=len(judged), total=len(wanted), unit="queries"))
        stats, meta = self._store().stats(), self._store().meta()
        return EvaluationReport(
            per_query=tuple(judged),
            documents=stats.documents,
            chunks=stats.chunks,
            profile=profile,
            embedder=meta.embedder if meta is not None else None,
        )


def _look_further(documents: DocumentScores, hits: Sequence[Hit], search: Search, text: str, depth: int) -> None:
    """Take the documents of wider searches where several chunks of one document took the places of others."""
    width = depth
    while len(documents) < depth and len(hits) >= width and width < depth * _WIDEST:
        width *= _WIDER
        hits = _hits(search, text, width)
        documents.take(hits)


def _judged_query(
    query_id: str, text: str, grades: Mapping[str, int], names: Names, documents: DocumentScores, depth: int
) -> JudgedQuery:
    named = ((names.of_document(document_id), score) for document_id, score in documents.scores.items())
    ranking = in_run_order(named)[:depth]
    judged = {names.of_judged(name): grade for name, grade in grades.items()}
    return JudgedQuery(
        id=query_id,
        text=text,
        ranking=tuple(RankedDocument(name, score) for name, score in ranking),
        scores=tuple(score_ranking([name for name, _ in ranking], judged).items()),
    )


def _hits(search: Search, text: str, top_k: int) -> Sequence[Hit]:
    try:
        return search(Query(text=text, top_k=top_k)).hits
    except EmptyQuery:
        # Nothing to look for finds nothing.
        return ()


def _judged(queries: Queries, qrels: Qrels) -> list[str]:
    """Return the ids of the queries that have a relevant document, in the order of `queries`.

    Raises:
        InvalidArgument: If one of them has no text, or there is none.
    """
    judged = [query_id for query_id, grades in qrels.items() if any(grade >= RELEVANT for grade in grades.values())]
    if not judged:
        raise InvalidArgument(
            "no query has a relevant document", hint="Give grades of 1 and more by query and document."
        )
    missing = [query_id for query_id in judged if query_id not in queries]
    if missing:
        raise InvalidArgument(
            f"{len(missing)} of {len(judged)} judged queries have no text, for example {missing[0]!r}",
            hint="Give the text of every judged query.",
        )
    wanted = set(judged)
    return [query_id for query_id in queries if query_id in wanted]
