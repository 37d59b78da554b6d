"""Members of zip archives under AES (WinZip, 7-Zip, WinRAR), which the standard library does not open."""

from __future__ import annotations

import hashlib
import hmac
import struct
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

METHOD = 99
"""What such a member says of its packing; the true method stands in a field of its own."""
_FIELD = 0x9901
_LOCAL_HEAD = struct.Struct("<26xHH")
_ROUNDS = 1000
_CHECK_BYTES, _SEAL_BYTES = 2, 10
_KEY_BYTES = {1: 16, 2: 24, 3: 32}
_STORED, _DEFLATED = 0, 8
_BLOCK = 16
_BLOCKS_AT_ONCE = 1 << 16


class NotOpened(Exception):
    """No password opens the member."""


@dataclass(frozen=True, slots=True)
class _Locked:
    """A member as it lies in the archive."""

    key_bytes: int
    method: int
    salt: bytes
    check: bytes
    content: bytes
    seal: bytes


def opened(data: bytes, entry: zipfile.ZipInfo, passwords: Sequence[str], most: int) -> bytes:
    """Return a member's content, at most one byte more than `most`.

    Raises:
        NotOpened: If no password opens it.
        NotImplementedError: If it is packed in a way that nothing here undoes.
        zipfile.BadZipFile: If it is damaged.
    """
    locked = _locked(data, entry)
    if locked.method not in (_STORED, _DEFLATED):
        raise NotImplementedError(f"method {locked.method}")
    for password in passwords:
        size = locked.key_bytes
        keys = hashlib.pbkdf2_hmac("sha1", password.encode(), locked.salt, _ROUNDS, 2 * size + _CHECK_BYTES)
        if keys[2 * size :] != locked.check:
            continue
        seal = hmac.digest(keys[size : 2 * size], locked.content, "sha1")[:_SEAL_BYTES]
        if hmac.compare_digest(seal, locked.seal):
            return _unpacked(_deciphered(locked.content, keys[:size]), locked.method, most)
    raise NotOpened


def _locked(data: bytes, entry: zipfile.ZipInfo) -> _Locked:
    try:
        strength, method = _facts(entry.extra)
        names, extras = _LOCAL_HEAD.unpack_from(data, entry.header_offset)
        key_bytes = _KEY_BYTES[strength]
    except (struct.error, KeyError) as error:
        raise zipfile.BadZipFile("a head of it is damaged") from error
    start = entry.header_offset + _LOCAL_HEAD.size + names + extras
    raw = data[start : start + entry.compress_size]
    salt = key_bytes // 2
    if len(raw) != entry.compress_size or len(raw) < salt + _CHECK_BYTES + _SEAL_BYTES:
        raise zipfile.BadZipFile("a member of it is cut short")
    return _Locked(
        key_bytes,
        method,
        raw[:salt],
        raw[salt : salt + _CHECK_BYTES],
        raw[salt + _CHECK_BYTES : -_SEAL_BYTES],
        raw[-_SEAL_BYTES:],
    )


def _facts(extra: bytes) -> tuple[int, int]:
    """Return the strength and the true method of packing."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == _FIELD:
            strength, method = struct.unpack_from("<4xBH", extra, at + 4)
            return strength, method
        at += 4 + size
    raise KeyError(_FIELD)


def _deciphered(content: bytes, key: bytes) -> bytes:
    """Undo AES that counts its blocks from 1, the lowest byte first."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    out = bytearray()
    for first in range(0, len(content), _BLOCK * _BLOCKS_AT_ONCE):
        piece = content[first : first + _BLOCK * _BLOCKS_AT_ONCE]
        number = first // _BLOCK + 1
        count = -(-len(piece) // _BLOCK)
        mask = cipher.update(b"".join(one.to_bytes(_BLOCK, "little") for one in range(number, number + count)))
        joined = int.from_bytes(piece, "little") ^ int.from_bytes(mask[: len(piece)], "little")
        out += joined.to_bytes(len(piece), "little")
    return bytes(out)


def _unpacked(content: bytes, method: int, most: int) -> bytes:
    if method == _STORED:
        return content[: most + 1]
    try:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(content, most + 1)
    except zlib.error as error:
        raise zipfile.BadZipFile("a member of it is damaged") from error
