"""Command lines: what each role carries, by what the engine knows (R094, R106, R107, R126-R130)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.errors import FleetError
from lilbee_core.fleet._argv import Wiring, server_command
from lilbee_core.fleet._engine import Engine
from tests.support.fleets import ENGINE, placed

MODEL = Path("/models/m.gguf")
WIRING = Wiring(key_file=Path("/state/a.key"))


def command(role: str, engine: Engine = ENGINE, wiring: Wiring = WIRING, **values: Any) -> list[str]:
    return list(server_command(engine, placed(role, MODEL, **values), wiring))


def after(words: list[str], flag: str) -> str:
    return words[words.index(flag) + 1]


def without(*flags: str) -> Engine:
    return replace(ENGINE, flags=ENGINE.flags - set(flags))


def test_what_every_server_gets() -> None:
    words = command("embed")
    assert words[0] == "/opt/llama-server"
    assert after(words, "--model") == "/models/m.gguf"
    assert after(words, "--host") == "127.0.0.1"
    assert after(words, "--port") == "0"
    assert after(words, "--api-key-file") == "/state/a.key"
    assert after(words, "--alias") == "m.gguf"
    assert after(words, "--fit") == "off"
    assert {"--no-ui", "--offline"} <= set(words)
    assert "--main-gpu" not in words
    assert "--api-key" not in words


def test_context_is_for_all_slots() -> None:
    words = command("chat", context_tokens=4096, slots=4)
    assert after(words, "--ctx-size") == "16384"
    assert after(words, "--parallel") == "4"


def test_chat() -> None:
    words = command("chat", kv_cache_type="q8_0", mmap=False)
    assert "--jinja" in words
    assert after(words, "--flash-attn") == "on"
    assert after(words, "--cache-type-k") == after(words, "--cache-type-v") == "q8_0"
    assert after(words, "--load-mode") == "none"
    assert after(words, "--cache-ram") == "1024"
    assert after(command("chat", flash_attention=False), "--flash-attn") == "off"
    assert "--load-mode" not in command("chat")


def test_an_older_engine_is_told_in_its_own_words() -> None:
    engine = replace(without("--load-mode", "--no-ui"), flags=ENGINE.flags - {"--load-mode", "--no-ui"} | {"--no-mmap"})
    words = command("chat", engine, mmap=False)
    assert {"--no-mmap", "--no-webui"} <= set(words)


@pytest.mark.parametrize("role", ["embed", "rerank"])
def test_what_is_pooled_is_read_in_one_piece(role: str) -> None:
    words = command(role, batch_tokens=2048, ubatch_tokens=2048, context_tokens=512, slots=4, pooling="mean")
    assert after(words, "--batch-size") == after(words, "--ubatch-size") == "2048"
    assert "--embedding" in words
    assert after(words, "--pooling") == ("rank" if role == "rerank" else "mean")
    assert ("--reranking" in words) == (role == "rerank")
    assert "--jinja" not in words
    assert after(words, "--cache-ram") == "0"


def test_a_pooling_that_the_file_names_is_left_to_it() -> None:
    assert "--pooling" not in command("embed", pooling=None)


def test_vision_has_its_projector_and_its_threads() -> None:
    words = command("vision", projector_file=Path("/models/p.gguf"), threads=8, gpu_layers=33)
    assert after(words, "--mmproj") == "/models/p.gguf"
    assert after(words, "--threads") == "8"
    assert after(words, "--n-gpu-layers") == "33"
    assert "--jinja" in words
    assert "--cache-type-k" not in words


def test_threads_of_the_settings_win() -> None:
    words = command("vision", wiring=Wiring(key_file=Path("k"), threads=1), threads=8)
    assert after(words, "--threads") == "1"
    assert "--threads" not in command("embed")


def test_a_split_over_cards() -> None:
    words = command("chat", devices=("CUDA0", "CUDA1"), tensor_split=(3.0, 1.0), gpu_layers=40)
    assert after(words, "--split-mode") == "layer"
    assert after(words, "--tensor-split") == "3,1"
    assert after(words, "--device") == "CUDA0,CUDA1"
    even = command("chat", devices=("CUDA0", "CUDA1"), gpu_layers=40)
    assert after(even, "--tensor-split") == "1,1"


def test_a_server_without_cards_is_kept_off_them() -> None:
    assert after(command("embed"), "--device") == "none"
    assert "--device" not in command("embed", gpu_layers=7)  # one that shares the system's memory
    assert "--tensor-split" not in command("embed", devices=("CUDA0",), gpu_layers=7)


def test_cards_are_named_as_the_process_sees_them() -> None:
    """A program that knows several backends would reach a hidden card by another one."""
    hidden = (("CUDA_VISIBLE_DEVICES", "2,3"),)
    pinned = command("chat", devices=("CUDA2", "CUDA3"), environment=hidden, gpu_layers=40)
    assert after(pinned, "--device") == "CUDA0,CUDA1"
    assert after(command("chat", devices=("SYCL1",), gpu_layers=40), "--device") == "SYCL1"


def test_one_that_is_left_running_unloads_by_itself() -> None:
    words = command("embed", wiring=Wiring(key_file=Path("k"), idle_sleep_s=300))
    assert after(words, "--sleep-idle-seconds") == "300"


def test_a_name_with_a_comma_is_still_one_name() -> None:
    assert after(command("embed", model="org/a,b.gguf"), "--alias") == "org/a_b.gguf"


@pytest.mark.parametrize(
    ("role", "missing", "shown"),
    [("vision", "--mmproj", "--mmproj"), ("rerank", "--reranking", "--reranking"), ("chat", "--jinja", "--jinja"),
     ("embed", "--api-key-file", "--api-key-file")],
)  # fmt: skip
def test_an_engine_without_a_needed_flag_is_refused(role: str, missing: str, shown: str) -> None:
    engine = without(missing, "--rerank" if missing == "--reranking" else "")
    with pytest.raises(FleetError, match=shown) as caught:
        command(role, engine, projector_file=Path("p"))
    assert caught.value.code == "fleet.engine_too_old"
    assert role in caught.value.message
    assert "Update llama.cpp" in caught.value.hint


@pytest.mark.parametrize("role", ["embed", "rerank", "chat", "vision"])
def test_what_an_engine_does_not_know_is_not_said_to_it(role: str) -> None:
    optional = {"--alias", "--fit", "--offline", "--cache-ram", "--device", "--flash-attn", "--sleep-idle-seconds"}
    words = command(role, without(*optional, "-fit"), Wiring(key_file=Path("k"), idle_sleep_s=1))
    assert not optional & set(words)
