"""The runner itself: what is wrong is noticed, named, and told apart from what is only wished."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.errors import StoreError
from tests.cases._case import Case, Findings, load_cases, numbered
from tests.cases._errors import kind_of, unclean
from tests.cases._missing import OWN, UNKEPT, why_skipped
from tests.cases._run import run_case
from tests.cases._world import World

ROOT = Path(__file__).parents[2]
FILES: list[dict[str, Any]] = [
    {"do": "write", "as": "a.md", "text": "# Bees\n\nThe heron stands by the weir.\n"},
    {"do": "write", "as": "b.md", "text": "The godwit rests on the sandbank.\n"},
    {"do": "write", "as": "empty.docx", "text": "not a document"},
]


def a_case(*steps: dict[str, Any], needs: tuple[str, ...] = ()) -> Case:
    return Case(id="X01", kind="made.up", needs=needs, story="", steps=steps, folder=Path("nowhere"))


def run(tmp_path: Path, *steps: dict[str, Any]) -> Findings:
    return run_case(a_case(*steps), World(tmp_path, Path("nowhere")))


WRONG: list[tuple[dict[str, Any], str, Any]] = [
    ({"do": "sync"}, "added", 3),
    ({"do": "sync"}, "updated", 1),
    ({"do": "sync"}, "removed", 1),
    ({"do": "sync"}, "unchanged", 1),
    ({"do": "sync"}, "failed", []),
    ({"do": "sync"}, "failed", [{"path": "empty.docx", "error": "encrypted_document"}]),
    ({"do": "sync"}, "failed", [{"path": "b.md", "error": "damaged_document"}]),
    ({"do": "sync"}, "embedded_chunks_at_most", 1),
    ({"do": "sync"}, "finishes_within_s", 0),
    ({"do": "sync"}, "peak_extra_mb_at_most", -1),
    ({"do": "sync"}, "error", "busy"),
    ({"do": "sync"}, "mixed_models", True),
    ({"do": "search", "q": "heron"}, "must_include", [{"path": "b.md", "rank_at_most": 1}]),
    ({"do": "search", "q": "heron", "mode": "keyword"}, "must_include", [{"path": "a.md", "count": 2}]),
    ({"do": "search", "q": "heron"}, "must_include", [{"path": "a.md", "text": "godwit"}]),
    ({"do": "search", "q": "heron"}, "must_include", [{"path": "a.md", "page": 1}]),
    ({"do": "search", "q": "heron"}, "must_include", [{"path": "a.md", "lines_cover": [3, 9]}]),
    ({"do": "search", "q": "heron"}, "must_include", [{"path": "a.md", "lines_start": 4}]),
    ({"do": "search", "q": "heron"}, "must_include", [{"path": "a.md", "section": "Birds"}]),
    ({"do": "search", "q": "heron"}, "must_include", [{"path": "a.md", "member": "x"}]),
    ({"do": "search", "q": "heron"}, "must_include", [{"path": "a.md", "count_at_least": 2}]),
    ({"do": "search", "q": "heron"}, "must_not", [{"text": "heron"}]),
    ({"do": "search", "q": "heron"}, "hits_at_most", 0),
    ({"do": "search", "q": "heron"}, "hits_at_least", 99),
    ({"do": "search", "q": "heron"}, "error", "empty_query"),
    ({"do": "search", "q": " "}, "error", None),
    ({"do": "search", "q": " "}, "must_include", [{"path": "a.md"}]),
    ({"do": "search", "q": " "}, "says", ["rebuild"]),
    ({"do": "search", "q": "heron"}, "range", ["2026-03-01T00:00:00+01:00", "2026-03-02T00:00:00+01:00"]),
    ({"do": "get_text", "path": "a.md"}, "must_include", ["godwit"]),
    ({"do": "get_text", "path": "a.md", "lines": [3, 3]}, "must_include", ["Bees"]),
    ({"do": "get_text", "path": "a.md"}, "must_not", ["by the weir"]),
    ({"do": "list_files"}, "exactly", ["a.md"]),
    ({"do": "list_files"}, "exactly", ["a.md", "b.md", "c.md"]),
    ({"do": "list_files"}, "must_include", ["c.md"]),
    ({"do": "list_skipped"}, "must_include", ["a.md"]),
    ({"do": "status"}, "files", 3),
    ({"do": "status"}, "failed_files", []),
    ({"do": "status"}, "chunks_at_most", 1),
    ({"do": "status"}, "mixed_models", True),
    ({"do": "disk"}, "must_not_exist", ["a.md"]),
    ({"do": "logs_and_index_files"}, "must_not", ["library_id"]),
    ({"do": "ask", "q": "Where is the heron?", "model_says": "By the weir [1][9]."}, "cited_count", 2),
    ({"do": "ask", "q": "Where is the heron?", "model_says": "By the weir [1]."}, "must_not", ["weir"]),
    ({"do": "ask", "q": "Where is the heron?", "model_says": "By the weir [1]."}, "must_include", ["sandbank"]),
    (
        {"do": "ask", "q": "Where is the heron?", "model_says": "By the weir [1]."},
        "sources_listed_as",
        "given, not cited",
    ),
    ({"do": "ask", "q": "Where is the heron?", "model_says": "By the weir [1]."}, "says_not_found", True),
    ({"do": "ask", "q": "Where is the heron?", "model_says": "By the weir [1]."}, "prompt_tokens_at_most", 10),
    ({"do": "ask", "q": "Where is the heron?", "model_says": "By the weir [1]."}, "dropped_passages_reported", True),
    ({"do": "ask", "q": "Where is the heron?", "model_says": "By the weir [1]."}, "writing_tools_offered", 1),
    ({"do": "ask", "q": "Where is the heron?", "model_fails": "gone"}, "must_include", ["weir"]),
]


@pytest.mark.slow
def test_every_expectation_of_a_sync_can_fail_and_says_so(tmp_path: Path) -> None:
    for at, (step, name, wanted) in enumerate(one for one in WRONG if one[0]["do"] == "sync"):
        world = World(tmp_path / str(at), Path("nowhere"))
        findings = run_case(a_case(*FILES, {**step, "expect": {name: wanted}}), world)
        assert len(findings.failures) == 1, f"{step} {name} {wanted}: {findings.failures}"
        assert_told(findings.failures[0], len(FILES) + 1, "sync", name)


@pytest.mark.slow
def test_every_other_expectation_can_fail_and_says_so(tmp_path: Path) -> None:
    wrong = [one for one in WRONG if one[0]["do"] != "sync"]
    asked = [{**step, "expect": {name: wanted}} for step, name, wanted in wrong]
    findings = run(tmp_path, *FILES, {"do": "sync"}, *asked)
    assert len(findings.failures) == len(wrong), findings.failures
    for number, (line, (step, name, _)) in enumerate(zip(findings.failures, wrong, strict=True), len(FILES) + 2):
        assert_told(line, number, step["do"], name)


def assert_told(line: str, number: int, do: str, name: str) -> None:
    assert line.startswith(f"X01 step {number} ({do}"), line
    assert f"{name}: wanted " in line, line
    assert ", came " in line, line


@pytest.mark.slow
def test_the_same_as_wishes_fails_nothing(tmp_path: Path) -> None:
    wishes = {"hits_at_most": 0, "must_not": [{"path": "a.md"}]}
    search = {"do": "search", "q": "heron", "expect": {"should": wishes}}
    findings = run(tmp_path, *FILES, {"do": "sync", "expect": {"should": {"error": "busy"}}}, search)
    assert findings.failures == []
    assert [line.split(":")[1].strip() for line in findings.wishes] == ["error", "hits_at_most", "must_not"]


@pytest.mark.slow
def test_what_holds_is_not_complained_of(tmp_path: Path) -> None:
    findings = run(
        tmp_path,
        *FILES,
        {"do": "sync", "expect": {"added": 2, "failed": [{"path": "empty.docx", "error": "damaged_document"}]}},
        {"do": "repeat", "n": 2, "steps": [{"do": "write", "as": "n{i:02}.md", "text": "Note {i} {x}\n"}]},
        {"do": "sync", "expect": {"added": 2, "unchanged": 2, "failed": [], "embedded_chunks_at_most": 2}},
        {"do": "get_text", "path": "n01.md", "expect": {"must_include": ["Note 1 {x}"]}},
        {"do": "status", "expect": {"rows_same_as_fresh_index": True, "orphan_rows": 0, "files": 4}},
        {"do": "graph", "expect": {"must_not": [{"source": "gone.md"}]}},
    )
    assert findings.failures == []


@pytest.mark.slow
def test_processes_work_on_one_library_and_tell_their_failures(tmp_path: Path) -> None:
    search = {"do": "search", "q": "heron", "mode": "keyword", "expect": {"must_include": [{"path": "a.md"}]}}
    wrong = {"do": "search", "q": "heron", "mode": "keyword", "expect": {"hits_at_most": 0}}
    parallel = {"do": "parallel", "processes": [[{"do": "sync"}, search], [{"do": "sync"}, wrong]]}
    findings = run(tmp_path, *FILES, parallel, {"do": "sync", "expect": {"unchanged": 2, "added": 0}})
    assert len(findings.failures) == 1
    assert re.search(r"X01 step 4 .*process 1.* step 2 .*hits_at_most", findings.failures[0])


@pytest.mark.slow
def test_a_sync_that_was_done_before_the_signal_is_noticed(tmp_path: Path) -> None:
    step = {"do": "sync_and_kill", "after_files": 99, "signal": "INT", "expect": {"ends_within_s": 60}}
    findings = run(tmp_path, *FILES, step)
    assert len(findings.failures) == 1
    assert "it was done before" in findings.failures[0]


def test_what_the_runner_does_not_know_is_a_crash_and_no_pass(tmp_path: Path) -> None:
    for step in ({"do": "dance"}, {"do": "list_files", "expect": {"colour": "blue"}}):
        findings = run(tmp_path, step)
        assert len(findings.failures) == 1
        assert "KeyError" in findings.failures[0]


def test_a_case_cannot_leave_its_folder(tmp_path: Path) -> None:
    for name in ("../../x.md", "/x.md", "a/../../../x.md"):
        findings = run(tmp_path / "case", {"do": "write", "as": name, "text": ""})
        assert "outside" in findings.failures[0]
    assert not (tmp_path / "x.md").exists()


def test_what_is_not_there_yet_is_a_reason_to_skip() -> None:
    assert why_skipped(a_case({"do": "sync"})) is None
    assert "http" in str(why_skipped(a_case({"do": "repeat", "n": 1, "steps": [{"do": "http"}]})))
    assert "unknown need" in str(why_skipped(a_case(needs=("magic",))))
    assert why_skipped(a_case({"do": "graph", "expect": {"nodes": 0}})) is None


def test_our_own_cases_are_whole() -> None:
    cases = load_cases(OWN)
    assert [case.id for case in cases] == [f"S{number:02}" for number in range(1, 42)]
    assert set(UNKEPT) <= {case.id for case in cases}
    files = [case.folder / step["file"] for case in cases for step in case.steps if "file" in step]
    assert all(one.is_file() for one in files)


def test_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cases.json").write_text('{"format": 2, "cases": []}', "utf-8")
    with pytest.raises(ValueError, match="format 2"):
        load_cases(tmp_path)


def test_numbers_are_put_into_every_text() -> None:
    step = {"as": "n{i:02}.md", "deep": [{"text": "{i} of {j} {"}], "n": 3}
    assert numbered(step, 7) == {"as": "n07.md", "deep": [{"text": "7 of {j} {"}], "n": 3}


def test_kinds_of_errors() -> None:
    assert kind_of("extract.no_text") == "no_text"
    assert kind_of("something.new") == "something.new"


@pytest.mark.parametrize("message", ["", "two\nlines", "lance error: LanceError(IO)", "not enough rows to train"])
def test_messages_that_tell_people_nothing(message: str) -> None:
    assert unclean(StoreError(message)) is not None


def test_a_plain_message_is_clean() -> None:
    assert unclean(StoreError("notes.md cannot be read: permission denied")) is None


@pytest.mark.slow
@pytest.mark.parametrize("how", ["option", "variable"])
def test_any_folder_of_cases_can_be_run(tmp_path: Path, how: str) -> None:
    steps = [*FILES, {"do": "sync", "expect": {"added": 7, "should": {"unchanged": 5}}}]
    case = {"id": "Z9", "kind": "made.up", "needs": [], "story": "A story.", "steps": steps}
    (tmp_path / "cases.json").write_text(json.dumps({"format": 1, "cases": [case]}), "utf-8")
    options = ["--cases-dir", str(tmp_path)] if how == "option" else []
    env = {**os.environ, **({"LILBEE_CASES_DIR": str(tmp_path)} if how == "variable" else {})}
    command = [sys.executable, "-m", "pytest", "tests/cases/test_cases.py", "-q", "-p", "no:cacheprovider", *options]
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout
    assert "Z9 step 4 (sync): added: wanted 7, came 2" in done.stdout
    assert "cases: wanted, not promised" in done.stdout
    assert "Z9 step 4 (sync): unchanged: wanted 5, came 0" in done.stdout
