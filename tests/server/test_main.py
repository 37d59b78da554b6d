"""The server as a process (R008, R261)."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import StoreError
from lilbee_server.main import main, opened_soon, write_server_file


def test_only_the_user_can_read_the_token(tmp_path: Path) -> None:
    (tmp_path / "server.json").write_text("old", encoding="utf-8")
    file = write_server_file(tmp_path, "http://127.0.0.1:1", "t")
    assert json.loads(file.read_text(encoding="utf-8"))["token"] == "t"
    if os.name == "posix":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_startup_error_cannot_steer_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--library", str(tmp_path / "\x1b[31mred\nline")])
    assert ended.value.code == 4
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert "\\x1b[31mred\\nline" in said


def test_a_server_loads_nothing_that_only_a_sync_or_an_answer_needs() -> None:
    code = "import sys, lilbee_server.main, lilbee_core.library, lilbee_server.app; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    late = {"lilbee_core.ingest._ingestor", "lilbee_core.analysis", "lilbee_core.text._support", "lilbee_core.wiki"}
    assert not late & {*loaded}
    code = "import sys, lilbee_server.main; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"pydantic", "litestar", "lilbee_core.types"} & {*loaded}


@pytest.mark.slow
def test_it_starts_serves_and_stops(tmp_path: Path) -> None:
    root = tmp_path / "notes"
    root.mkdir()
    env = {**os.environ, "LILBEE_EMBEDDING_MODEL": "none", "LILBEE_CONFIG_DIR": str(tmp_path / "config")}
    command = [sys.executable, "-m", "lilbee_server.main", "--library", str(root), "--port", "0"]
    process = subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    try:
        file = root / ".lilbee" / "server.json"
        deadline = time.monotonic() + 60
        while not file.exists():
            assert process.poll() is None, process.stderr.read() if process.stderr else ""
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)
        there = json.loads(file.read_text(encoding="utf-8"))
        assert there["url"].startswith("http://127.0.0.1:")
        for _ in range(200):
            try:
                with urllib.request.urlopen(f"{there['url']}/api/health", timeout=5) as answer:
                    assert json.load(answer)["status"] == "ok"
                break
            except OSError:
                time.sleep(0.05)
        request = urllib.request.Request(f"{there['url']}/api/status")
        request.add_header("Authorization", f"Bearer {there['token']}")
        with urllib.request.urlopen(request, timeout=20) as answer:
            assert json.load(answer)["documents"]["indexed"] == 0
        assert process.stderr is not None
        printed = [process.stderr.readline() for _ in range(2)][1].split()[-1]
        assert printed.startswith(f"{there['url']}/sign-in?code=")
        with urllib.request.urlopen(printed, timeout=60) as answer:
            assert "HttpOnly" in answer.headers["Set-Cookie"]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
    assert not file.exists()


@pytest.mark.slow
def test_a_library_that_does_not_exist_is_said_plainly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "lilbee_server.main", "--library", str(tmp_path / "nope")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 4
    assert "there is no folder" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
def test_ctrl_c_ends_it_without_a_traceback(tmp_path: Path) -> None:
    env = {**os.environ, "LILBEE_EMBEDDING_MODEL": "none", "LILBEE_CONFIG_DIR": str(tmp_path / "config")}
    code = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += f"from lilbee_server.main import main; main(['--library', {str(tmp_path)!r}, '--port', '0'])"
    with subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "listens on" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert (process.returncode, "stopped" in told, "Traceback" in told) == (130, True, False)


def test_the_index_is_opened_once_the_server_listens(
    library: Lilbee, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lilbee_server.main.OPEN_AFTER_S", 0.0)
    looked = threading.Event()

    def broken(self: Lilbee) -> None:
        looked.set()
        raise StoreError("the index is \x1b[31mbroken", hint="Run `lilbee rebuild`.")

    monkeypatch.setattr(Lilbee, "status", broken)
    with opened_soon(library, watch=False):
        assert looked.wait(10)
    said = capsys.readouterr().err
    assert "broken" in said
    assert "lilbee rebuild" in said
    assert "\x1b" not in said
