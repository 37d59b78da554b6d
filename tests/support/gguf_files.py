"""Writes small GGUF files: the keys a test names, and tensors whose bytes are never read."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

F32, F16, Q8_0 = 0, 1, 8
_BLOCKS = {F32: (1, 4), F16: (1, 2), Q8_0: (32, 34)}
_ALIGNMENT = 32


def write_gguf(
    path: Path,
    values: Mapping[str, Any],
    tensors: Mapping[str, tuple[tuple[int, ...], int]] | None = None,
    *,
    version: int = 3,
) -> Path:
    """Write a GGUF file. Tensors are given by name with shape and type; their bytes are a hole of the right size."""
    named = dict(tensors or {})
    head = b"GGUF" + struct.pack("<IQQ", version, len(named), len(values))
    for key, value in values.items():
        head += _text(key) + _value(value)
    offset = 0
    for name, (shape, kind) in named.items():
        head += _text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        head += struct.pack("<IQ", kind, offset)
        offset = _aligned(offset + _bytes(shape, kind))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(head)
        file.truncate(_aligned(len(head)) + offset if named else len(head))
    return path


def llama(
    path: Path, *, layers: int = 4, width: int = 64, vocabulary: int = 128, quantized: bool = False, **values: Any
) -> Path:
    """Write a small model that chats; `values` replace keys, with ``__`` for a dot."""
    kind = Q8_0 if quantized else F16
    keys: dict[str, Any] = {
        "general.architecture": "llama",
        "general.name": "Tiny",
        "general.file_type": 7 if quantized else 1,
        "llama.block_count": layers,
        "llama.context_length": 4096,
        "llama.embedding_length": width,
        "llama.feed_forward_length": width * 4,
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 2,
        "tokenizer.ggml.tokens": [f"word{at}" for at in range(vocabulary)],
        "tokenizer.chat_template": "{% if tools %}{{ tools }}{% endif %}{{ messages }}",
    }
    keys.update({key.replace("__", "."): value for key, value in values.items()})
    return write_gguf(path, keys, llama_tensors(layers, width, vocabulary, kind))


def llama_tensors(layers: int, width: int, vocabulary: int, kind: int) -> dict[str, tuple[tuple[int, ...], int]]:
    """Return the tensors of a small model."""
    tensors: dict[str, tuple[tuple[int, ...], int]] = {"token_embd.weight": ((width, vocabulary), kind)}
    for layer in range(layers):
        tensors[f"blk.{layer}.attn_q.weight"] = ((width, width), kind)
        tensors[f"blk.{layer}.ffn_up.weight"] = ((width, width * 4), kind)
    tensors["output_norm.weight"] = ((width,), F32)
    tensors["output.weight"] = ((width, vocabulary), kind)
    return tensors


def bert(path: Path, *, pooling: int = 1, layers: int = 2, width: int = 64, **values: Any) -> Path:
    """Write a small model that embeds, or one that ranks with pooling 4."""
    keys: dict[str, Any] = {
        "general.architecture": "bert",
        "general.name": "Small",
        "bert.block_count": layers,
        "bert.context_length": 512,
        "bert.embedding_length": width,
        "bert.attention.head_count": 4,
        "bert.pooling_type": pooling,
    }
    keys.update({key.replace("__", "."): value for key, value in values.items()})
    tensors: dict[str, tuple[tuple[int, ...], int]] = {"token_embd.weight": ((width, 100), F16)}
    tensors |= {f"blk.{layer}.attn_q.weight": ((width, width), F16) for layer in range(layers)}
    return write_gguf(path, keys, tensors)


def mmproj(path: Path, *, width: int = 64) -> Path:
    """Write a projector that fits models of this width."""
    keys = {"general.architecture": "clip", "general.type": "mmproj", "clip.vision.projection_dim": width}
    return write_gguf(path, keys, {"mm.0.weight": ((width, width), F16)})


def _value(value: Any) -> bytes:
    if isinstance(value, bool):
        return struct.pack("<I?", 7, value)
    if isinstance(value, int):
        return struct.pack("<II", 4, value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, str):
        return struct.pack("<I", 8) + _text(value)
    return struct.pack("<I", 9) + _array(value)


def _array(items: Sequence[Any]) -> bytes:
    if items and isinstance(items[0], str):
        return struct.pack("<IQ", 8, len(items)) + b"".join(_text(item) for item in items)
    if items and isinstance(items[0], bool):
        return struct.pack(f"<IQ{len(items)}?", 7, len(items), *items)
    return struct.pack(f"<IQ{len(items)}i", 5, len(items), *items)


def _text(text: str) -> bytes:
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def _bytes(shape: tuple[int, ...], kind: int) -> int:
    count = 1
    for one in shape:
        count *= one
    per_block, size = _BLOCKS[kind]
    return -(-count // per_block) * size


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNMENT) * _ALIGNMENT
