"""What is read out of model files, and what is said of files that are none."""

from __future__ import annotations

import random
import struct
from pathlib import Path

import pytest

from lilbee_core.errors import ModelFileError
from lilbee_core.models import read_facts
from tests.support.gguf_files import F16, bert, llama, llama_tensors, mmproj, write_gguf


def test_a_chat_model(tmp_path: Path) -> None:
    facts = read_facts(llama(tmp_path / "tiny.gguf", layers=4, width=64, vocabulary=5000, general__license="mit"))
    assert (facts.architecture, facts.name, facts.quantization) == ("llama", "Tiny", "F16")
    assert (facts.context_tokens, facts.embedding_length, facts.layers) == (4096, 64, 4)
    assert (facts.heads, facts.kv_heads, facts.vocabulary) == (4, 2, 5000)
    assert facts.roles == {"chat"}
    assert facts.chat_template
    assert facts.tools
    assert not facts.thinking
    assert facts.license == "mit"
    # 64 x 64 and 64 x 256 halves in each layer; 2 heads of 16 numbers for keys and for values.
    assert facts.layer_bytes == (40960,) * 4
    assert facts.kv_elements == ((32, 32),) * 4
    assert facts.output_bytes == 64 * 5000 * 2 + 64 * 4
    assert facts.weights_bytes == 4 * 40960 + 2 * 64 * 5000 * 2 + 64 * 4
    assert facts.parameters == 4 * 20480 + 2 * 64 * 5000 + 64


def test_the_last_step_of_a_model_with_tied_words_takes_their_place_again(tmp_path: Path) -> None:
    tensors = llama_tensors(2, 64, 100, F16)
    del tensors["output.weight"]
    keys = {"general.architecture": "llama", "llama.block_count": 2, "llama.attention.head_count": 4}
    facts = read_facts(write_gguf(tmp_path / "tied.gguf", keys, tensors))
    assert facts.output_bytes == 64 * 4 + 64 * 100 * 2


@pytest.mark.parametrize(
    ("pooling", "role", "word"),
    [(1, "embed", "mean"), (2, "embed", "cls"), (3, "embed", "last"), (4, "rerank", "rank"), (0, "embed", "none")],
)
def test_a_model_that_reads_only(tmp_path: Path, pooling: int, role: str, word: str) -> None:
    facts = read_facts(bert(tmp_path / "small.gguf", pooling=pooling))
    assert facts.roles == {role}
    assert facts.pooling == word
    assert facts.kv_elements == ()  # a text is read as a whole: nothing is kept from word to word


@pytest.mark.parametrize(("pooling", "role"), [(3, "embed"), (4, "rerank"), (0, "chat")])
def test_pooling_makes_a_chat_architecture_an_embedder_or_a_ranker(tmp_path: Path, pooling: int, role: str) -> None:
    facts = read_facts(llama(tmp_path / "tiny.gguf", llama__pooling_type=pooling))
    assert facts.roles == {role}
    assert facts.kv_elements == ((32, 32),) * 4


def test_an_embedder_that_does_not_say_how_it_pools_is_known_by_its_name(tmp_path: Path) -> None:
    assert read_facts(llama(tmp_path / "Qwen3-Embedding-0.6B-Q8_0.gguf")).roles == {"embed"}
    assert read_facts(llama(tmp_path / "a.gguf", general__name="Mistral Embed")).roles == {"embed"}
    assert read_facts(llama(tmp_path / "b.gguf")).roles == {"chat"}


def test_a_projector_serves_nothing_by_itself(tmp_path: Path) -> None:
    facts = read_facts(mmproj(tmp_path / "mmproj.gguf", width=64))
    assert facts.projector
    assert facts.roles == frozenset()
    assert facts.projection_length == 64
    assert facts.weights_bytes == 64 * 64 * 2


def test_layers_may_keep_different_amounts(tmp_path: Path) -> None:
    heads = read_facts(llama(tmp_path / "a.gguf", llama__attention__head_count_kv=[0, 2, 0, 4]))
    assert heads.kv_elements == ((0, 0), (32, 32), (0, 0), (64, 64))
    assert heads.kv_heads == 4
    hybrid = read_facts(llama(tmp_path / "b.gguf", llama__full_attention_interval=4))
    assert hybrid.kv_elements == ((0, 0), (0, 0), (0, 0), (32, 32))
    wide = read_facts(llama(tmp_path / "c.gguf", llama__attention__key_length=100, llama__attention__value_length=50))
    assert wide.kv_elements == ((200, 100),) * 4


def test_a_window_counts_only_where_the_engine_uses_it(tmp_path: Path) -> None:
    ignored = read_facts(llama(tmp_path / "a.gguf", llama__attention__sliding_window=128))
    assert (ignored.window, ignored.windowed) == (0, ())
    said = read_facts(
        llama(
            tmp_path / "b.gguf",
            llama__attention__sliding_window=128,
            llama__attention__sliding_window_pattern=[True, True, False, True],
        )
    )
    assert (said.window, said.windowed) == (128, (True, True, False, True))
    keys = {
        "general.architecture": "gemma3",
        "gemma3.block_count": 7,
        "gemma3.attention.head_count": 4,
        "gemma3.attention.sliding_window": 512,
    }
    known = read_facts(write_gguf(tmp_path / "c.gguf", keys, llama_tensors(7, 64, 100, F16)))
    assert (known.window, known.windowed) == (512, (True, True, True, True, True, False, True))


def test_a_model_in_parts_is_read_as_one(tmp_path: Path) -> None:
    keys = {"general.architecture": "llama", "llama.block_count": 2, "split.count": 2, "split.no": 0}
    first = write_gguf(tmp_path / "big-00001-of-00002.gguf", keys, {"blk.0.attn_q.weight": ((64, 64), F16)})
    with pytest.raises(ModelFileError, match=r"lacks 1 of its 2 parts: big-00002-of-00002\.gguf"):
        read_facts(first)
    second = write_gguf(
        tmp_path / "big-00002-of-00002.gguf",
        {"split.count": 2, "split.no": 1},
        {"blk.1.attn_q.weight": ((64, 128), F16)},
    )
    facts = read_facts(first)
    assert facts.layer_bytes == (64 * 64 * 2, 64 * 128 * 2)
    assert facts.parts == (first, second)
    assert facts.size_bytes == first.stat().st_size + second.stat().st_size
    with pytest.raises(ModelFileError, match="is one part of 2 and not the first"):
        read_facts(second)


# ---------------------------------------------------------------------------------------------------- bad files


def test_every_way_to_cut_a_file_off_is_told(tmp_path: Path) -> None:
    whole = llama(tmp_path / "whole.gguf", vocabulary=100).read_bytes()
    for length in {*range(0, 2000, 13), len(whole) // 2, len(whole) - 33}:
        cut = tmp_path / "cut.gguf"
        cut.write_bytes(whole[:length])
        with pytest.raises(ModelFileError) as caught:
            read_facts(cut)
        assert caught.value.code == "provider.model_file"
        assert caught.value.hint
        assert str(cut) in caught.value.message


def test_a_cut_file_says_how_much_is_there(tmp_path: Path) -> None:
    path = llama(tmp_path / "cut.gguf")
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(size - 4096)
    with pytest.raises(ModelFileError, match=rf"the weights end at byte {size:,}, and the file has {size - 4096:,}"):
        read_facts(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is not a GGUF file"),
        (b"<!doctype html><title>Sign in</title>", "is not a GGUF file"),
        (b"GGUF" + struct.pack(">IQQ", 3, 0, 0), "is a big-endian GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 1, 0, 0), "has version 1 of GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 60, 1 << 60), "are announced"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 40) + b"x" * 99, "has a name of"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<I", 77) + b"x" * 99, "unknown type 77"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 9, 3) + b"x" * 99, "unknown type"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 8, 1 << 50) + b"x" * 9, "texts"),
        (b"GGUF" + struct.pack("<IQQ", 3, 0, 0), "does not say what model it is"),
    ],
)
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "bad.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=said) as caught:
        read_facts(path)
    assert caught.value.hint


def test_a_missing_file_and_a_vocabulary_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        read_facts(tmp_path / "nothing.gguf")
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_facts(tmp_path)
    vocabulary = write_gguf(tmp_path / "vocab.gguf", {"general.architecture": "llama"})
    with pytest.raises(ModelFileError, match="holds a vocabulary and no weights"):
        read_facts(vocabulary)


def test_a_number_of_layers_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="announces 4000000000 layers"):
        read_facts(llama(tmp_path / "odd.gguf", llama__block_count=4_000_000_000))


def test_garbage_never_ends_in_another_error(tmp_path: Path) -> None:
    whole = bytearray(llama(tmp_path / "whole.gguf", vocabulary=20).read_bytes())
    chance = random.Random(7)
    refused = 0
    for _ in range(150):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 8)):
            damaged[chance.randrange(4, 1500)] = chance.randrange(256)
        path = tmp_path / "damaged.gguf"
        path.write_bytes(damaged)
        try:
            read_facts(path)
        except ModelFileError:
            refused += 1
    assert refused > 25


def test_a_type_from_tomorrow_takes_what_lies_before_the_next_tensor(tmp_path: Path) -> None:
    path = llama(tmp_path / "new.gguf", layers=1)
    raw = path.read_bytes()
    old = raw.index(b"blk.0.attn_q.weight") + len(b"blk.0.attn_q.weight") + 4 + 16
    path.write_bytes(raw[:old] + struct.pack("<I", 999) + raw[old + 4 :])
    assert read_facts(path).layer_bytes == (40960,)


def test_facts_agree_with_the_reference_reader(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf", reason="the reference reader is not installed")
    path = llama(tmp_path / "tiny.gguf", quantized=True)
    reader = gguf.GGUFReader(path)
    assert read_facts(path).weights_bytes == sum(int(tensor.n_bytes) for tensor in reader.tensors)
