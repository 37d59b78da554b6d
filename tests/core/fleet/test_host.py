"""The program around xllamacpp: llama-server's flags in, the library's parameters out (R142)."""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lilbee_core.fleet import _host
from lilbee_core.fleet._argv import Wiring, server_command
from lilbee_core.fleet._cards import parse_devices
from lilbee_core.fleet._engine import find_engine, flags_in, installed_wheels
from tests.support.fleets import ENGINE, placed

MODEL = Path("/models/m.gguf")
OURS = replace(
    ENGINE, command=(), flags=flags_in("\n".join(f"{flag} {value}" for flag, (value, _) in _host.FLAGS.items()))
)
installed = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed (extra `engine`)")


def params() -> Any:
    return SimpleNamespace(
        model=SimpleNamespace(path=""),
        mmproj=SimpleNamespace(path=""),
        cpuparams=SimpleNamespace(n_threads=-1),
        cpuparams_batch=SimpleNamespace(n_threads=-1),
        tensor_split=[0.0] * 8,
        embedding=False,
    )


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "a.key"
    path.write_text("# ours\nsecret\n\n")
    return path


def command(role: str, key_file: Path, **values: Any) -> tuple[str, ...]:
    wiring = Wiring(key_file=key_file, threads=2, idle_sleep_s=60)
    return server_command(OURS, placed(role, MODEL, **values), wiring)


@installed
@pytest.mark.parametrize("role", ["embed", "rerank", "chat", "vision"])
def test_whatever_a_fleet_says_is_understood(role: str, key_file: Path) -> None:
    values: dict[str, Any] = {"pooling": "mean"} if role == "embed" else {"mmap": False, "kv_cache_type": "q8_0"}
    found = params()
    words = command(role, key_file, projector_file=Path("/p.gguf"), devices=("A0", "A1"), gpu_layers=9, **values)
    assert _host.apply(found, words) == ""
    assert found.model.path == "/models/m.gguf"
    assert found.api_keys == ["secret"]
    assert (found.hostnames, found.port) == (["127.0.0.1"], 0)
    assert (found.n_ctx, found.n_parallel, found.n_gpu_layers) == (512, 1, 9)
    assert found.tensor_split == [1.0, 1.0] + [0.0] * 6
    assert found.cpuparams.n_threads == found.cpuparams_batch.n_threads == 2
    assert found.sleep_idle_seconds == 60
    assert (found.ui, found.offline, found.fit_params) == (False, True, False)
    assert found.embedding == (role in ("embed", "rerank"))
    assert found.mmproj.path == ("/p.gguf" if role == "vision" else "")


@installed
def test_kinds_become_the_librarys_own(key_file: Path) -> None:
    import xllamacpp

    found = params()
    assert _host.apply(found, command("rerank", key_file)) == ""
    assert found.pooling_type == xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    assert _host.apply(found, command("chat", key_file, mmap=False, kv_cache_type="q8_0")) == ""
    assert found.cache_type_k == found.cache_type_v == xllamacpp.ggml_type.GGML_TYPE_Q8_0
    assert found.flash_attn_type == xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_ENABLED
    assert found.load_mode == xllamacpp.llama_load_mode.LLAMA_LOAD_MODE_NONE


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--bogus"], "invalid argument: --bogus"),
        (["--port"], "invalid argument: --port needs NUMBER"),
        (["--port", "x"], "invalid value for --port: x"),
        (["--api-key-file", "/nowhere"], "invalid value for --api-key-file: /nowhere"),
        (["--flash-attn", "maybe"], "invalid value for --flash-attn: maybe"),
    ],
)
def test_what_is_not_understood_is_named(words: list[str], problem: str) -> None:
    assert _host.apply(params(), words).startswith(problem)


def test_cards_are_listed_as_llama_server_lists_them() -> None:
    assert _host.devices_text([{"type": "CPU", "name": "CPU", "description": "x"}]).endswith("(none)")
    card = {
        "type": "GGML_BACKEND_DEVICE_TYPE_GPU",
        "name": "CUDA0",
        "description": "RTX 4090",
        "memory_total": 24 << 30,
        "memory_free": 23 << 30,
    }
    (found,) = parse_devices(_host.devices_text([card]))
    assert (found.label, found.name, found.total_bytes, found.free_bytes) == ("CUDA0", "RTX 4090", 24 << 30, 23 << 30)


@installed
def test_it_answers_what_an_engine_is_asked() -> None:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        assert _host.main(["--version"]) == 0
        assert _host.main(["--help"]) == 0
        assert _host.main(["--list-devices"]) == 0
        assert _host.main(["--bogus"]) == 1
    assert "version: xllamacpp" in out.getvalue()
    assert "Available devices:" in out.getvalue()
    assert "invalid argument: --bogus" in err.getvalue()


@installed
@pytest.mark.slow
def test_it_is_found_as_an_engine_and_says_why_a_model_does_not_load(tmp_path: Path, key_file: Path) -> None:
    ours = [one for one in installed_wheels() if one.origin == "xllamacpp"]
    engine = find_engine(search_path="", wheels=lambda: iter(ours))
    assert engine.version.startswith("xllamacpp")
    (tmp_path / "bad.gguf").write_bytes(b"no model")
    words = server_command(engine, placed("embed", tmp_path / "bad.gguf", pooling="mean"), Wiring(key_file=key_file))
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, timeout=60, cwd=Path(sys.executable).parent
    )
    assert done.returncode == 1
    assert "invalid magic" in done.stderr
