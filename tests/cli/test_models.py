"""`lilbee model` and `lilbee placement` (R084-R087, R114-R116, R237, R240)."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.support.gguf_files import bert, llama, mmproj
from tests.support.model_hub import FakeHub, Fault

REPO = "org/tiny-GGUF"
REF = f"{REPO}/tiny-Q4_K_M.gguf"


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    content = llama(tmp_path / "made" / "tiny.gguf", width=128, vocabulary=2000).read_bytes()
    with FakeHub({REPO: {"tiny-Q4_K_M.gguf": content}}) as server:
        monkeypatch.setenv("LILBEE_HUB_URL", server.url)
        yield server


@pytest.fixture
def folder_of_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "models"
    monkeypatch.setenv("LILBEE_MODELS_DIR", str(folder))
    return folder


def test_a_model_from_the_catalog_to_its_end(lilbee: Run, hub: FakeHub, folder_of_models: Path) -> None:
    found = lilbee("model", "catalog", "tiny")
    assert found.code == 0
    assert f"{REPO}  chat" in found.out
    pulled = lilbee("model", "pull", REPO)
    assert pulled.code == 0
    assert f"{REF} is here (2 MB)" in pulled.out
    assert f"lilbee config set chat_model {REF}" in pulled.out
    assert "fetched 2 MB of 2" in pulled.err
    (line,) = [line for line in lilbee("model", "list", "--task", "chat").out.splitlines() if line.startswith(REF)]
    assert line.split() == [REF, "chat", "2", "MB", "F16"]
    assert lilbee("config", "set", "chat_model", REF).code == 0
    listed = {one["ref"]: one for one in lilbee("model", "list", "--json").json()["models"]}
    assert listed[REF]["in_use"] == ["chat"]
    assert "architecture   llama" in lilbee("model", "show", REF).out
    gone = lilbee("model", "rm", REF)
    assert gone.code == 0
    assert "lilbee config unset chat_model" in gone.out
    assert not list(folder_of_models.rglob("*.gguf"))


def test_the_picks_need_no_hub(lilbee: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_HUB_URL", "http://127.0.0.1:9")
    picks = lilbee("model", "catalog", "--task", "reranker")
    assert picks.code == 0
    assert "bge-reranker-v2-m3" in picks.out
    offline = lilbee("model", "catalog", "tiny")
    assert offline.code == 1
    assert "cannot be reached" in offline.err
    assert "put the file into" in offline.err


def test_codes_of_what_goes_wrong(lilbee: Run, hub: FakeHub, folder_of_models: Path) -> None:
    assert lilbee("model", "pull", "org/nothing").code == 4
    assert lilbee("model", "rm", "nothing.gguf").code == 4
    assert lilbee("model", "pull", "no reference").code == 2
    assert lilbee("model", "list", "--task", "speech").code == 2
    assert lilbee("model", "rm", "builtin/all-MiniLM-L6-v2").code == 2
    hub.lie_about["tiny-Q4_K_M.gguf"] = b"else"
    damaged = lilbee("model", "pull", REF, "--json")
    assert damaged.code == 1
    assert damaged.json()["error"]["code"] == "provider.checksum"
    hub.faults.append(Fault(status=403))
    denied = lilbee("model", "pull", REF)
    assert "hub_token" in denied.err


def test_a_role_takes_only_a_model_that_can_have_it(lilbee: Run, folder_of_models: Path) -> None:
    bert(folder_of_models / "reads.gguf")
    llama(folder_of_models / "writes.gguf")
    llama(folder_of_models / "sees" / "m.gguf")
    mmproj(folder_of_models / "sees" / "mmproj.gguf")
    (folder_of_models / "broken.gguf").write_bytes(b"GGUF")
    assert lilbee("config", "set", "embedding_model", "reads.gguf").code == 0
    assert lilbee("config", "set", "chat_model", "writes.gguf").code == 0
    assert lilbee("config", "set", "vision_model", "sees/m.gguf").code == 0
    wrong = lilbee("config", "set", "chat_model", "reads.gguf")
    assert wrong.code == 2
    assert "chat_model cannot be reads.gguf: it serves embed" in wrong.err
    assert "no projector beside it" in lilbee("config", "set", "vision_model", "writes.gguf").err
    assert "ends too early" in lilbee("config", "set", "chat_model", "broken.gguf").err
    assert lilbee("config", "get", "chat_model").out == "writes.gguf\n"
    # One that is not here yet may be named: it can be fetched later.
    assert lilbee("config", "set", "chat_model", "org/repo/later.gguf").code == 0


# ---------------------------------------------------------------------------------------------------- placements

ENGINE = """#!{python}
import sys
if "--version" in sys.argv:
    print("version: 1 (test)")
elif "--help" in sys.argv:
    print("-m,    --model FNAME          model path")
    print("--port PORT                   port to listen on")
else:
    print("Available devices:")
    print("  CUDA0: RTX 4090 (24576 MiB, 24268 MiB free)")
    print("  CUDA1: RTX 4090 (24576 MiB, 24576 MiB free)")
"""


@pytest.fixture
def cards(tmp_path: Path, folder_of_models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "llama-server"
    program.write_text(ENGINE.format(python=sys.executable))
    program.chmod(0o755)
    monkeypatch.setenv("LILBEE_LLAMA_SERVER_PATH", str(program))
    monkeypatch.setenv("LILBEE_CACHE_DIR", str(tmp_path / "cache"))
    llama(folder_of_models / "writes.gguf")
    monkeypatch.setenv("LILBEE_CHAT_MODEL", "writes.gguf")


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")
@pytest.mark.usefixtures("cards")
@pytest.mark.slow
def test_a_placement_is_tried_set_shown_and_cleared(lilbee: Run, tmp_path: Path) -> None:
    planned = lilbee("placement", "show")
    assert planned.code == 0
    assert "CUDA0: RTX 4090 (23.7 GiB free, 24.0 GiB total), 0.0 GiB planned" in planned.out
    assert "chat-0  writes.gguf  4096 tokens x 4" in planned.out
    spec = '{"chat": {"devices": [0]}}'
    tried = lilbee("placement", "preview", spec, "--json").json()
    assert tried["manual"] is True
    assert tried["servers"][0]["devices"] == ["CUDA0"]
    assert lilbee("placement", "show", "--json").json()["manual"] is False
    placed = lilbee("placement", "set", spec)
    assert placed.code == 0
    assert "placed as you said" in placed.out
    written = tomllib.loads((tmp_path / "config" / "config.toml").read_text("utf-8"))
    assert written == {"placement": '{"chat": {"devices": [0]}}'}
    assert lilbee("placement", "show", "--json").json()["manual"] is True
    assert lilbee("placement", "clear").code == 0
    assert lilbee("placement", "show", "--json").json()["manual"] is False


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in is a script")
@pytest.mark.usefixtures("cards")
@pytest.mark.slow
def test_a_placement_that_cannot_be_is_refused_and_nothing_is_written(lilbee: Run, tmp_path: Path) -> None:
    gone = lilbee("placement", "set", '{"chat": {"devices": [7]}}')
    assert gone.code == 1
    assert (
        "puts chat on card 7, which this machine does not have; its cards: CUDA0: RTX 4090 (23.7 GiB free" in gone.err
    )
    assert "makes no sense" in lilbee("placement", "set", "{").err
    left_out = lilbee("placement", "set", '{"embed": {"devices": [0]}}')
    assert "names no card for chat" in left_out.err
    assert "writes.gguf serves it" in left_out.err
    assert not (tmp_path / "config" / "config.toml").exists()
