"""MiniLM once more, in plain float32 numpy: slow, and written without a look at the graph that it judges."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Weights = dict[str, NDArray[np.float32]]
LAYERS, HEADS = 6, 12


def weights_from_safetensors(path: Path) -> Weights:
    blob = path.read_bytes()
    (size,) = struct.unpack("<Q", blob[:8])
    weights: Weights = {}
    for name, entry in json.loads(blob[8 : 8 + size]).items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            start, end = (8 + size + offset for offset in entry["data_offsets"])
            weights[name] = np.frombuffer(blob[start:end], np.float32).reshape(entry["shape"])
    return weights


def weights_from_int8(arrays: dict[str, NDArray[Any]]) -> Weights:
    """Blow the integers up again; matrices are stored transposed, as the graph uses them."""
    weights: Weights = {}
    for name, value in arrays.items():
        if name.endswith(".q"):
            full = value.astype(np.float32) * arrays[f"{name[:-2]}.s"]
            weights[name[:-2]] = full if "embeddings" in name else full.T
        elif not name.endswith(".s"):
            weights[name] = value
    return weights


def _norm(x: NDArray[Any], gain: NDArray[Any], bias: NDArray[Any]) -> NDArray[Any]:
    centered = x - x.mean(-1, keepdims=True)
    return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-12) * gain + bias


def _softmax(x: NDArray[Any]) -> NDArray[Any]:
    raised = np.exp(x - x.max(-1, keepdims=True))
    return raised / raised.sum(-1, keepdims=True)


_erf = np.vectorize(math.erf, otypes=[np.float32])


def token_states(weights: Weights, ids: list[int]) -> NDArray[Any]:
    """The last layer's vectors, one per id."""

    def dense(x: NDArray[Any], name: str) -> NDArray[Any]:
        return x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(x: NDArray[Any], name: str) -> NDArray[Any]:
        return _norm(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    table = "embeddings.{}_embeddings.weight".format
    x = weights[table("word")][ids] + weights[table("position")][: len(ids)] + weights[table("token_type")][0]
    x = norm(x, "embeddings.LayerNorm")
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}"
        q, k, v = (
            dense(x, f"{at}.attention.self.{kind}").reshape(len(ids), HEADS, -1).transpose(1, 0, 2)
            for kind in ("query", "key", "value")
        )
        mixed = _softmax(q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])) @ v
        mixed = mixed.transpose(1, 0, 2).reshape(len(ids), -1)
        x = norm(dense(mixed, f"{at}.attention.output.dense") + x, f"{at}.attention.output.LayerNorm")
        wide = dense(x, f"{at}.intermediate.dense")
        wide = wide * (1 + _erf(wide / math.sqrt(2))) / 2
        x = norm(dense(wide, f"{at}.output.dense") + x, f"{at}.output.LayerNorm")
    return x


def embedding(weights: Weights, ids: list[int]) -> NDArray[Any]:
    mean = token_states(weights, ids).mean(0)
    return mean / np.linalg.norm(mean)
