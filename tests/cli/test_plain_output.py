"""What a person reads: no library is told, names cannot forge lines or colors, counts are words."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

EVIL = "ev\nil\t\x1b[31m\x9b2J\u202e\u2028.md"
SHOWN = r"ev\nil\t\x1b[31m\x9b2J\u202e\u2028.md"
READING = (
    ("search", "bees"), ("ask", "bees?"), ("status",), ("documents",), ("show", "a.md"), ("explain", "a.md"),
    ("remove", "a.md"), ("sync",), ("rebuild",), ("index",), ("collection", "list"), ("collection", "remove", "a"),
    ("collection", "rename", "a", "b"), ("tune", "."), ("explain", "-d", "a.md", "bees"),
)  # fmt: skip


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "nowhere"
    folder.mkdir()
    monkeypatch.setenv("LILBEE_DATA_DIR", str(tmp_path / "own"))
    monkeypatch.delenv("LILBEE_LIBRARY", raising=False)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize("command", READING, ids=" ".join)
def test_where_there_is_no_library_that_is_told(lilbee: Run, nowhere: Path, command: tuple[str, ...]) -> None:
    done = lilbee(*command)
    assert (done.code, done.out) == (4, "")
    assert f"there is no library here: neither {nowhere} nor a folder above it is one" in done.err
    assert "lilbee init" in done.err
    assert "lilbee add FOLDER" in done.err
    told = lilbee(*command, "--json").json()["error"]
    assert told["code"] == "library.not_found"
    assert not (nowhere.parent / "own").exists()


def test_the_users_own_library_is_found_from_everywhere(lilbee: Run, nowhere: Path, folder: Path) -> None:
    assert lilbee("add", str(folder)).code == 0
    assert "bees.md" in lilbee("documents").out


@pytest.mark.skipif(sys.platform == "win32", reason="such names exist on POSIX only")
def test_a_name_cannot_forge_a_line_or_a_color(lilbee: Run, folder: Path) -> None:
    (folder / EVIL).write_text("# Head\x1b[31ming\n\nThe zebra grazes.\n", encoding="utf-8")
    (folder / "empty\n\x1b[1m.md").write_bytes(b"")
    here = ("-l", str(folder))
    runs: list[tuple[str, ...]] = [
        ("sync", "-v"), ("search", "zebra"), ("search", "zebra", "--explain"), ("ask", "Where does the zebra graze?"),
        ("documents",), ("status", "--skipped"), ("explain", EVIL), ("explain", "-d", EVIL, "zebra"), ("show", EVIL),
        ("remove", EVIL), ("add", str(folder / EVIL)), ("show", "no\n\x1b[31msuch"),
        ("search", "-c", "no\n\x1b[1m", "a"),
        ("collection", "remove", "no\n\x1b[1m"), ("config", "get", "no\n\x1b[1m"), ("doctor",),
    ]  # fmt: skip
    shown = False
    for arguments in runs:
        done = lilbee(*arguments, *here)
        output = done.out + done.err
        shown = shown or SHOWN in output
        assert not [sign for sign in "\x1b\x9b\u202e\u2028\t" if sign in output], arguments
        assert "\nil" not in output, arguments
    assert shown


def test_json_holds_no_sign_that_a_terminal_obeys(lilbee: Run, folder: Path) -> None:
    (folder / "bees.md").write_text("The zebra \x9b2J\u202e grazes.\n", encoding="utf-8")
    assert lilbee("sync", "-l", str(folder)).code == 0
    done = lilbee("search", "zebra", "--json", "-l", str(folder))
    assert not [sign for sign in "\x1b\x9b\u202e" if sign in done.out]
    assert "\x9b2J\u202e" in json.loads(done.out)["hits"][0]["text"]


def test_one_is_not_told_as_many(lilbee: Run, folder: Path) -> None:
    (folder / "garden" / "plums.txt").unlink()
    done = lilbee("sync", "-v", "-l", str(folder))
    assert "1 added, 0 unchanged (1 chunk," in done.out
    assert "reading 1 file (" in done.err
    assert "  1 chunk\n" in lilbee("documents", "-l", str(folder)).out
    assert "1 document  " in lilbee("collection", "list", "-l", str(folder)).out


def test_hits_that_are_no_answer_show_no_score(lilbee: Run, folder: Path) -> None:
    here = ("-l", str(folder))
    lilbee("sync", *here)
    found = lilbee("search", "queen lays eggs in spring", *here)
    assert "1.000" in found.out
    told = json.loads(lilbee("search", "plum price of crude oil futures", "--json", *here).out)
    assert not told["found"]
    shown = lilbee("search", "plum price of crude oil futures", *here)
    assert "1.000" not in shown.out
    assert "  weak" in shown.out
    assert "None of these looks like an answer" in shown.err


def test_a_stopped_server_is_not_asked_to_go_on(
    lilbee: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from lilbee_cli.main import stopped

    assert (stopped(serving=True), capsys.readouterr().err) == (130, "stopped\n")
    assert (stopped(), "run the command again" in capsys.readouterr().err) == (130, True)


def test_the_last_lines_of_a_server_are_lines(capsys: pytest.CaptureFixture[str]) -> None:
    from lilbee_cli.failures import fail
    from lilbee_core.fleet._failing import exited

    error = exited("chat-0", 1, "0.00.001 I loading model\nllama_model_load: error loading model: no such tensor\n")
    assert fail(error, 1, as_json=False) == 1
    assert capsys.readouterr().err.splitlines() == [
        "error: the server chat-0 ended while it loaded (code 1): the model file cannot be used. Its last lines:",
        "    loading model",
        "    llama_model_load: error loading model: no such tensor",
        f"  {error.hint}",
    ]
