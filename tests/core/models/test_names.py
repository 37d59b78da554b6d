"""Which file of a repository is meant, and which names are refused."""

from __future__ import annotations

import pytest

from lilbee_core.errors import InvalidArgument
from lilbee_core.models._names import (
    HubRef,
    choose,
    choose_projector,
    is_safe,
    parts_of,
    quantization_of,
    role_of,
)
from lilbee_core.types import ModelFile


def files(*names: str) -> list[ModelFile]:
    return [ModelFile(name=name, size_bytes=100 + at) for at, name in enumerate(names)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Qwen/Qwen3-0.6B-GGUF", HubRef("Qwen/Qwen3-0.6B-GGUF")),
        ("Qwen/Qwen3-0.6B-GGUF:Q4_K_M", HubRef("Qwen/Qwen3-0.6B-GGUF", "", "Q4_K_M")),
        ("org/repo/file.gguf", HubRef("org/repo", "file.gguf")),
        ("org/repo/Q4/file.gguf", HubRef("org/repo", "Q4/file.gguf")),
        ("hf.co/org/repo:Q8_0", HubRef("org/repo", "", "Q8_0")),
        ("https://huggingface.co/org/repo", HubRef("org/repo")),
    ],
)
def test_references(text: str, expected: HubRef) -> None:
    assert HubRef.parse(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "name", "/repo", "org/", "org/repo/../../x.gguf", "org/repo/readme.md", "org/re po", "org/repo:Q4:Q5",
     "org/repo/file.gguf:Q4", "../repo", "org/repo//x.gguf", "org/repo/a\\b.gguf"],
)  # fmt: skip
def test_what_names_nothing_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument, match="names no model on the hub"):
        HubRef.parse(text)


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("a.gguf", True),
        ("sub/a.gguf", True),
        ("/etc/a.gguf", False),
        ("../a.gguf", False),
        ("a/../../b.gguf", False),
        ("C:\\a.gguf", False),
        ("a.bin", False),
        ("a\n.gguf", False),
        ("", False),
    ],
)
def test_names_from_elsewhere_stay_in_their_folder(name: str, safe: bool) -> None:
    assert is_safe(name) is safe


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Qwen3-0.6B-Q8_0.gguf", "Q8_0"),
        ("nomic-embed-text-v1.5.Q4_K_M.gguf", "Q4_K_M"),
        ("model-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
        ("model.f16.gguf", "F16"),
        ("tiny-q4_0.gguf", "Q4_0"),
        ("big-IQ2_XXS-00001-of-00002.gguf", "IQ2_XXS"),
        ("gpt-oss-20b-MXFP4.gguf", "MXFP4"),
        ("Qwen3-8B.gguf", ""),
    ],
)
def test_the_quantization_of_a_name(name: str, expected: str) -> None:
    assert quantization_of(name) == expected


def test_the_best_known_quantization_is_taken_unless_one_is_named() -> None:
    offered = files("m-Q2_K.gguf", "m-Q8_0.gguf", "m-Q4_K_M.gguf", "mmproj-m-f16.gguf", "m-F16.gguf")
    best = choose(offered)
    assert best is not None
    assert best.name == "m-Q4_K_M.gguf"
    named = choose(offered, "q8_0")
    assert named is not None
    assert named.name == "m-Q8_0.gguf"
    assert choose(offered, "Q3_K_S") is None
    only = choose(files("odd.gguf"))
    assert only is not None
    assert only.name == "odd.gguf"
    assert choose(files("mmproj.gguf")) is None


def test_the_projector_and_the_parts_belong_to_it() -> None:
    offered = files(
        "m-Q4_K_M-00001-of-00003.gguf",
        "mmproj-f32.gguf",
        "mmproj-f16.gguf",
        "m-Q4_K_M-00003-of-00003.gguf",
        "m-Q4_K_M-00002-of-00003.gguf",
        "m-Q8_0-00001-of-00002.gguf",
    )
    first = choose(offered)
    assert first is not None
    assert [one.name for one in parts_of(offered, first)] == [f"m-Q4_K_M-0000{at}-of-00003.gguf" for at in (1, 2, 3)]
    eyes = choose_projector(offered)
    assert eyes is not None
    assert eyes.name == "mmproj-f16.gguf"
    assert choose_projector(files("m.gguf")) is None


def test_roles_by_the_words_of_people() -> None:
    assert [role_of(word) for word in ("chat", "Embedding", "embed", "reranker", "rerank", "vision")] == [
        "chat", "embed", "embed", "rerank", "rerank", "vision",
    ]  # fmt: skip
    with pytest.raises(InvalidArgument, match="there is no task 'speech'"):
        role_of("speech")
