"""`lilbee eval` (R190)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lilbee_cli.main import run

CORPUS = {"a": "Bees find home by the sun.", "b": "Wax is made of honey.", "c": "A swarm hangs in a tree."}


@pytest.fixture(autouse=True)
def words_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "set"
    made.mkdir()
    corpus = "".join(json.dumps({"_id": name, "title": "", "text": text}) + "\n" for name, text in CORPUS.items())
    (made / "corpus.jsonl").write_text(corpus, "utf-8")
    queries = {"q1": "how do bees find home", "q2": "what is wax made of"}
    lines = "".join(json.dumps({"_id": name, "text": text}) + "\n" for name, text in queries.items())
    (made / "queries.jsonl").write_text(lines, "utf-8")
    (made / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tb\t1\n", "utf-8")
    return made


def told(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    said: dict[str, Any] = json.loads(capsys.readouterr().out)
    return said


def test_json_and_the_run_file(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_file = tmp_path / "run.tsv"
    assert run(["eval", str(folder), "--json", "--profile", "keyword", "--run-file", str(run_file)]) == 0
    said = told(capsys)
    figures = {"ndcg@10", "recall@10", "recall@100", "mrr@10", "success@5", "latency_ms"}
    assert figures | {"documents", "chunks", "queries"} <= said.keys()
    assert said["ndcg@10"] == said["success@5"] == 1
    assert (said["documents"], said["queries"], said["profile"]) == (3, 2, "keyword")
    assert run_file.read_text("utf-8").startswith("q1\ta\t")


def test_a_named_library_is_kept_and_not_indexed_again(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["eval", str(folder), "--json", "--library", str(tmp_path / "kept")]
    assert run(command) == 0
    first = told(capsys)
    assert run([*command, "--limit", "1"]) == 0
    second = told(capsys)
    assert (first["queries"], second["queries"]) == (2, 1)
    assert first["chunks"] == second["chunks"]
    assert (tmp_path / "kept" / ".lilbee" / "index").is_dir()


def test_without_a_library_nothing_is_left_behind(folder: Path, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    assert run(["eval", str(folder), "--json"]) == 0
    assert not [one for one in set(tmp_path.iterdir()) - before if one.name.startswith("lilbee-eval")]


def test_several_profiles_side_by_side(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", str(folder), "-p", "keyword", "-p", "default", "--quiet"]) == 0
    lines = {line.split()[0]: line.split()[1:] for line in capsys.readouterr().out.splitlines()}
    assert lines["profile"] == ["keyword", "default"]
    assert lines["ndcg@10"] == ["1.0000", "1.0000"]


def test_profiles_compared_query_by_query(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["eval", str(folder), "--compare", "keyword, default", "--split"]
    assert run([*command, "--json"]) == 0
    said = told(capsys)
    assert [one["profile"] for one in said["reports"]] == ["keyword", "default"]
    assert said["reports"][0]["intervals"]["ndcg@10"] == [1, 1]
    (pair,) = said["comparisons"]
    assert (pair["base"], pair["profile"], pair["queries"]) == ("keyword", "default", 2)
    assert pair["metrics"]["ndcg@10"] == {
        "difference": 0, "interval": [0, 0], "wins": 0, "ties": 2, "losses": 0, "p": 1,
    }  # fmt: skip
    assert pair["held_out"]["queries"] == said["reports"][0]["held_out"]["queries"] == 1
    assert run([*command, "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "default against keyword, 2 queries" in out
    assert "0 / 2 / 0" in out
    assert "held-out half, 1 queries" in out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--compare", "keyword"], 2),
        (["--compare", "keyword,nowhere"], 2),
        (["--compare", "keyword,default", "-p", "default"], 2),
        (["--compare", "keyword,default", "--run-file", "x"], 2),
        (["--limit", "0"], 2),
        (["--profile", "none such"], 2),
        (["-p", "keyword", "-p", "default", "--run-file", "x"], 2),
    ],
)
def test_bad_options(folder: Path, arguments: list[str], code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", str(folder), "--json", *arguments]) == code
    assert told(capsys)["error"]["message"]


def test_a_folder_that_is_no_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["eval", str(tmp_path), "--json"]) == 4
    assert "corpus.jsonl" in told(capsys)["error"]["message"]


def test_a_judged_document_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "qrels.tsv").open("a") as qrels:
        qrels.write("q1\tnowhere\t1\n")
    assert run(["eval", str(folder), "--json"]) == 4
    assert "nowhere" in told(capsys)["error"]["message"]
