"""The head of a GGUF file: its keys, and where its tensors lie. No weights are read.

The `gguf` package reads the same, and takes 3 seconds of processor time for a small model's vocabulary (one array of
numpy per word) where this walk takes a hundredth of it; a list of installed models must not wait for that.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

from lilbee_core.errors import ModelFileError

Value: TypeAlias = "int | float | bool | str | tuple[int | float | bool | str, ...] | Skipped"

_MAGIC = b"GGUF"
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_KEPT_ITEMS = 4096
_KEPT_STRINGS = 64
_ALIGNMENT = 32
_LONGEST_KEY = 1 << 16
_MOST_DIMENSIONS = 8
# Tensor type: numbers in a block, and its bytes.
_BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 40),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292), 16: (256, 66),
    17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136),
    24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54),
    35: (256, 66), 39: (32, 17), 40: (64, 36), 41: (128, 18),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Skipped:
    """An array that is too long to be worth keeping."""

    length: int


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor of the file."""

    name: str
    elements: int
    bytes: int
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """What stands before the weights of a GGUF file."""

    path: Path
    size_bytes: int
    values: Mapping[str, Value]
    tensors: tuple[Tensor, ...]

    def text(self, key: str, default: str = "") -> str:
        """Return a text, or the default if there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else default

    def number(self, key: str, default: int = 0) -> int:
        """Return a whole number; the largest one where each layer has its own."""
        value = self.values.get(key)
        if isinstance(value, tuple):
            return max((int(one) for one in value if isinstance(one, int | float)), default=default)
        return int(value) if isinstance(value, int | float) else default

    def numbers(self, key: str, count: int, default: int = 0) -> tuple[int, ...]:
        """Return a number per layer, also where the file gives one for all."""
        value = self.values.get(key)
        if isinstance(value, tuple) and len(value) >= count:
            return tuple(int(one) for one in value[:count] if isinstance(one, int | float))
        return (self.number(key, default),) * count

    def length(self, key: str) -> int:
        """Return how many items an array has."""
        value = self.values.get(key)
        if isinstance(value, Skipped):
            return value.length
        return len(value) if isinstance(value, tuple) else 0


def read_head(path: Path) -> Head:
    """Read keys and tensors of a GGUF file.

    Raises:
        ModelFileError: If there is no such file, it is no GGUF, or a part of it is missing.
    """
    try:
        with path.open("rb") as file:
            size = path.stat().st_size
            if size < len(_MAGIC) or file.read(len(_MAGIC)) != _MAGIC:
                raise _refusal(path, "is not a GGUF file", "Choose a file in GGUF format.")
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
                return _Cursor(path, content).head()
    except OSError as error:
        hint = "Check the path, or fetch the model: `lilbee model pull REF`."
        raise ModelFileError(f"{path} cannot be read: {error.strerror or error}", hint=hint) from error


class _Cursor:
    """Walks over the bytes. Everything is checked against the end of the file before it is believed."""

    def __init__(self, path: Path, content: mmap.mmap) -> None:
        self._path = path
        self._content = content
        self._size = len(content)
        self._at = len(_MAGIC)

    def head(self) -> Head:
        version = self._scalar("I")
        if not version & 0xFFFF:
            raise _refusal(self._path, "is a big-endian GGUF file", "Fetch the model for this machine.")
        if version not in {2, 3}:
            hint = "Convert it again, or fetch a newer file of the model."
            raise _refusal(self._path, f"has version {version} of GGUF, which cannot be read", hint)
        tensors, keys = self._scalar("Q"), self._scalar("Q")
        if (tensors + keys) * 8 > self._size:
            raise self._cut(f"{keys} keys and {tensors} tensors are announced")
        values = dict(self._key() for _ in range(keys))
        placed = [self._tensor() for _ in range(tensors)]
        return Head(path=self._path, size_bytes=self._size, values=values, tensors=self._sized(values, placed))

    # ------------------------------------------------------------------ pieces

    def _key(self) -> tuple[str, Value]:
        name = self._string(_LONGEST_KEY)
        return name, self._value(self._scalar("I"))

    def _value(self, kind: int) -> Value:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            return self._array()
        if kind not in _SCALARS:
            raise _refusal(self._path, f"holds a value of the unknown type {kind}", "Fetch it again: it is damaged.")
        return self._number(_SCALARS[kind])

    def _array(self) -> Value:
        kind, length = self._scalar("I"), self._scalar("Q")
        if kind == _STRING:
            return self._strings(length)
        if kind not in _SCALARS:
            raise _refusal(self._path, f"holds an array of the unknown type {kind}", "Fetch it again: it is damaged.")
        form = _SCALARS[kind]
        total = length * struct.calcsize(form)
        start = self._take(total)
        if length > _KEPT_ITEMS:
            return Skipped(length)
        return struct.unpack_from(f"<{length}{form}", self._content, start)

    def _strings(self, length: int) -> Value:
        if length * 8 > self._size - self._at:
            raise self._cut(f"a list of {length} texts is announced")
        if length <= _KEPT_STRINGS:
            return tuple(self._string() for _ in range(length))
        content, at, end = self._content, self._at, self._size
        unpack = struct.Struct("<Q").unpack_from
        for _ in range(length):
            if at + 8 > end:
                raise self._cut("a list of texts goes on")
            at += 8 + unpack(content, at)[0]
        self._at = at
        if at > end:
            raise self._cut("a list of texts goes on")
        return Skipped(length)

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        name = self._string(_LONGEST_KEY)
        count = self._scalar("I")
        if count > _MOST_DIMENSIONS:
            raise _refusal(self._path, f"has a tensor of {count} dimensions", "Fetch it again: it is damaged.")
        shape = tuple(self._scalar("Q") for _ in range(count))
        return name, shape, self._scalar("I"), self._scalar("Q")

    def _sized(
        self, values: Mapping[str, Value], placed: list[tuple[str, tuple[int, ...], int, int]]
    ) -> tuple[Tensor, ...]:
        """Give every tensor its size, and see that the last one ends where the file does."""
        announced = values.get("general.alignment")
        alignment = announced if isinstance(announced, int) and announced > 0 else _ALIGNMENT
        start = -(-self._at // alignment) * alignment
        offsets = sorted(offset for _, _, _, offset in placed)
        following = dict(pairwise([*offsets, max(0, self._size - start)]))
        tensors: list[Tensor] = []
        needed = 0
        for name, shape, kind, offset in placed:
            elements = _product(shape)
            per_block, block_bytes = _BLOCKS.get(kind, (0, 0))
            # A type from after this was written takes what lies before the next tensor.
            size = -(-elements // per_block) * block_bytes if per_block else following[offset] - offset
            needed = max(needed, start + offset + size)
            tensors.append(Tensor(name, elements, size, shape))
        if needed > self._size:
            raise self._cut(f"the weights end at byte {needed:,}")
        return tuple(tensors)

    # ------------------------------------------------------------------ bytes

    def _take(self, count: int) -> int:
        start = self._at
        if count > self._size - start:
            raise self._cut("a value goes on")
        self._at = start + count
        return start

    def _number(self, form: str) -> int | float | bool:
        value: int | float | bool = struct.unpack_from(f"<{form}", self._content, self._take(struct.calcsize(form)))[0]
        return value

    def _scalar(self, form: str) -> int:
        return int(self._number(form))

    def _string(self, limit: int | None = None) -> str:
        length = self._scalar("Q")
        if limit is not None and length > limit:
            raise _refusal(self._path, f"has a name of {length} bytes", "Fetch it again: it is damaged.")
        start = self._take(length)
        return self._content[start : start + length].decode("utf-8", "replace")

    def _cut(self, what: str) -> ModelFileError:
        message = f"ends too early: {what}, and the file has {self._size:,} bytes"
        return _refusal(self._path, message, "Fetch it again: it is cut off or damaged.")


def _product(shape: tuple[int, ...]) -> int:
    result = 1
    for one in shape:
        result *= one
    return result


def _refusal(path: Path, what: str, hint: str) -> ModelFileError:
    return ModelFileError(f"{path} {what}", hint=hint)
