"""A prompt is taken before its model is loaded, and shows how far that is (R151)."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from lilbee_cli.render.progress import ProgressSink
from lilbee_core.events import Progress, Warned
from tests.cli.conftest import Run
from tests.support.gguf_files import llama
from tests.support.llama_server import write_engine


def loading(done: int, total: int | None = 100) -> Progress:
    return Progress(phase="loading chat model", done=done, total=total, unit="bytes")


def test_how_far_a_model_is_is_told_in_steps(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressSink(quiet=False, verbose=0) as sink:
        for done in (0, 10, 26, 30, 60, 99, 99, 100):
            sink(loading(done))
        sink(loading(5, None))
    told = capsys.readouterr().err.splitlines()
    assert told == [f"loading chat model: {share} %" for share in (26, 60, 99, 100)]


def test_a_warning_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressSink(quiet=False, verbose=0) as sink:
        for _ in range(3):
            sink(Warned(message="this engine does not run; another one is used"))
    assert capsys.readouterr().err == "warning: this engine does not run; another one is used\n"


def test_nothing_is_told_to_who_wants_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with ProgressSink(quiet=True, verbose=0) as sink:
        sink(loading(50))
    assert capsys.readouterr().err == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script")
def test_a_load_that_fails_says_what_to_do(synced: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stand-in takes no real model file, so the load fails as that of a damaged one does."""
    monkeypatch.setenv("LILBEE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("LILBEE_LLAMA_SERVER_PATH", str(write_engine(tmp_path / "bin")))
    monkeypatch.setenv("LILBEE_CHAT_MODEL", str(llama(tmp_path / "m.gguf")))
    monkeypatch.setenv("LILBEE_QUERY_EXPANSION_COUNT", "0")
    asked = synced("ask", "When does the queen lay eggs?")
    assert asked.code == 1
    assert "the model file cannot be used" in asked.err
    assert "Fetch it again" in asked.err
    told = json.loads(synced("ask", "When does the queen lay eggs?", "--json").out)
    assert told["error"]["code"] == "fleet.bad_model"
