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
    error = told(capsys)["error"]
    assert "queries.jsonl" in error["message"]
    assert "corpus.jsonl" in error["hint"]


def test_a_judged_document_that_is_not_there(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / "qrels.tsv").open("a") as qrels:
        qrels.write("q1\tnowhere\t1\n")
    assert run(["eval", str(folder), "--json"]) == 4
    assert "nowhere" in told(capsys)["error"]["message"]


@pytest.fixture
def own(tmp_path: Path) -> list[str]:
    """Options that name a library of many short files."""
    library = tmp_path / "own"
    library.mkdir()
    for number in range(40):
        text = f"Hive {number} was moved to row {number % 9}. The others stay where they are."
        (library / f"{number}.txt").write_text(text, "utf-8")
    options = ["--library", str(library)]
    assert run(["init", *options, "--quiet"]) == 0
    assert run(["sync", *options, "--quiet"]) == 0
    return options


@pytest.mark.slow
def test_a_drafted_set_is_measured_and_tuned_on_the_library_it_comes_from(
    own: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    drafts = str(tmp_path / "drafts")
    capsys.readouterr()
    assert run(["eval", drafts, "--draft", "--limit", "30", *own]) == 0
    out = capsys.readouterr().out
    assert "30 queries drafted" in out
    assert "word search looks better than it is" in out
    assert run(["eval", drafts, "--draft", *own]) == 2
    assert "there already" in capsys.readouterr().err
    assert run(["eval", drafts, "--json", *own]) == 0
    captured = capsys.readouterr()
    assert "30 of 30 queries are drafts" in captured.err
    assert json.loads(captured.out)["queries"] == 30
    assert run(["tune", drafts, "--json", *own]) == 0
    said = told(capsys)
    assert said["name"] == "tuned"
    assert said["held_out"]["queries"] + said["fitted"]["queries"] == 30
    assert run(["tune", drafts, "--quiet", *own]) == 0
    assert "nothing is written" in capsys.readouterr().out


def test_a_profile_of_the_configuration_is_used_and_forgotten(
    own: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    config = Path(own[1]) / ".lilbee" / "config.toml"
    config.write_text(config.read_text("utf-8") + "\n[profiles.mine]\nfusion_dense_weight = 0.9\n", "utf-8")
    capsys.readouterr()
    assert run(["search", "hive 7", "--profile", "mine", "--json", *own]) == 0
    monkeypatch.setenv("LILBEE_PROFILE", "mine")
    assert run(["search", "hive 7", "--json", *own]) == 0
    monkeypatch.delenv("LILBEE_PROFILE")
    capsys.readouterr()
    assert run(["tune", "--forget", "mine", "--json", *own]) == 0
    assert told(capsys) == {"forgotten": "mine"}
    assert "mine" not in config.read_text("utf-8")
    assert run(["search", "hive 7", "--profile", "mine", *own]) == 2
    assert run(["tune", "--forget", "mine", *own]) == 2
    assert "names no profile" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["x", "--forget", "y"]])
def test_tune_takes_a_folder_or_a_name_to_forget(
    own: list[str], arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["tune", *arguments, *own]) == 2
    assert "FOLDER" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("[profiles.default]", "built in"),
        ("[profiles.mine]\nfusion_dense_wait = 1", "fusion_dense_weight"),
        ("[profiles.mine]\ntop_k = 3", "top_k"),
        ("[profiles.mine]\nmax_distance = -1", "max_distance"),
        ("profiles = 3", "one table per profile"),
    ],
)
def test_profiles_that_cannot_be(own: list[str], lines: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    config = Path(own[1]) / ".lilbee" / "config.toml"
    config.write_text(f"{lines}\n" if "=" in lines and lines[0] != "[" else config.read_text("utf-8") + f"\n{lines}\n")
    assert run(["search", "hive", *own]) == 2
    assert said in capsys.readouterr().err
