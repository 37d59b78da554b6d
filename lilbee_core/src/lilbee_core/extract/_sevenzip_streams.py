"""How the streams of 7z archives are unpacked: coders of the standard library, one behind the other."""

from __future__ import annotations

import bz2
import hashlib
import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

_BLOCK = 1 << 20
_LEAST_WINDOW = 4096
_CHUNK = 1 << 16
_CIPHER = b"\x06\xf1\x07\x01"
_MOST_ROUNDS = 24
"""Powers of two; 7-Zip itself asks for 19."""
_PLAIN_KEY = 0x3F
_COPY = b"\x00"
_LZMA, _LZMA2, _DEFLATE, _BZIP2 = b"\x03\x01\x01", b"\x21", b"\x04\x01\x08", b"\x04\x02\x02"
_DELTA = b"\x03"
_BRANCHES = {
    b"\x04": lzma.FILTER_X86,
    b"\x03\x03\x01\x03": lzma.FILTER_X86,
    b"\x05": lzma.FILTER_POWERPC,
    b"\x03\x03\x02\x05": lzma.FILTER_POWERPC,
    b"\x06": lzma.FILTER_IA64,
    b"\x03\x03\x04\x01": lzma.FILTER_IA64,
    b"\x07": lzma.FILTER_ARM,
    b"\x03\x03\x05\x01": lzma.FILTER_ARM,
    b"\x08": lzma.FILTER_ARMTHUMB,
    b"\x03\x03\x07\x01": lzma.FILTER_ARMTHUMB,
    b"\x09": lzma.FILTER_SPARC,
    b"\x03\x03\x08\x05": lzma.FILTER_SPARC,
}
_NAMES: Mapping[bytes, str] = {
    b"\x03\x04\x01": "PPMd",
    b"\x03\x03\x01\x1b": "BCJ2",
    b"\x04\x01\x09": "Deflate64",
    b"\x04\xf7\x11\x01": "Zstandard",
    b"\x04\xf7\x11\x02": "Brotli",
    b"\x04\xf7\x11\x04": "LZ4",
}
Blocks = Iterator[bytes]


class BrokenArchive(Exception):
    """The archive is damaged; the message says how."""


class UnknownMethod(Exception):
    """The archive is packed in a way that nothing here undoes; the message names it."""


class WrongPassword(Exception):
    """No password was given, or none opens the archive."""


@dataclass(frozen=True, slots=True)
class Coder:
    """One step of packing, by its number in the format."""

    method: bytes
    options: bytes = b""
    simple: bool = True

    @property
    def is_cipher(self) -> bool:
        return self.method == _CIPHER


@dataclass(frozen=True, slots=True)
class Packed:
    """A packed stream: its coders from content to bytes, where the bytes lie, and the size of the content."""

    coders: tuple[Coder, ...]
    start: int
    length: int
    size: int


def unpacked(data: bytes, packed: Packed, password: str | None) -> Blocks:
    """Yield the content of a stream in blocks, at most a few of which are in memory.

    Raises:
        BrokenArchive: If the bytes are not what they should be; raised while reading.
        UnknownMethod: If they are packed in another way.
        WrongPassword: If they are encrypted and no password is given.
    """
    blocks = _slices(data, packed.start, packed.length)
    try:
        for coder in reversed(packed.coders):
            blocks = _step(coder, packed.size, password)(blocks)
    except lzma.LZMAError as error:
        raise BrokenArchive("it asks for what its format does not know") from error
    return _told_plainly(blocks)


def _slices(data: bytes, start: int, length: int) -> Blocks:
    for at in range(start, start + length, _BLOCK):
        yield data[at : min(at + _BLOCK, start + length)]


def _told_plainly(blocks: Blocks) -> Blocks:
    try:
        yield from blocks
    except (lzma.LZMAError, zlib.error, OSError, EOFError, ValueError) as error:
        raise BrokenArchive("a part of it cannot be unpacked") from error


def _step(coder: Coder, size: int, password: str | None) -> Callable[[Blocks], Blocks]:
    if not coder.simple:
        raise UnknownMethod(_NAMES.get(coder.method, coder.method.hex()))
    if coder.is_cipher:
        return _decipherer(coder.options, password)
    if coder.method == _COPY:
        return iter
    if coder.method in (_LZMA, _LZMA2):
        filters = [_lzma_filter(coder, size)]
        return lambda blocks: _through(_Lzma(filters), blocks)
    if coder.method == _BZIP2:
        return lambda blocks: _through(_Bzip2(), blocks)
    if coder.method == _DEFLATE:
        return lambda blocks: _through(_Deflate(), blocks)
    change = _change_filter(coder)
    if change is None:
        raise UnknownMethod(_NAMES.get(coder.method, coder.method.hex()))
    filters = [change, {"id": lzma.FILTER_LZMA2, "dict_size": _LEAST_WINDOW}]
    return lambda blocks: _through(_Lzma(filters), _as_lzma2(blocks))


def _lzma_filter(coder: Coder, size: int) -> dict[str, int]:
    options = coder.options
    if coder.method == _LZMA2:
        if len(options) != 1 or options[0] > 40:
            raise BrokenArchive("its head is damaged")
        window = (2 | options[0] & 1) << options[0] // 2 + 11
        return {"id": lzma.FILTER_LZMA2, "dict_size": _window(window, size)}
    if len(options) != 5 or options[0] >= 225:
        raise BrokenArchive("its head is damaged")
    rest, lc = divmod(options[0], 9)
    pb, lp = divmod(rest, 5)
    window = int.from_bytes(options[1:], "little")
    return {"id": lzma.FILTER_LZMA1, "dict_size": _window(window, size), "lc": lc, "lp": lp, "pb": pb}


def _window(wanted: int, size: int) -> int:
    """Return how far back the coder has to remember: never farther than the content is long."""
    return min(max(min(wanted, size), _LEAST_WINDOW), 0xFFFFFFFF)


def _change_filter(coder: Coder) -> dict[str, int] | None:
    """Return the filter for machine code, or for numbers that differ by little."""
    if coder.method == _DELTA:
        return {"id": lzma.FILTER_DELTA, "dist": coder.options[0] + 1 if coder.options else 1}
    branch = _BRANCHES.get(coder.method)
    return None if branch is None else {"id": branch}


def _as_lzma2(blocks: Blocks) -> Blocks:
    """Wrap bytes as they are into the frames of LZMA2: the library runs its other filters in front of it only."""
    first = True
    for block in blocks:
        for at in range(0, len(block), _CHUNK):
            piece = block[at : at + _CHUNK]
            yield (b"\x01" if first else b"\x02") + (len(piece) - 1).to_bytes(2, "big") + piece
            first = False
    yield b"\x00"


class _Lzma:
    def __init__(self, filters: list[dict[str, int]]) -> None:
        self._decoder = lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=filters)

    def feed(self, data: bytes) -> Blocks:
        while not self._decoder.eof:
            block = self._decoder.decompress(data, _BLOCK)
            data = b""
            if block:
                yield block
            elif self._decoder.needs_input:
                return


class _Bzip2:
    """Several streams may follow each other."""

    def __init__(self) -> None:
        self._decoder = bz2.BZ2Decompressor()

    def feed(self, data: bytes) -> Blocks:
        while data or not self._decoder.needs_input:
            if self._decoder.eof:
                data = self._decoder.unused_data + data
                self._decoder = bz2.BZ2Decompressor()
                if not data:
                    return
            block = self._decoder.decompress(data, _BLOCK)
            data = b""
            if block:
                yield block


class _Deflate:
    def __init__(self) -> None:
        self._decoder = zlib.decompressobj(-zlib.MAX_WBITS)

    def feed(self, data: bytes) -> Blocks:
        while data and not self._decoder.eof:
            block = self._decoder.decompress(data, _BLOCK)
            data = self._decoder.unconsumed_tail
            if block:
                yield block


def _through(decoder: _Lzma | _Bzip2 | _Deflate, blocks: Blocks) -> Blocks:
    return chain.from_iterable(map(decoder.feed, blocks))


# ------------------------------------------------------------------ passwords


def _decipherer(options: bytes, password: str | None) -> Callable[[Blocks], Blocks]:
    if password is None:
        raise WrongPassword
    rounds, salt, start = _cipher_options(options)
    key = _key(password, salt, rounds)

    def decipher(blocks: Blocks) -> Blocks:
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

        cipher = Cipher(algorithms.AES(key), modes.CBC(start)).decryptor()
        for block in blocks:
            yield cipher.update(block)

    return decipher


def _cipher_options(options: bytes) -> tuple[int, bytes, bytes]:
    """Return the power of rounds, the salt and the start of the chain."""
    if not options:
        raise BrokenArchive("its head is damaged")
    rounds = options[0] & 0x3F
    salt_size, start_size, at = 0, 0, 1
    if options[0] & 0xC0:
        if len(options) < 2:
            raise BrokenArchive("its head is damaged")
        salt_size = (options[0] >> 7 & 1) + (options[1] >> 4)
        start_size = (options[0] >> 6 & 1) + (options[1] & 15)
        at = 2
    if len(options) != at + salt_size + start_size or (rounds > _MOST_ROUNDS and rounds != _PLAIN_KEY):
        raise BrokenArchive("its head is damaged")
    return rounds, options[at : at + salt_size], options[at + salt_size :].ljust(16, b"\0")


@lru_cache(maxsize=8)
def _key(password: str, salt: bytes, rounds: int) -> bytes:
    start = salt + password.encode("utf-16-le", "surrogatepass")
    if rounds == _PLAIN_KEY:
        return start[:32].ljust(32, b"\0")
    digest = hashlib.sha256()
    for low in range(0, 1 << rounds, 1024):
        numbers = range(low, min(low + 1024, 1 << rounds))
        digest.update(b"".join(start + number.to_bytes(8, "little") for number in numbers))
    return digest.digest()
