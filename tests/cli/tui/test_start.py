"""What starting costs: nothing of the screens is loaded without need, and the first picture waits for no library."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run

TOOL = Path(__file__).resolve().parents[2] / "bench" / "tools" / "start_screens.py"


def loaded(statement: str, *names: str) -> list[str]:
    code = f"import sys\n{statement}\nprint(*[name for name in {names!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()


def test_help_imports_no_screens() -> None:
    assert loaded("from lilbee_cli.main import run\nrun(['--help'])", "textual", "rich", "lilbee_core") == []


def test_the_first_picture_waits_for_no_library() -> None:
    statement = "import lilbee_cli.tui.app, lilbee_cli.tui.search"
    assert loaded(statement, "lilbee_core.library", "pydantic", "lancedb", "textual") == ["textual"]


def test_no_terminal_no_extra_and_the_bare_command(lilbee: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere than on a terminal the command alone prints its help, and the screens say what they need."""
    assert "Usage: lilbee" in lilbee().out
    refused = lilbee("tui")
    assert refused.code == 1
    assert "the screens need a terminal" in refused.err
    assert lilbee("tui", "--json").json() == {"terminal": False, "utf_8": True}

    monkeypatch.setitem(sys.modules, "textual", None)
    without = lilbee("tui", "--json")
    assert without.json()["error"]["code"] == "extra.missing"
    assert "pip install 'lilbee-cli[tui]'" in without.out


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
def test_the_bare_command_on_a_terminal(lilbee: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """R234: in a real terminal the screens come, search what is typed, and leave."""
    folder = tmp_path / "codes"
    folder.mkdir()
    (folder / "codes.md").write_text("How to decode what was encoded.\n", "utf-8")
    assert lilbee("init", str(folder)).code == 0
    assert lilbee("sync", "--library", str(folder)).code == 0
    monkeypatch.setenv("TERM", "xterm-256color")
    command = [sys.executable, str(TOOL), sys.executable, "-m", "lilbee_cli.main"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=120)
    told = json.loads(done.stdout)
    assert set(told) == {"picture", "open", "hits", "exit"}
    assert told["exit"] == 0
