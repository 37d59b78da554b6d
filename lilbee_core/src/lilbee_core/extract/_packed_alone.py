"""Files packed one by one (gzip, bzip2, xz): what can be unpacked of them, and what is wrong with the rest."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

_PIECE = 1 << 16
_BLOCK = 1 << 20
_GZIP_HEAD = 31
"""What tells zlib to expect the head of gzip."""


@dataclass(frozen=True, slots=True)
class Single:
    """The content of a packed file, and why there is not more of it, if there should be."""

    content: bytes
    trouble: str | None = None


class _Unpacker(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...


def unpacked_alone(data: bytes, most: int) -> Single:
    """Unpack a file that is packed alone; it ends a little beyond `most` bytes.

    Such a file may be several ones, one behind the other. What else follows, as some programs leave it there, is not
    part of it.
    """
    mark, opened = next((mark, opened) for mark, opened in _KINDS if data.startswith(mark))
    pieces: list[bytes] = []
    size = at = 0
    while data.startswith(mark, at):
        stream = opened(data, at)
        try:
            for block in stream:
                pieces.append(block)
                size += len(block)
                if size > most:
                    return Single(b"".join(pieces))
        except (zlib.error, lzma.LZMAError, OSError, ValueError):
            return Single(b"".join(pieces), f"it is damaged behind its first {size} bytes")
        if stream.end is None:
            return Single(b"".join(pieces), f"it is cut short behind its first {size} bytes")
        at = stream.end
    rest = len(data) - at
    # Tapes and some programs fill up with zeros.
    trouble = f"the last {rest} bytes of it are no part of it" if data[at:].strip(b"\0") else None
    return Single(b"".join(pieces), trouble)


class _Stream:
    """One packed stream in blocks; then `end` tells where it ends in the data, None if it does not."""

    def __init__(self, data: bytes, at: int, unpacker: _Unpacker, blocks: Callable[[bytes], Iterator[bytes]]) -> None:
        self.end: int | None = None
        self._data = data
        self._at = at
        self._unpacker = unpacker
        self._blocks = blocks

    def __iter__(self) -> Iterator[bytes]:
        at = self._at
        while not self._unpacker.eof and at < len(self._data):
            piece = self._data[at : at + _PIECE]
            at += len(piece)
            yield from self._blocks(piece)
        if self._unpacker.eof:
            self.end = at - len(self._unpacker.unused_data)


def _gzip(data: bytes, at: int) -> _Stream:
    unpacker = zlib.decompressobj(_GZIP_HEAD)

    def blocks(piece: bytes) -> Iterator[bytes]:
        while piece and not unpacker.eof:
            yield unpacker.decompress(piece, _BLOCK)
            piece = unpacker.unconsumed_tail

    return _Stream(data, at, unpacker, blocks)


def _bzip2(data: bytes, at: int) -> _Stream:
    return _by_demand(data, at, bz2.BZ2Decompressor())


def _xz(data: bytes, at: int) -> _Stream:
    return _by_demand(data, at, lzma.LZMADecompressor(lzma.FORMAT_XZ))


def _by_demand(data: bytes, at: int, unpacker: bz2.BZ2Decompressor | lzma.LZMADecompressor) -> _Stream:
    def blocks(piece: bytes) -> Iterator[bytes]:
        yield unpacker.decompress(piece, _BLOCK)
        while not unpacker.eof and not unpacker.needs_input:
            yield unpacker.decompress(b"", _BLOCK)

    return _Stream(data, at, unpacker, blocks)


_KINDS: tuple[tuple[bytes, Callable[[bytes, int], _Stream]], ...] = (
    (b"\x1f\x8b", _gzip),
    (b"BZh", _bzip2),
    (b"\xfd7zXZ\x00", _xz),
)
