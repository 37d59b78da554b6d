"""The graph writer: the same bytes from whatever weights, checked against an independent forward pass."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from lilbee_core.embed import MiniLM, _minilm_graph
from lilbee_core.embed._tokens import WordPieces, load_tokenizer
from lilbee_core.embed._weights import MODEL_BYTES, MODEL_SHA256, SOURCE_PACKAGE, SOURCE_SHA256, tokenizer_file
from tests.core.embed.numpy_minilm import Weights, embedding, token_states, weights_from_int8, weights_from_safetensors

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


@pytest.mark.slow
def test_float_weights_are_read_and_quantized_to_the_same_integers() -> None:
    known = _minilm_graph.arrays_from_int8_onnx(installed_weights())
    positions = known.pop("embeddings.position_ids")  # not a weight
    weights = {**weights_from_int8(known), "pooler.dense.weight": np.ones((2, 2), np.float32)}
    found = _minilm_graph.arrays_from_safetensors(
        safetensors(weights, {"embeddings.position_ids": positions}, {"format": "pt"})
    )
    assert sorted(found) == sorted(known)
    for name, value in known.items():
        if name.endswith(".s"):
            assert np.allclose(found[name], value, rtol=1e-6)
        else:
            assert (found[name] == value).all()


def safetensors(weights: Weights, integers: dict[str, NDArray[np.int64]], metadata: dict[str, str]) -> bytes:
    header: dict[str, object] = {"__metadata__": metadata}
    blobs: list[bytes] = []
    at = 0
    for name, value in {**weights, **integers}.items():
        blob = np.ascontiguousarray(value).tobytes()
        kind = "F32" if value.dtype == np.float32 else "I64"
        header[name] = {"dtype": kind, "shape": list(value.shape), "data_offsets": [at, at + len(blob)]}
        blobs.append(blob)
        at += len(blob)
    front = json.dumps(header).encode()
    return b"".join([struct.pack("<Q", len(front)), front, *blobs])
