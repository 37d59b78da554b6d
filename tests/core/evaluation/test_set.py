"""Folders in BEIR layout, as they come."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.evaluation import EvaluationSet

CORPUS = [
    {"_id": "a", "title": "Bees", "text": "They find home by the sun.", "metadata": {"lang": "en"}},
    {"_id": "b", "title": "", "text": "Wax is made of honey."},
    {"_id": "c", "title": "Only a title", "text": ""},
    {"_id": "d", "title": "", "text": "  "},
]


def write_set(folder: Path, *, zipped: bool = False, qrels: str = "query-id\tcorpus-id\tscore\nq1\ta\t1\n") -> Path:
    corpus = "".join(json.dumps(one) + "\n" for one in CORPUS)
    queries = json.dumps({"_id": "q1", "text": "how do bees find home"}) + "\n\n"
    for name, content in (("corpus.jsonl", corpus), ("queries.jsonl", queries), ("qrels.tsv", qrels)):
        if zipped:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content.encode()))
        else:
            (folder / name).write_text(content, "utf-8")
    return folder


@pytest.mark.parametrize("zipped", [False, True])
def test_documents_queries_and_judgments(tmp_path: Path, zipped: bool) -> None:
    judged = EvaluationSet.open(write_set(tmp_path, zipped=zipped))
    documents = {one.path: one for one in judged.documents()}
    assert documents["a"].title == "Bees"
    assert documents["a"].text == "They find home by the sun."
    assert documents["a"].metadata["lang"] == "en"
    assert documents["b"].title is None
    assert judged.queries() == {"q1": "how do bees find home"}
    assert judged.qrels() == {"q1": {"a": 1}}


def test_a_title_alone_is_a_text_and_nothing_is_none(tmp_path: Path) -> None:
    documents = {one.path: one.text for one in EvaluationSet.open(write_set(tmp_path)).documents()}
    assert documents["c"] == "Only a title"
    assert "d" not in documents


def test_documents_are_read_one_at_a_time(tmp_path: Path) -> None:
    folder = write_set(tmp_path)
    with (folder / "corpus.jsonl").open("a") as corpus:
        corpus.write("not json\n")
    documents = EvaluationSet.open(folder).documents()
    assert next(documents).path == "a"
    with pytest.raises(InvalidArgument, match=r"corpus\.jsonl:5 is not JSON"):
        list(documents)


@pytest.mark.parametrize(
    ("qrels", "expected"),
    [
        ("q1 0 a 2\nq1 0 b 0\n", {"q1": {"a": 2, "b": 0}}),
        ("q1\ta b\t1\n", {"q1": {"a b": 1}}),
        ("query-id\tcorpus-id\tscore\n\nq1\ta\t-1\n", {"q1": {"a": -1}}),
    ],
)
def test_other_spellings_of_judgments(tmp_path: Path, qrels: str, expected: dict[str, dict[str, int]]) -> None:
    assert EvaluationSet.open(write_set(tmp_path, qrels=qrels)).qrels() == expected


def test_judgments_may_lie_in_a_folder(tmp_path: Path) -> None:
    folder = write_set(tmp_path)
    (folder / "qrels").mkdir()
    (folder / "qrels.tsv").rename(folder / "qrels" / "test.tsv")
    assert EvaluationSet.open(folder).qrels() == {"q1": {"a": 1}}


@pytest.mark.parametrize("line", ["q1\ta\tyes\n", "q1\ta\n", "q1\n"])
def test_a_bad_judgment_is_named(tmp_path: Path, line: str) -> None:
    judged = EvaluationSet.open(write_set(tmp_path, qrels="query-id\tcorpus-id\tscore\n" + line))
    with pytest.raises(InvalidArgument, match=r"qrels\.tsv:2 is no judgment"):
        judged.qrels()


@pytest.mark.parametrize("line", ["[1]", '{"text": "no id"}', '{"_id": "", "text": "x"}', '{"_id": "x", "text": 3}'])
def test_a_bad_line_of_the_corpus_is_named(tmp_path: Path, line: str) -> None:
    folder = write_set(tmp_path)
    (folder / "corpus.jsonl").write_text(line + "\n", "utf-8")
    with pytest.raises(InvalidArgument, match=r"corpus\.jsonl:1"):
        list(EvaluationSet.open(folder).documents())


@pytest.mark.parametrize("name", ["queries.jsonl", "qrels.tsv"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (write_set(tmp_path) / name).unlink()
    with pytest.raises(NotFound, match=name) as caught:
        EvaluationSet.open(tmp_path)
    assert "corpus.jsonl" in caught.value.hint


def test_a_set_without_documents_judges_those_of_the_library(tmp_path: Path) -> None:
    folder = write_set(tmp_path)
    assert EvaluationSet.open(folder).has_documents
    (folder / "corpus.jsonl").unlink()
    judged = EvaluationSet.open(folder)
    assert not judged.has_documents
    assert judged.qrels() == {"q1": {"a": 1}}
    with pytest.raises(NotFound, match=r"corpus\.jsonl"):
        list(judged.documents())
