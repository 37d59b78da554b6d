"""The graph writer: the same bytes from whatever weights, checked against an independent forward pass."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lilbee_core.embed import MiniLM, _minilm_graph
from lilbee_core.embed._tokens import WordPieces, load_tokenizer
from lilbee_core.embed._weights import MODEL_BYTES, MODEL_SHA256, SOURCE_PACKAGE, SOURCE_SHA256, tokenizer_file
from tests.core.embed.numpy_minilm import embedding, token_states, weights_from_int8, weights_from_safetensors

TEXTS = [
    "How do bees find their way home?",
    "Honey bees use the position of the sun, polarized light and landmarks to return to the hive.",
    "The waggle dance tells other foragers direction and distance. " * 30,
]


def installed_weights() -> bytes:
    spec = importlib.util.find_spec(SOURCE_PACKAGE)
    assert spec is not None
    assert spec.origin is not None
    return (Path(spec.origin).parent / "model.onnx").read_bytes()


def ids_of(text: str) -> list[int]:
    return [101, *WordPieces(load_tokenizer(tokenizer_file())).ids(text, 254), 102]


def test_the_installed_integers_give_the_known_bytes() -> None:
    weights = installed_weights()
    assert hashlib.sha256(weights).hexdigest() == SOURCE_SHA256
    model = _minilm_graph.build(_minilm_graph.arrays_from_int8_onnx(weights))
    assert len(model) == MODEL_BYTES
    assert hashlib.sha256(model).hexdigest() == MODEL_SHA256
    assert MODEL_SHA256.startswith("fc9e2858")


def test_quantizing_keeps_every_value_within_half_a_step() -> None:
    matrix = np.random.default_rng(7).normal(size=(50, 30)).astype(np.float32)
    for axis in (0, 1):
        integers, scale = _minilm_graph.quantize(matrix, axis)
        assert integers.dtype == np.int8
        assert np.abs(integers).max(axis).min() == 127
        assert np.all(np.abs(integers * scale - matrix) <= scale * 0.5001)


@pytest.mark.slow
def test_the_graph_computes_what_numpy_computes_from_the_same_integers(minilm: MiniLM) -> None:
    weights = weights_from_int8(_minilm_graph.arrays_from_int8_onnx(installed_weights()))
    for text in TEXTS:
        expected = token_states(weights, ids_of(text))[1:-1]
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
        found = minilm.token_vectors(text)
        assert found.shape == expected.shape
        assert (found * expected).sum(1).mean() > 0.98
        assert float(minilm.embed([text])[0] @ embedding(weights, ids_of(text))) > 0.99


@pytest.mark.slow
def test_the_upstream_weights_give_the_same_bytes_and_the_stored_vectors(
    tmp_path: Path, float32_vectors: dict[str, list[float]]
) -> None:
    source = os.environ.get("LILBEE_MINILM_SOURCE")
    if not source:
        pytest.skip("LILBEE_MINILM_SOURCE names no folder or archive with the upstream model.safetensors")
    file = Path(source, "model.safetensors")
    if not file.is_file():
        with zipfile.ZipFile(source) as archive:
            member = next(name for name in archive.namelist() if name.endswith("all-MiniLM-L6-v2/model.safetensors"))
            file = Path(archive.extract(member, tmp_path))
    model = _minilm_graph.build(_minilm_graph.arrays_from_safetensors(file.read_bytes()))
    assert hashlib.sha256(model).hexdigest() == MODEL_SHA256
    weights = weights_from_safetensors(file)
    for text, stored in float32_vectors.items():
        assert np.allclose(embedding(weights, ids_of(text)), stored, atol=2e-5)
