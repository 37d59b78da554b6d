"""Two profiles over the same queries."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.evaluation import Comparison, EvaluationReport, JudgedQuery, is_held_out
from tests.core.evaluation.test_evaluation import Library


def report(profile: str, values: Mapping[str, float]) -> EvaluationReport:
    metrics = ("ndcg@10", "recall@10", "recall@100", "mrr@10", "success@5")
    per_query = tuple(
        JudgedQuery(id=name, text=name, ranking=(), scores=tuple((metric, value) for metric in metrics))
        for name, value in values.items()
    )
    return EvaluationReport(per_query=per_query, documents=1, chunks=1, profile=profile)


def test_what_each_query_gains_is_counted() -> None:
    base = report("default", {"a": 0.5, "b": 0.5, "c": 0.5, "d": 1.0})
    other = report("keyword", {"d": 0.0, "a": 1.0, "b": 0.5, "c": 0.75})
    one = Comparison(base=base, other=other)["ndcg@10"]
    assert (one.wins, one.ties, one.losses) == (2, 1, 1)
    assert one.mean == pytest.approx(-0.0625)
    assert one.interval.low < one.mean < one.interval.high
    assert not one.is_certain
    assert 0.3 < one.p <= 1


def test_a_gain_everywhere_is_certain_and_equal_reports_are_not() -> None:
    base = report("a", {f"q{number}": 0.5 for number in range(40)})
    better = report("b", {f"q{number}": 0.51 + number / 100 for number in range(40)})
    one = Comparison(base=base, other=better)["mrr@10"]
    assert one.is_certain
    assert one.interval.low > 0
    assert one.p < 0.001
    same = Comparison(base=base, other=base)["mrr@10"]
    assert (same.mean, same.p, same.ties, same.is_certain) == (0, 1, 40, False)


def test_other_queries_cannot_be_compared() -> None:
    with pytest.raises(InvalidArgument, match="different queries"):
        Comparison(base=report("a", {"q": 1}), other=report("b", {"p": 1}))


def test_the_held_out_half_and_the_dict() -> None:
    names = [f"q{number}" for number in range(30)]
    pair = Comparison(base=report("a", dict.fromkeys(names, 0.5)), other=report("b", dict.fromkeys(names, 0.75)))
    held = pair.held_out
    assert [one.id for one in held.base.per_query] == [name for name in names if is_held_out(name)]
    assert 0 < held.base.queries < 30
    told = pair.to_dict()
    assert (told["base"], told["profile"], told["queries"]) == ("a", "b", 30)
    metrics = told["metrics"]
    assert isinstance(metrics, dict)
    assert metrics["ndcg@10"]["difference"] == pytest.approx(0.25)
    assert metrics["ndcg@10"]["interval"] == pytest.approx([0.25, 0.25])
    lines = list(pair.summary())
    assert lines[0][:3] == ("ndcg@10", "+0.2500 [+0.2500, +0.2500]", "30 / 0 / 0")


def test_a_library_compares_its_profiles() -> None:
    library = Library({"one": [("a1", 0.9), ("b1", 0.8)], "two": [("b1", 0.9), ("a1", 0.8)]})
    queries, qrels = {"one": "one", "two": "two"}, {"one": {"a.txt": 1}, "two": {"a.txt": 1}}
    pairs = library.evaluation.compare(queries, qrels, ["default", "keyword", "semantic"])
    assert [(pair.base.profile, pair.other.profile) for pair in pairs] == [
        ("default", "keyword"),
        ("default", "semantic"),
    ]
    assert pairs[0]["ndcg@10"].ties == 2


@pytest.mark.parametrize("profiles", [[], ["default"], ["default", "default"], ["a", "b", "a"]])
def test_a_comparison_needs_different_profiles(profiles: list[str]) -> None:
    library = Library({"q": [("a1", 0.9)]})
    with pytest.raises(InvalidArgument, match="two or more different profiles"):
        library.evaluation.compare({"q": "q"}, {"q": {"a.txt": 1}}, profiles)


def test_nothing_is_compared_where_the_ids_match_nothing() -> None:
    library = Library({"q": [("a1", 0.9)]})
    with pytest.raises(NotFound, match="1 of 1 judged documents"):
        library.evaluation.compare({"q": "q"}, {"q": {"nowhere": 1}}, ["default", "keyword"])
