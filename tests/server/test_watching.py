"""A server that watches, and the unit that starts it (R318)."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

UNIT = Path(__file__).parents[2] / "docs" / "how_to" / "serve_a_library.md"
WAIT_S = 60.0


def command_of_the_unit() -> list[str]:
    """Return the words of `ExecStart` in the unit that the docs show."""
    unit = re.search(r"```ini\n(.*?)```", UNIT.read_text(encoding="utf-8"), re.DOTALL)
    assert unit is not None
    found = re.search(r"^ExecStart=(.*)$", unit[1], re.MULTILINE)
    assert found is not None
    return shlex.split(found[1])


@contextmanager
def serving(home: Path, words: list[str], **env: str) -> Iterator[tuple[dict[str, Any], subprocess.Popen[str]]]:
    """Run what a unit says, as the service manager would; gives what the server wrote to `server.json`."""
    command = [sys.executable, "-m", "lilbee_server.main", *(word.replace("%h", str(home)) for word in words)]
    places = {
        "LILBEE_EMBEDDING_MODEL": "none",
        "LILBEE_CONFIG_DIR": str(home / "config"),
        "LILBEE_WATCH_DEBOUNCE_S": "0.1",
    }
    with subprocess.Popen(
        [*command, "--port", "0"], env={**os.environ, **places, **env}, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert "listens on" in line, line
            yield json.loads((home / "notes" / ".lilbee" / "server.json").read_text(encoding="utf-8")), process
        finally:
            process.kill()


def ask(there: dict[str, Any], path: str) -> Any:
    request = urllib.request.Request(there["url"] + path)
    request.add_header("Authorization", f"Bearer {there['token']}")
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def until_found(there: dict[str, Any], word: str) -> None:
    deadline = time.monotonic() + WAIT_S
    while not ask(there, f"/api/search?query={urllib.parse.quote(word)}")["hits"]:
        assert time.monotonic() < deadline, ask(there, "/api/jobs")
        time.sleep(0.05)


def test_the_unit_names_a_program_that_is_installed() -> None:
    program, *flags = command_of_the_unit()
    assert Path(program).name in {one.name for one in entry_points(group="console_scripts")}
    assert flags == ["--library", "%h/notes", "--watch"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no systemd")
@pytest.mark.parametrize("by_setting", [False, True])
def test_what_the_unit_starts_serves_watches_and_stops(tmp_path: Path, by_setting: bool) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The queen lays eggs.", encoding="utf-8")
    words = command_of_the_unit()[1:]
    env = {"LILBEE_WATCH": "true"} if by_setting else {}
    with serving(tmp_path, words[: -1 if by_setting else None], **env) as (there, process):
        until_found(there, "queen")
        (tmp_path / "notes" / "b.md").write_text("The ferry leaves at noon.", encoding="utf-8")
        until_found(there, "ferry")
        assert [one["kind"] for one in ask(there, "/api/jobs")["jobs"]] == ["watch"]
        process.send_signal(signal.SIGTERM)
        assert process.wait(WAIT_S) == 0
