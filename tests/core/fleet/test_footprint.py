"""What a server takes, by our own estimate and by gguf-parser (R099-R102)."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.fleet._footprint import CARD_OVERHEAD, GgufEstimator, SplitCosts, estimate, kv_bytes, split_shares
from lilbee_core.fleet._gguf_parser import ParserEstimator, run_program
from lilbee_core.fleet._sizing import PlanOptions, RoleModel, Sizing, wanted
from tests.support.gguf_files import llama
from tests.support.machines import CHAT_8B, CHAT_70B, EMBED, GIB, MIB, VISION, machine, model

FULL = Sizing(context_tokens=8192, gpu_layers=37, flash_attention=True)


# ---------------------------------------------------------------------------------------------------- our own


def test_weights_cache_and_buffers_are_counted() -> None:
    found = estimate(CHAT_8B, FULL)
    facts = CHAT_8B.facts
    assert found.kv_bytes == 8192 * 144 * 1024
    assert found.kv_bytes_per_token == 144 * 1024
    # 512 tokens at once: their attention, the layer behind it, and the scores of 32,000 words for one of them.
    assert found.compute_bytes == 512 * 8192 * 6 + 512 * (4 * 1024 + 2 * 4096) * 4 + 32_000 * 4
    on_card = sum(facts.layer_bytes) + facts.output_bytes
    assert found.discrete_bytes == on_card + found.kv_bytes + found.compute_bytes + CARD_OVERHEAD
    assert found.unified_bytes < found.discrete_bytes + facts.output_bytes
    assert found.shares == ()


def test_slots_and_the_kind_of_cache_count() -> None:
    one, four = estimate(CHAT_8B, FULL), estimate(CHAT_8B, replace(FULL, slots=4))
    assert four.kv_bytes == 4 * one.kv_bytes
    assert four.kv_bytes_per_token == one.kv_bytes_per_token
    small = estimate(CHAT_8B, replace(FULL, kv_cache_type="q4_0"))
    assert small.kv_bytes == one.kv_bytes * 18 // 64


def test_attention_without_its_fast_form_takes_all_heads_times_all_tokens() -> None:
    slow = estimate(CHAT_8B, replace(FULL, flash_attention=False))
    assert slow.compute_bytes >= 512 * 8192 * 4 * 16


def test_the_batch_of_the_launch_counts() -> None:
    small = estimate(EMBED, Sizing(context_tokens=512, ubatch_tokens=512, batch_tokens=512))
    large = estimate(EMBED, Sizing(context_tokens=512, slots=4, ubatch_tokens=2048, batch_tokens=2048))
    assert large.compute_bytes > 4 * small.compute_bytes
    assert small.kv_bytes == 0


def test_a_window_bounds_what_a_layer_keeps() -> None:
    facts = replace(CHAT_8B.facts, window=1024, windowed=(True, False) * 18)
    wide, narrow = kv_bytes(facts, FULL, 1), kv_bytes(facts, FULL, 0)
    assert wide == 8192 * 4096
    assert narrow == 1536 * 4096
    assert kv_bytes(facts, replace(FULL, context_tokens=512), 0) == 512 * 4096


def test_layers_left_to_the_processor_take_nothing_of_the_card() -> None:
    whole, half, none = (estimate(CHAT_8B, replace(FULL, gpu_layers=count)) for count in (37, 18, 0))
    assert whole.discrete_bytes > half.discrete_bytes > none.discrete_bytes
    assert none.discrete_bytes == none.compute_bytes + CARD_OVERHEAD
    assert whole.unified_bytes == half.unified_bytes == none.unified_bytes


def test_a_projector_is_charged_a_little_more_than_its_weights() -> None:
    """1.2 GiB and a projector of .9 GiB: nothing near the 12.7 GiB that another estimate gives."""
    seeing = estimate(VISION, Sizing(context_tokens=8192, gpu_layers=29, flash_attention=True))
    blind = estimate(replace(VISION, projector=None), Sizing(context_tokens=8192, gpu_layers=29, flash_attention=True))
    added = seeing.discrete_bytes - blind.discrete_bytes
    assert 0.9 * GIB <= added <= 1.3 * GIB
    assert seeing.discrete_bytes < 3.5 * GIB


def test_each_card_of_a_split_has_its_own_share_and_the_fullest_binds() -> None:
    sizing = wanted(CHAT_70B, PlanOptions(), machine(24, 24))
    found = estimate(CHAT_70B, replace(sizing, layer_split=(40, 41)))
    assert len(found.shares) == 2
    assert found.peak_bytes == max(found.shares)
    assert found.discrete_bytes == sum(found.shares)
    assert sum(found.shares) > estimate(CHAT_70B, sizing).discrete_bytes  # every card has buffers of its own
    lopsided = estimate(CHAT_70B, replace(sizing, layer_split=(60, 21)))
    assert lopsided.peak_bytes > found.peak_bytes
    assert sum(lopsided.shares) == pytest.approx(sum(found.shares), rel=0.001)


@given(st.lists(st.integers(2, 60), min_size=1, max_size=6), st.integers(1, 60))
def test_a_split_never_overfills_a_card_and_fills_all_alike(sizes: list[int], weights: int) -> None:
    one = model("chat", weights, layers=40)
    sizing = wanted(one, PlanOptions(), machine(*[float(size) for size in sizes]))
    room = [size * GIB for size in sizes]
    layers = SplitCosts.of(one, sizing).layers(room)
    if layers is None:
        total = estimate(one, sizing).discrete_bytes
        assert total > max(room) or len(sizes) > 1
        return
    assert sum(layers) == 41
    assert all(count >= 1 for count in layers)
    shares = split_shares(one, sizing, layers)
    assert all(share <= have for share, have in zip(shares, room, strict=True))


def test_equal_cards_get_equal_shares() -> None:
    sizing = wanted(CHAT_70B, PlanOptions(), machine(24, 24))
    layers = SplitCosts.of(CHAT_70B, sizing).layers([60 * GIB, 60 * GIB, 60 * GIB])
    assert layers is not None
    assert max(layers) - min(layers) <= 2


def test_estimates_are_remembered() -> None:
    estimator = GgufEstimator()
    assert estimator.footprint(CHAT_8B, FULL) is estimator.footprint(CHAT_8B, FULL)


# ---------------------------------------------------------------------------------------------------- gguf-parser


class FakeParser:
    """Answers as gguf-parser does, with given bytes in shared memory and of cards."""

    def __init__(self, *, shared: tuple[int, ...], cards: tuple[int, ...], eyes: tuple[int, int] = (0, 0)) -> None:
        self.shared = shared
        self.cards = cards
        self.eyes = eyes
        self.commands: list[list[str]] = []

    def __call__(self, command: Sequence[str]) -> str:
        self.commands.append(list(command))
        seeing = "--mmproj-path" in command
        item: dict[str, Any] = {
            "ram": {"uma": 100 * MIB, "nonuma": 250 * MIB},
            "vrams": [{"uma": uma, "nonuma": own} for uma, own in zip(self.shared, self.cards, strict=True)],
        }
        if seeing:
            item["vrams"][0]["uma"] += self.eyes[0]
            item["vrams"][0]["nonuma"] += self.eyes[1]
        return json.dumps({"estimate": {"items": [item]}})


def test_the_figures_of_the_parser_are_taken(tmp_path: Path) -> None:
    parser = FakeParser(shared=(5 * GIB,), cards=(6 * GIB,))
    found = _parsing(parser, tmp_path).footprint(CHAT_8B, FULL)
    assert (found.discrete_bytes, found.unified_bytes) == (6 * GIB, 5 * GIB + 100 * MIB)
    assert found.source == "gguf-parser"


def test_the_parser_gets_the_sizes_of_the_launch(tmp_path: Path) -> None:
    parser = FakeParser(shared=(GIB, GIB), cards=(GIB, 2 * GIB))
    sizing = replace(FULL, slots=2, kv_cache_type="q8_0", layer_split=(20, 17), batch_tokens=1024, ubatch_tokens=256)
    found = _parsing(parser, tmp_path).footprint(CHAT_8B, sizing)
    assert found.shares == (GIB, 2 * GIB)
    assert found.peak_bytes == 2 * GIB
    (command,) = parser.commands
    options = dict(zip(command[1::2], command[2::2], strict=False))
    assert options["--path"] == str(CHAT_8B.facts.path)
    text = " ".join(command)
    for words in (
        "--ctx-size 16384", "--parallel-size 2", "--batch-size 1024", "--ubatch-size 256", "--cache-type-k q8_0",
        "--cache-type-v q8_0", "--gpu-layers 37", "--tensor-split 20,17", "--flash-attention",
    ):  # fmt: skip
        assert words in text
    assert "--mmproj-path" not in text


def test_a_projector_is_charged_what_it_adds_to_shared_memory(tmp_path: Path) -> None:
    """The document's numbers: 1.2 GiB + .9 GiB came back as 12.7 GiB."""
    parser = FakeParser(
        shared=(int(1.2 * GIB),), cards=(int(1.5 * GIB),), eyes=(int(1.1 * GIB), int(12.7 * GIB) - int(1.5 * GIB))
    )
    found = _parsing(parser, tmp_path).footprint(VISION, FULL)
    assert found.projector_bytes == int(1.1 * GIB)
    assert found.discrete_bytes == int(1.5 * GIB) + int(1.1 * GIB)
    assert len(parser.commands) == 2


def test_a_projector_is_charged_its_weights_at_least(tmp_path: Path) -> None:
    parser = FakeParser(shared=(GIB,), cards=(GIB,), eyes=(10 * MIB, 10 * GIB))
    found = _parsing(parser, tmp_path).footprint(VISION, FULL)
    assert VISION.projector is not None
    assert found.projector_bytes == VISION.projector.weights_bytes
    assert found.discrete_bytes == GIB + VISION.projector.weights_bytes


def test_each_size_is_asked_for_once_and_again_when_the_file_changes(tmp_path: Path) -> None:
    path = llama(tmp_path / "tiny.gguf")
    one = RoleModel(role="chat", ref="tiny.gguf", facts=replace(CHAT_8B.facts, path=path))
    parser = FakeParser(shared=(GIB,), cards=(GIB,))
    estimator = _parsing(parser, tmp_path)
    for _ in range(3):
        estimator.footprint(one, FULL)
    assert len(parser.commands) == 1
    estimator.footprint(one, replace(FULL, context_tokens=512))
    assert len(parser.commands) == 2
    import os

    os.utime(path, ns=(1, 1))
    estimator.footprint(one, FULL)
    assert len(parser.commands) == 3


@pytest.mark.parametrize("answer", ["", "no json", "{}", '{"estimate": {"items": []}}', '{"estimate": null}'])
def test_an_answer_that_makes_no_sense_leaves_our_own_estimate(tmp_path: Path, answer: str) -> None:
    calls: list[Sequence[str]] = []

    def run(command: Sequence[str]) -> str:
        calls.append(command)
        return answer

    estimator = ParserEstimator("gguf-parser", GgufEstimator(), run=run)
    assert estimator.footprint(CHAT_8B, FULL) == estimate(CHAT_8B, FULL)
    estimator.footprint(CHAT_8B, replace(FULL, context_tokens=512))
    assert len(calls) == 1  # a file that it cannot read is not asked about again


def test_a_program_that_fails_says_so(tmp_path: Path) -> None:
    script = tmp_path / "parser.py"
    script.write_text("import sys\nsys.stderr.write('failed to parse GGUF file')\nsys.exit(1)\n")
    with pytest.raises(OSError, match="failed to parse GGUF file"):
        run_program([sys.executable, str(script)])
    script.write_text("print('{}')")
    assert run_program([sys.executable, str(script)]).strip() == "{}"


def _parsing(parser: FakeParser, tmp_path: Path) -> ParserEstimator:
    return ParserEstimator(str(tmp_path / "gguf-parser"), GgufEstimator(), run=parser)
