"""Runs judged queries through the library's own search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from pathlib import Path

from lilbee_core.errors import EmptyQuery, InvalidArgument
from lilbee_core.evaluation._collapse import DocumentScores
from lilbee_core.evaluation._comparison import Comparison
from lilbee_core.evaluation._metrics import RELEVANT, in_run_order, score_ranking
from lilbee_core.evaluation._names import Names
from lilbee_core.evaluation._report import EvaluationReport, JudgedQuery, RankedDocument
from lilbee_core.evaluation._set import EvaluationSet
from lilbee_core.events import EventSink, Progress
from lilbee_core.protocols import CancelToken, Clock, StoreLike
from lilbee_core.types import Hit, Query, SearchResult

Queries = Mapping[str, str]
"""Texts of queries by id."""
Qrels = Mapping[str, Mapping[str, int]]
"""Grades by id of the query and name of the document: its id, ``collection/path``, or a path that is unique."""

_WIDER = 4
_WIDEST = 64


class Evaluation:
    """Measures how well the library finds what is known to be relevant. Threads may share it.

    Args:
        store: Opens the index.
        search: Runs one query.
        profile: What is searched with when no profile is named.
        clock: Times the searches.
        events: Told how far a run is.
    """

    def __init__(
        self,
        *,
        store: Callable[[], StoreLike],
        search: Callable[[Query], SearchResult],
        profile: Callable[[], str],
        clock: Clock,
        events: EventSink,
    ) -> None:
        self._store = store
        self._search = search
        self._profile = profile
        self._clock = clock
        self._events = events

    def open(self, folder: str | Path) -> EvaluationSet:
        """Return the judged collection of a folder in BEIR layout; `add_documents` takes its `documents()`.

        Raises:
            NotFound: If a file of the layout is missing.
        """
        return EvaluationSet.open(folder)

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
        wanted = _judged(queries, qrels)
        names = Names.of(
            self._store().rows(states=("indexed",)), (name for judged in qrels.values() for name in judged)
        )
        chosen = profile or self._profile()
        judged: list[JudgedQuery] = []
        selected = list(islice(wanted, limit))
        if selected:
            # Models and indexes load with the first search; what is measured comes after.
            self._hits(queries[selected[0]], chosen, depth)
        for query_id in selected:
            if cancel is not None:
                cancel.check()
            judged.append(self._judge(query_id, queries[query_id], qrels[query_id], names, chosen, depth))
            self._events(Progress(phase="searching", done=len(judged), total=len(selected), unit="queries"))
        stats, meta = self._store().stats(), self._store().meta()
        return EvaluationReport(
            per_query=tuple(judged),
            documents=stats.documents,
            chunks=stats.chunks,
            profile=chosen,
            embedder=meta.embedder if meta is not None else None,
        )

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

    def _judge(
        self, query_id: str, text: str, grades: Mapping[str, int], names: Names, profile: str, depth: int
    ) -> JudgedQuery:
        started = self._clock.monotonic()
        hits = self._hits(text, profile, depth)
        seconds = self._clock.monotonic() - started
        documents = DocumentScores()
        documents.take(hits)
        width = depth
        while len(documents) < depth and len(hits) >= width and width < depth * _WIDEST:
            # Several chunks of one document took the places of others: look further down.
            width *= _WIDER
            hits = self._hits(text, profile, width)
            documents.take(hits)
        named = ((names.of_document(document_id), score) for document_id, score in documents.scores.items())
        ranking = in_run_order(named)[:depth]
        judged = {names.of_judged(name): grade for name, grade in grades.items()}
        return JudgedQuery(
            id=query_id,
            text=text,
            ranking=tuple(RankedDocument(name, score) for name, score in ranking),
            scores=tuple(score_ranking([name for name, _ in ranking], judged).items()),
            seconds=seconds,
        )

    def _hits(self, text: str, profile: str, top_k: int) -> Sequence[Hit]:
        try:
            return self._search(Query(text=text, top_k=top_k, profile=profile)).hits
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
