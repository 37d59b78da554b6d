"""What goes wrong: a clear message, a hint, the right exit code, and JSON where it was asked for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("search", ""), 2, "search.empty_query"),
        (("search", "  \n"), 2, "search.empty_query"),
        (("ask", " "), 2, "search.empty_query"),
        (("search", "queen", "--top", "0"), 2, "argument.invalid"),
        (("search", "queen", "--profile", "nonsense"), 2, "argument.invalid"),
        (("search", "--nonsense", "queen"), 2, "usage"),
        (("nonsense",), 2, "usage"),
        (("show", "nothing.md"), 4, "library.not_found"),
        (("remove", "nothing.md"), 4, "library.not_found"),
        (("add", "nothing.md"), 4, "library.not_found"),
        (("add", "ftp://example.org/x"), 1, "crawl.blocked_address"),
        (("sync", "nocollection"), 4, "library.not_found"),
        (("status", "--library", "/no/such/folder"), 4, "library.not_found"),
        (("config", "get", "nonsense"), 2, "settings.unknown"),
    ],
)
def test_errors(synced: Run, arguments: tuple[str, ...], code: int, error: str) -> None:
    as_json = synced(*arguments, "--json")
    assert as_json.code == code
    value = as_json.json()["error"]
    assert value["code"] == error
    assert value["message"]
    assert as_json.err == ""
    told = synced(*arguments)
    assert told.code == code
    assert told.err.startswith("error: ")
    assert "Traceback" not in told.err
    assert told.out == ""


def test_a_group_without_a_command_shows_its_help(lilbee: Run) -> None:
    told = lilbee("conversation")
    assert told.code == 2
    assert told.err.startswith("Usage: lilbee conversation")
    assert "  export " in told.err
    assert "\\n" not in told.err
    assert told.out == ""


def test_a_library_path_that_is_a_file(lilbee: Run, folder: Path) -> None:
    outcome = lilbee("status", "--library", str(folder / "bees.md"), "--json")
    assert outcome.code == 1
    assert outcome.json()["error"]["code"] == "library.invalid"


def test_a_misspelled_variable_is_named_with_the_nearest(
    lilbee: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILBEE_TOPK", "3")
    outcome = lilbee("status", "--library", str(folder))
    assert outcome.code == 2
    assert "LILBEE_TOPK" in outcome.err
    assert "LILBEE_TOP_K" in outcome.err


def test_control_characters_never_reach_the_terminal(synced: Run, folder: Path) -> None:
    text = "A long line of honest prose about the zebra, then \x1b[31mred\x1b]0;title and \u202eesrever. " * 3
    (folder / "evil.md").write_text(text, encoding="utf-8")
    synced("sync")
    for command in (["search", "zebra"], ["ask", "what about zebra"], ["show", "evil.md"]):
        shown = synced(*command).out
        assert "zebra" in shown
        assert "\x1b" not in shown
        assert "\u202e" not in shown


def test_a_read_only_folder(lilbee: Run, folder: Path) -> None:
    if os.name != "posix" or os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    folder.chmod(0o500)
    try:
        outcome = lilbee("sync", "--library", str(folder), "--json")
    finally:
        folder.chmod(0o700)
    assert outcome.code == 1
    assert outcome.json()["error"]["code"] == "store.read_only"


@pytest.mark.slow
def test_as_a_process_it_is_utf8_everywhere(folder: Path, tmp_path: Path) -> None:
    env = {
        **os.environ,
        "PYTHONIOENCODING": "ascii",
        "LC_ALL": "C",
        "LILBEE_EMBEDDING_MODEL": "none",
        "LILBEE_CONFIG_DIR": str(tmp_path / "config"),
    }
    (folder / "größe.md").write_text("Übergröße 灌溉\n", encoding="utf-8")

    def call(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-m", "lilbee_cli.main", *arguments]
        return subprocess.run(command, cwd=folder, env=env, capture_output=True, timeout=120, check=False)

    assert call("init").returncode == 0
    assert call("sync").returncode == 0
    found = call("search", "灌溉")
    assert found.returncode == 0
    assert "größe.md" in found.stdout.decode("utf-8")


@pytest.mark.slow
def test_help_imports_nothing_heavy() -> None:
    heavy = ("pydantic", "numpy", "lancedb", "pyarrow", "rich", "onnxruntime", "kreuzberg", "httpx", "pluggy")
    code = (
        "import sys; from lilbee_cli.main import run; run(['--help'])\n"
        f"print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.strip() == "[]"


def test_a_bug_is_told_without_a_traceback_unless_asked(synced: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from lilbee_core import Lilbee

    def broken(self: Lilbee) -> None:
        raise TypeError("the bee is upside down")

    monkeypatch.setattr(Lilbee, "status", broken)
    told = synced("status")
    assert (told.code, "upside down" in told.err, "Traceback" in told.err) == (1, True, False)
    assert synced("status", "--json").json()["error"]["code"] == "internal"
    assert "Traceback" in synced("status", "-vv").err
