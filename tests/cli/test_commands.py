"""Every command: what it prints, as text and as JSON, and its exit code (R007, R233, R235, R236, R240)."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lilbee_cli.main import COMMANDS
from tests.cli.conftest import Run


def test_help_names_every_command_and_the_siblings(lilbee: Run) -> None:
    shown = lilbee("--help").out
    for name in (*COMMANDS, "serve", "open", "mcp"):
        assert f"\n  {name} " in shown
    assert lilbee().out == shown


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_has_help(lilbee: Run, name: str) -> None:
    shown = lilbee(name, "--help")
    assert shown.code == 0
    assert "Usage: lilbee " + name in shown.out


def test_init_makes_a_library_of_the_users_own(lilbee: Run, folder: Path) -> None:
    value = lilbee("init", str(folder), "--json").json()
    assert value["root"] == str(folder)
    assert len(value["library_id"]) == 32
    assert lilbee("init", str(folder), "--json").json()["library_id"] == value["library_id"]
    assert (folder / ".lilbee" / ".gitignore").read_text(encoding="utf-8") == "*\n"


def test_sync_reports_every_count(lilbee: Run, folder: Path) -> None:
    lilbee("init", str(folder))
    value = lilbee("sync", "--json").json()
    assert (value["added"], value["updated"], value["removed"], value["moved"], value["unchanged"]) == (2, 0, 0, 0, 0)
    assert set(value) >= {"failed", "skipped", "chunks", "embedded", "seconds"}
    (folder / "bees.md").write_text("Drones do not sting.\n", encoding="utf-8")
    again = lilbee("sync", "--json").json()
    assert (again["updated"], again["unchanged"]) == (1, 1)


def test_progress_goes_to_stderr_and_quiet_is_quiet(lilbee: Run, folder: Path) -> None:
    lilbee("init", str(folder))
    loud = lilbee("sync")
    assert "reading 2 files" in loud.err
    assert loud.out.startswith("2 added, 0 unchanged")
    (folder / "new.md").write_text("new\n", encoding="utf-8")
    assert lilbee("sync", "--quiet").err == ""


def test_dry_run_changes_nothing(synced: Run, folder: Path) -> None:
    (folder / "new.md").write_text("The heron stands still.\n", encoding="utf-8")
    value = synced("sync", "--dry-run", "--json").json()
    assert (value["added"], value["dry_run"]) == (1, True)
    assert synced("search", "heron", "--json").json()["hits"] == []


def test_a_file_that_failed_is_exit_code_3(synced: Run, folder: Path) -> None:
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 nothing of the kind")
    outcome = synced("sync", "--json")
    assert outcome.code == 3
    (failed,) = outcome.json()["failed"]
    assert failed["path"] == "broken.pdf"
    assert failed["code"].startswith("extract.")
    assert synced("sync").code == 0, "an old failure is not a failure of this run"
    assert "broken.pdf" in synced("status").out


def test_search_shows_place_heading_and_marked_words(synced: Run) -> None:
    outcome = synced("search", "damsons")
    assert outcome.code == 0
    assert "garden/plums.txt:1-3" in outcome.out
    assert "**damsons**" in outcome.out


def test_search_fields(synced: Run) -> None:
    value = synced("search", "queen", "--json").json()
    assert set(value) == {"query", "hits", "timings_ms", "found", "warnings"}
    hit = value["hits"][0]
    assert set(hit) >= {
        "rank", "score", "document_id", "chunk_id", "collection", "path", "text", "line_start", "line_end",
        "page_start", "page_end", "heading", "symbol", "scores", "stale",
    }  # fmt: skip
    assert (hit["rank"], hit["path"], hit["heading"], hit["line_start"]) == (1, "bees.md", "Bees", 4)
    assert hit["text"] in Path("bees.md").read_text(encoding="utf-8")


def test_filters_as_options(synced: Run) -> None:
    value = synced("search", "the", "--path", "garden/", "--json").json()
    assert {hit["path"] for hit in value["hits"]} == {"garden/plums.txt"}


def test_nothing_found_is_no_failure(synced: Run) -> None:
    outcome = synced("search", "xylophone")
    assert (outcome.code, outcome.out) == (0, "Nothing found.\n")


def test_explain_option_shows_the_stages(synced: Run) -> None:
    assert "lexical" in synced("search", "queen", "--explain").out
    assert synced("search", "queen", "--explain", "--json").json()["trace"][0]["name"] == "parse"


def test_relevance_alone_on_demand(synced: Run) -> None:
    def note(*options: str) -> str:
        trace = synced("search", "queen eggs", "--explain", "--json", *options).json()["trace"]
        return {one["name"]: one["note"] for one in trace}["cap"]

    assert note() == ""
    assert note("--no-diversify") == "relevance alone"


def test_explain_says_where_a_document_stands(synced: Run) -> None:
    found = synced("explain", "--document", "bees.md", "queen", "eggs")
    assert found.code == 0
    assert "bees.md: it is hit 1" in found.out
    assert "by words: rank 1" in found.out
    other = synced("explain", "-d", "garden/plums.txt", "queen eggs", "-k", "1", "-p", "keyword", "--json").json()
    assert (other["verdict"], other["standings"][0]["score"]) == ("not_ranked", None)
    assert "not in the index" in synced("explain", "-d", "nowhere.md", "queen").out


def test_explain_takes_one_path_or_a_document_and_a_query(synced: Run) -> None:
    outcome = synced("explain", "bees.md", "garden/plums.txt")
    assert outcome.code == 2
    assert "--document" in outcome.err


def test_ask_answers_with_citations(synced: Run) -> None:
    outcome = synced("ask", "When does the queen lay eggs?")
    assert "The queen lays eggs in spring." in outcome.out
    assert "[1] bees.md:6" in outcome.out
    value = synced("ask", "When does the queen lay eggs?", "--json").json()
    assert value["found"] is True
    assert value["model"] is None
    citation = value["citations"][0]
    assert set(citation) >= {"marker", "path", "line_start", "line_end", "page_start", "quote", "verdict"}
    assert citation["verdict"] == "supported"


def test_ask_says_when_there_is_nothing(synced: Run) -> None:
    outcome = synced("ask", "Who won the chess final on Mars?", "--json")
    assert outcome.code == 0
    assert outcome.json()["found"] is False
    assert outcome.json()["citations"] == []


def test_show_whole_and_in_part(synced: Run) -> None:
    assert synced("show", "garden/plums.txt").out == "line one\nThe plum tree bears damsons.\nline three\n"
    assert synced("show", "garden/plums.txt:2").out == "The plum tree bears damsons.\n"
    assert synced("show", "garden/plums.txt", "--lines", "2-3").out.endswith("line three\n")
    numbered = synced("show", "garden/plums.txt:2", "--numbers").out
    assert numbered == "     2  The plum tree bears damsons.\n"
    assert synced("show", "garden/plums.txt:2", "--json").json()["line_start"] == 2


def test_show_finds_a_file_whose_name_looks_like_a_place(synced: Run, folder: Path) -> None:
    if os.name != "posix":
        pytest.skip("a colon is not allowed in a file name here")
    (folder / "clock:12").write_text("noon\n", encoding="utf-8")
    synced("sync")
    assert synced("show", "clock:12").out == "noon\n"


@pytest.mark.parametrize("place", ["garden/plums.txt:99", "bees.md#page=3"])
def test_show_outside_is_a_usage_error(synced: Run, place: str) -> None:
    outcome = synced("show", place)
    assert outcome.code == 2
    assert "Traceback" not in outcome.err


def test_documents_and_states(synced: Run) -> None:
    rows = synced("documents", "--json").json()["documents"]
    assert [(row["path"], row["state"]) for row in rows] == [("bees.md", "indexed"), ("garden/plums.txt", "indexed")]
    assert rows[0]["title"] == "On bees"
    assert synced("documents", "--state", "failed", "--json").json() == {"documents": []}
    assert synced("documents", "--state", "nonsense").code == 2
    assert len(synced("documents", "--limit", "1").out.splitlines()) == 1


def test_remove_keeps_out_until_add(synced: Run) -> None:
    assert synced("remove", "garden/plums.txt", "--json").json() == {"removed": ["notes/garden/plums.txt"]}
    assert synced("sync", "--json").json()["added"] == 0
    assert synced("search", "damsons", "--json").json()["hits"] == []
    assert synced("explain", "garden/plums.txt", "--json").json()["state"] == "excluded"
    assert synced("add", "garden/plums.txt", "--json").json()["added"] == 1
    assert len(synced("search", "damsons", "--json").json()["hits"]) == 1


def test_explain_names_the_rule(synced: Run, folder: Path) -> None:
    (folder / ".gitignore").write_text("*.log\n", encoding="utf-8")
    (folder / "x.log").write_text("x\n", encoding="utf-8")
    report = synced("explain", "x.log", "--json").json()
    assert (report["state"], report["code"]) == ("skipped", "ignored")
    assert "*.log" in report["rule"]
    assert "*.log (.gitignore)" in synced("explain", "x.log").out


def test_status(synced: Run) -> None:
    value = synced("status", "--json").json()
    assert value["documents"]["indexed"] == 2
    assert value["chunks"] == 2
    assert value["embedder"] is None
    assert value["size_bytes"] > 0
    assert "words only" in synced("status").out


def test_status_lists_what_was_skipped(synced: Run, folder: Path) -> None:
    (folder / ".lilbeeignore").write_text("secret.md\n", encoding="utf-8")
    (folder / "secret.md").write_text("hush\n", encoding="utf-8")
    synced("sync")
    assert "secret.md" in synced("status", "--skipped").out
    assert any(row["path"] == "secret.md" for row in synced("status", "--skipped", "--json").json()["skipped"])


def test_collections(synced: Run, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.md").write_text("The osprey dives.\n", encoding="utf-8")
    assert synced("collection", "add", str(other), "--name", "birds", "--json").json()["name"] == "birds"
    synced("sync")
    assert [one["name"] for one in synced("collection", "list", "--json").json()["collections"]] == ["notes", "birds"]
    hits = synced("search", "osprey", "-c", "birds", "--json").json()["hits"]
    assert hits[0]["collection"] == "birds"
    synced("collection", "rename", "birds", "raptors")
    assert synced("search", "osprey", "--json").json()["hits"][0]["collection"] == "raptors"
    assert synced("sync", "--json").json()["unchanged"] == 3
    assert synced("collection", "remove", "raptors", "--json").json()["removed"] == 1
    assert synced("search", "osprey", "--json").json()["hits"] == []
    assert synced("collection", "remove", "raptors").code == 4
    last = synced("collection", "remove", "notes")
    assert last.code == 2
    assert "the only collection" in last.err


def test_add_a_folder_and_a_file_from_elsewhere(synced: Run, tmp_path: Path) -> None:
    other = tmp_path / "other [1]"
    other.mkdir()
    (other / "a#b.md").write_text("The osprey dives.\n", encoding="utf-8")
    (other / "c.md").write_text("The heron waits.\n", encoding="utf-8")
    assert synced("add", str(other / "a#b.md"), "--json").json()["added"] == 1
    assert synced("search", "heron", "--json").json()["hits"] == []
    assert synced("add", str(other), "--json").json()["added"] == 2
    assert (other / ".lilbee").exists() is False


def test_rebuild(synced: Run) -> None:
    assert synced("rebuild", "--json").code == 0
    assert len(synced("search", "damsons", "--json").json()["hits"]) == 1


def test_index_without_vectors_says_what_to_do(synced: Run) -> None:
    refused = synced("index")
    assert refused.code != 0
    assert "no vectors" in refused.err
    assert "embedding model" in refused.err


def test_index_is_built_on_request(lilbee: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "auto")
    assert lilbee("init", str(folder)).code == 0
    assert lilbee("sync").code == 0
    found = lilbee("index", "--json").json()
    assert found["vectors"] == 2
    assert found["recall"] == 1
    assert "2 vectors indexed" in lilbee("index").out
    assert lilbee("search", "vec: fruit on a tree", "--json").json()["hits"][0]["path"] == "garden/plums.txt"


def test_config(synced: Run) -> None:
    assert synced("config", "get", "top_k").out == "10\n"
    assert synced("config", "set", "top_k", "1").code == 0
    assert synced("config", "get", "top_k", "--json").json() == {"name": "top_k", "value": 1, "origin": "library"}
    assert len(synced("search", "the", "--json").json()["hits"]) == 1
    assert synced("config", "unset", "top_k").code == 0
    assert synced("config", "--json").json()["settings"]["top_k"] == {"value": 10, "origin": "default"}
    bad = synced("config", "set", "top_k", "many")
    assert bad.code == 2
    assert "top_k" in bad.err
    near = synced("config", "set", "topk", "3")
    assert (near.code, "Did you mean top_k?" in near.err) == (2, True)


def test_keys_go_to_the_users_own_file_and_are_never_shown(synced: Run, folder: Path, tmp_path: Path) -> None:
    synced("config", "set", "openai_api_key", "sk-very-secret")
    assert "sk-very-secret" not in (folder / ".lilbee" / "config.toml").read_text(encoding="utf-8")
    assert "sk-very-secret" in (tmp_path / "config" / "config.toml").read_text(encoding="utf-8")
    for command in (["config"], ["config", "--json"], ["config", "get", "openai_api_key"]):
        assert "sk-very-secret" not in synced(*command).out


def test_doctor_plugins_version_completion(synced: Run) -> None:
    assert synced("doctor", "--json").json()["ok"] is True
    assert any(one["builtin"] for one in synced("plugins", "--json").json()["plugins"])
    assert synced("version", "--json").json()["lilbee-core"]
    for shell in ("bash", "zsh", "fish"):
        assert "_LILBEE_COMPLETE" in synced("completion", shell).out


def test_a_foreign_library_is_not_obeyed_until_trusted(synced: Run, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    import shutil

    shutil.copytree(folder, copy)
    config = copy / ".lilbee" / "config.toml"
    config.write_text(
        config.read_text(encoding="utf-8") + 'openai_base_url = "http://evil.example/v1"\n', encoding="utf-8"
    )
    told = synced("status", "--library", str(copy))
    assert "openai_base_url" in told.err
    assert synced("config", "get", "openai_base_url", "--library", str(copy)).out.strip() == ""
    assert synced("trust", "--library", str(copy)).code == 0
    assert "evil.example" in synced("config", "get", "openai_base_url", "--library", str(copy)).out


def test_a_folder_that_was_renamed_is_the_same_library(
    synced: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert synced("remove", "garden/plums.txt").code == 0
    moved = folder.parent / "papers"
    monkeypatch.chdir(folder.parent)
    folder.rename(moved)
    report = synced("sync", "--library", str(moved), "--json").json()
    assert (report["added"], report["removed"], report["unchanged"]) == (0, 0, 1)
    rows = synced("documents", "--library", str(moved), "--json").json()
    found = rows["documents"] if isinstance(rows, dict) else rows
    assert {(row["collection"], row["path"], row["state"]) for row in found} == {
        ("notes", "bees.md", "indexed"),
        ("notes", "garden/plums.txt", "excluded"),
    }
