"""Judged queries through a search: collapsing to documents, names, order, errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lilbee_core.errors import Cancelled, EmptyQuery, InvalidArgument, NotFound
from lilbee_core.evaluation import Evaluation, EvaluationReport
from lilbee_core.settings import validated_profile
from lilbee_core.testing import ManualClock, MemoryStore, RecordingSink, Switch, a_row, an_indexed_document
from lilbee_core.types import Chunk, Hit, Place, Query, SearchResult

A, B, C = (a_row(path).id for path in ("a.txt", "b.txt", "c.txt"))


class ScriptedBench:
    """Settings of which `found_by` says which texts they find at the first place."""

    def __init__(self, library: Library) -> None:
        self.library = library
        self.present: dict[str, object] = {
            "fusion": "convex", "fusion_dense_weight": 0.5, "max_distance": 0.9, "mmr_lambda": 0.95,
            "diversity_max_per_source": 3,
        }  # fmt: skip
        self.found_by: Callable[[Mapping[str, object], str], bool] = lambda values, text: False
        self.saved: dict[str, Mapping[str, object]] = {}
        self.tried: list[Mapping[str, object]] = []

    def setting(self, name: str) -> object:
        return self.present[name]

    def trial(self, values: Mapping[str, object]) -> Callable[[Query], SearchResult]:
        self.tried.append(values)
        merged = {**self.present, **values}

        def search(query: Query) -> SearchResult:
            order = ("a1", "b1") if self.found_by(merged, query.text) else ("b1", "a1")
            hits = [Hit(chunk=self.library.chunks[name], score=1 / place) for place, name in enumerate(order, start=1)]
            return SearchResult(query=query, hits=tuple(hits), found=True)

        return search

    def check(self, name: str) -> None:
        validated_profile(name, {})

    def save(self, name: str, values: Mapping[str, object]) -> None:
        self.saved[name] = values


class Library:
    """Three documents of two chunks each, and a search that answers from a script."""

    def __init__(self, found: Mapping[str, list[tuple[str, float]]]) -> None:
        self.store = MemoryStore(
            *(an_indexed_document("one", "two", path=path) for path in ("a.txt", "b.txt", "c.txt"))
        )
        self.chunks = {f"{row.path[0]}{at}": one for row in self.store.rows() for at, one in self._numbered(row.id)}
        self.found = found
        self.clock = ManualClock()
        self.sink = RecordingSink()
        self.asked: list[Query] = []
        self.bench = ScriptedBench(self)
        self.evaluation = Evaluation(
            store=lambda: self.store,
            search=self.search,
            profile=lambda: "default",
            bench=lambda: self.bench,
            clock=self.clock,
            events=self.sink,
        )

    def _numbered(self, document_id: str) -> list[tuple[int, Chunk]]:
        return list(enumerate(self.store.chunks_of(document_id), start=1))  # type: ignore[arg-type]

    def search(self, query: Query) -> SearchResult:
        self.asked.append(query)
        self.clock.advance(0.001 * len(self.asked))
        if query.text not in self.found:
            raise EmptyQuery("nothing")
        hits = [Hit(chunk=self.chunks[name], score=score) for name, score in self.found[query.text]]
        return SearchResult(query=query, hits=tuple(hits[: query.top_k]), found=bool(hits))

    def run(self, qrels: Mapping[str, Mapping[str, int]], **options: object) -> EvaluationReport:
        queries = {text: text for text in [*self.found, *qrels]}
        return self.evaluation.run(queries, qrels, **options)  # type: ignore[arg-type]


def ranking(report: EvaluationReport, query: str) -> list[tuple[str, float]]:
    return next([(one.name, one.score) for one in asked.ranking] for asked in report.per_query if asked.id == query)


def test_a_document_counts_with_its_best_chunk() -> None:
    library = Library({"q": [("b1", 0.9), ("a2", 0.8), ("b2", 0.7), ("a1", 0.1)]})
    report = library.run({"q": {"a.txt": 1}})
    assert ranking(report, "q") == [("b.txt", 0.9), ("a.txt", 0.8)]
    assert report["mrr@10"] == 0.5
    assert report.documents == 3
    assert report.chunks == 6


def test_equal_documents_go_by_name() -> None:
    library = Library({"q": [("c1", 0.9), ("b1", 0.5), ("a1", 0.5)]})
    assert [name for name, _ in ranking(library.run({"q": {"a.txt": 1}}), "q")] == ["c.txt", "a.txt", "b.txt"]


def test_files_with_the_same_text_count_at_their_twin() -> None:
    library = Library({"q": [("c1", 0.9), ("b1", 0.5)]})
    place = Place(document_id=A, collection="notes", path="a.txt")
    found = library.search(Query(text="q"))
    folded = replace(found, hits=(replace(found.hits[0], also_at=(place,)), found.hits[1]))
    evaluation = Evaluation(
        store=lambda: library.store,
        search=lambda query: folded,
        profile=lambda: "default",
        bench=lambda: library.bench,
        clock=library.clock,
        events=library.sink,
    )
    report = evaluation.run({"q": "q"}, {"q": {"a.txt": 1}})
    assert ranking(report, "q") == [("a.txt", 0.9), ("c.txt", 0.9), ("b.txt", 0.5)]


def test_it_looks_further_down_when_chunks_of_one_document_fill_the_hits() -> None:
    library = Library({"q": [("a1", 0.9), ("a2", 0.8), ("b1", 0.7), ("c1", 0.6)]})
    report = library.run({"q": {"c.txt": 1}}, depth=2)
    assert [name for name, _ in ranking(report, "q")] == ["a.txt", "b.txt"]
    assert [query.top_k for query in library.asked] == [2, 2, 8]
    assert report.per_query[0].seconds == pytest.approx(0.002), "only the first search is timed, the warm-up is not"


def test_what_a_wider_search_finds_stays_behind_what_was_found() -> None:
    library = Library({"q": [("a1", 0.5), ("a2", 0.4), ("b1", 0.3)]})
    narrow = library.search(Query(text="q", top_k=2))
    wide = SearchResult(
        query=narrow.query, hits=tuple(Hit(chunk=library.chunks[name], score=9.0) for name in ("c1", "a1")), found=True
    )
    evaluation = Evaluation(
        store=lambda: library.store,
        search=lambda query: narrow if query.top_k == 2 else wide,
        profile=lambda: "default",
        bench=lambda: library.bench,
        clock=library.clock,
        events=library.sink,
    )
    report = evaluation.run({"q": "q"}, {"q": {"c.txt": 1}}, depth=2)
    assert ranking(report, "q") == [("a.txt", 0.5), ("c.txt", 0.5)]


def test_documents_may_be_judged_by_id_reference_or_path() -> None:
    library = Library({"q": [("a1", 0.9), ("b1", 0.8), ("c1", 0.7)]})
    report = library.run({"q": {A: 1, "notes/b.txt": 1, "c.txt": 1}})
    assert [name for name, _ in ranking(report, "q")] == [A, "notes/b.txt", "c.txt"]
    assert report["recall@10"] == 1


def test_one_document_under_two_names_is_one() -> None:
    library = Library({"first": [("a1", 0.9)], "second": [("a1", 0.9)]})
    report = library.run({"first": {"a.txt": 1}, "second": {A: 1}})
    assert report["ndcg@10"] == 1


def test_unjudged_documents_of_one_path_are_told_apart() -> None:
    library = Library({"q": [("a1", 0.9)]})
    library.store.put([an_indexed_document("other", path="a.txt", collection="more")])
    report = library.run({"q": {"b.txt": 1}})
    assert ranking(report, "q") == [("notes/a.txt", 0.9)]
    with pytest.raises(NotFound, match=r"'a\.txt'") as caught:
        library.run({"q": {"a.txt": 1}})
    assert "collection/path" in caught.value.hint


def test_judged_documents_that_are_not_there_are_an_error() -> None:
    library = Library({"q": [("a1", 0.9)]})
    judged = {"q": {"a.txt": 1, **{f"gone{number}": 1 for number in range(7)}}}
    with pytest.raises(NotFound, match=r"7 of 8 judged documents .* 'gone0'.*\.\.\.$"):
        library.run(judged)
    assert library.asked == [], "nothing is searched before the names are checked"


def test_unanswered_queries_count_zero_and_unjudged_ones_are_not_run() -> None:
    library = Library({"good": [("a1", 0.9)], "none": [], "extra": [("a1", 0.9)]})
    report = library.run({"good": {"a.txt": 1}, "none": {"a.txt": 1}, " ": {"b.txt": 1}, "extra": {"b.txt": 0}})
    assert report.queries == 3
    assert report.answered == 1
    assert report["success@5"] == pytest.approx(1 / 3)
    assert "extra" not in {query.text for query in library.asked}


def test_a_judged_query_without_text_is_an_error() -> None:
    library = Library({"q": [("a1", 0.9)]})
    with pytest.raises(InvalidArgument, match="'other'"):
        library.evaluation.run({"q": "q"}, {"q": {"a.txt": 1}, "other": {"a.txt": 1}})


@pytest.mark.parametrize("qrels", [{}, {"q": {}}, {"q": {"a.txt": 0}}])
def test_nothing_judged_is_an_error(qrels: dict[str, dict[str, int]]) -> None:
    with pytest.raises(InvalidArgument, match="no query has a relevant document"):
        Library({"q": [("a1", 0.9)]}).run(qrels)


@pytest.mark.parametrize("options", [{"depth": 0}, {"limit": 0}, {"limit": -1}])
def test_depth_and_limit_are_positive(options: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument, match="at least 1"):
        Library({"q": [("a1", 0.9)]}).run({"q": {"a.txt": 1}}, **options)


def test_limit_takes_the_first_queries_and_profile_is_passed_on() -> None:
    library = Library({"one": [("a1", 0.9)], "two": [("a1", 0.9)], "three": [("a1", 0.9)]})
    judged = {"three": {"b.txt": 1}, "two": {"a.txt": 1}, "one": {"a.txt": 1}}
    report = library.run(judged, limit=2, profile="keyword")
    assert [one.id for one in report.per_query] == ["one", "two"]
    assert {query.profile for query in library.asked} == {"keyword"}
    assert report.profile == "keyword"
    assert library.run(judged).profile == "default"


def test_it_tells_how_far_it_is_and_can_be_cancelled() -> None:
    library = Library({"one": [("a1", 0.9)], "two": [("a1", 0.9)]})
    judged = {"one": {"a.txt": 1}, "two": {"a.txt": 1}}
    library.run(judged)
    progress = [event.to_dict() for event in library.sink.events]
    assert [(one["done"], one["total"], one["unit"]) for one in progress] == [(1, 2, "queries"), (2, 2, "queries")]
    switch = Switch()
    switch.cancel()
    with pytest.raises(Cancelled):
        library.run(judged, cancel=switch)


def test_the_report_as_a_dict_and_as_a_run_file(tmp_path: Path) -> None:
    library = Library({"q": [("a1", 0.1 + 0.2), ("b1", 0.25)], "none": []})
    report = library.run({"q": {"b.txt": 1}, "none": {"a.txt": 1}})
    told = report.to_dict()
    wanted = [
        "ndcg@10",
        "recall@10",
        "recall@100",
        "mrr@10",
        "success@5",
        "latency_ms",
        "documents",
        "chunks",
        "queries",
    ]
    assert list(told)[:9] == wanted
    assert told["latency_ms"] == {"p50": pytest.approx(2.0), "p95": pytest.approx(3.0)}
    assert dict(report.summary())["mrr@10"] == "0.2500"
    per_query = report.to_dict(per_query=True)["per_query"]
    assert isinstance(per_query, list)
    assert per_query[0]["documents"][1] == {"id": "b.txt", "score": 0.25}
    report.write_run(tmp_path / "run.tsv")
    assert (tmp_path / "run.tsv").read_text("utf-8") == "q\ta.txt\t0.30000000000000004\nq\tb.txt\t0.25\n"


def test_odd_names_do_not_break_the_run_file(tmp_path: Path) -> None:
    library = Library({"q": [("a1", 0.5)]})
    name = "tab\there\nand %.txt"
    library.store.put([an_indexed_document("x", path=name)])
    library.found = {"q": [("odd", 0.5)]}
    odd = next(row for row in library.store.rows() if row.path == name)
    library.chunks["odd"] = library.store.chunks_of(odd.id)[0]
    library.run({"q": {name: 1}}).write_run(tmp_path / "run.tsv")
    assert (tmp_path / "run.tsv").read_text("utf-8") == "q\ttab%09here%0Aand %25.txt\t0.5\n"


def test_an_unknown_metric_names_the_known_ones() -> None:
    report = Library({"q": [("a1", 0.9)]}).run({"q": {"a.txt": 1}})
    with pytest.raises(KeyError, match=r"ndcg@10"):
        report["map"]
