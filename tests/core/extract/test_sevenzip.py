"""7z archives as 7-Zip writes them: every way of packing that the standard library undoes, and what it does not."""

from __future__ import annotations

import base64
import bz2
import contextlib
import lzma
import struct
import zlib
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lilbee_core.errors import EncryptedDocument, ExtractError, LilbeeError, LimitExceeded, UnsupportedFormat
from lilbee_core.extract._archive import ArchiveExtractor
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._run import run_extractor
from lilbee_core.extract._sevenzip import SevenZip
from lilbee_core.extract._sevenzip_streams import BrokenArchive, UnknownMethod, WrongPassword
from lilbee_core.extract._zip_aes import _deciphered as deciphered
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.types import Document, Source
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]


def stored(text: str) -> bytes:
    return base64.b64decode("".join(text.split()))


# Written by 7-Zip 22.01: `7zz a`, with -pgeheim, -pgeheim -mhe=on, -m0=PPMd.
PLAIN = stored("""
    N3q8ryccAASQD68TqwAAAAAAAAAhAAAAAAAAAIrVdAcBACdSYXpvcmJpbGwgb24gdGhlIGNsaWZmCiMgRGVlcApHdWlsbGVtb3QKAAAAgTMHrg
    /QxEs8nz9HQQQPcQz9HosCIhUSck8+HapMIqobhRY6FDlPPRH/6Lc6Km//0lhpxZSDbhs0nCrr6Eo14IX4GCnj7EPORvShBHC3Un/VOGKSjnZN
    1k+x4/Y3iO8HdQO6D+SdJ3pAuVLAvyXnTH/7BRGgMBQy67kAAAAXBiwBCX8ABwsBAAEjAwEBBV0AEAAADICuCgHuo1/JAAA=""")
LOCKED = stored("""
    N3q8ryccAAQeCABCIAAAAAAAAABiAAAAAAAAALnMjFuFmaruk7x93foViXSuDtf+n8MeNwnAznWHBkE+reYRqQEEBgABCSAABwsBAAIkBvEHAR
    JTD0W/FVc60IXYwWxnjG+U4NAhIQEAAQAMGxcACAoBmzGa9gAABQEZAQARDQBhAC4AdAB4AHQAAAAUCgEA6oT1tLOA3QEVBgEAIICkgQAA""")
LOCKED_NAMES = stored("""
    N3q8ryccAATJ6P2KwAAAAAAAAAA+AAAAAAAAADgTL9MGeDjI9EF/yAPTM08pS4ADEk7uIBXqZGeMesaNCmqta1epJr3WniivQdeqsJJZlVzXhE
    PSSi1NdnqMnNSqs7j+vVhIuMW5oldKb4d7EpdgZcbnZOUzM2WwU/sq2OzddwCidL+H/sAWQAmFoQGtL2jkalTRpGfiJIVBrNAa3Cg4//QzBJzu
    c2Gml2flMv9PBg/6EqPz1yk59nLGj6c6uglPG8DI3Jh1OZl2KzuCFO0ih6U5mvILK6c3lUmB2wqH7mMXBjABCYCQAAcLAQACJAbxBwESUw+One
    VfN9YvPbFEkKZRHdeaIwMBAQVdABAAAAEADICNgKoKARf3MXwAAA==""")
PPMD = stored("""
    N3q8ryccAATkcazvGgAAAAAAAABSAAAAAAAAAHFNU/AAUhF6yq8203xVZYRZi8UqnxBDzW7AEZ/yAAEEBgABCRoABwsBAAEjAwQBBQYAAAEADB
    cACAoBmzGa9gAABQEZBgAAAAAAABENAGEALgB0AHgAdAAAABQKAQDqhPW0s4DdARUGAQAggKSBAAA=""")


# The same program, `-tzip -pgeheim`, with -mem=AES256 and -mem=AES128 -mx=0.
ZIP_AES = stored("""
    UEsDBDMAAQBjAOtRfl0AAAAAMwAAABcAAAAFAAsAYS50eHQBmQcAAgBBRQMAAK0iIrxbcjVuxJSGcBkA6USefv14Mg3eRiZGSSbHT6SSqYwcK9
    trSHVJIsY0c4vHiNOQSVBLAwQUAAAAAADrUX5dAAAAAAAAAAAAAAAABAAAAHN1Yi9QSwMEMwABCGMA61F+XQAAAAAtAAAAEQAAAAsACwBzdWIv
    YiDDvC5tZAGZBwACAEFFAwAADZYo7xpnwp+iTs8Mjf/We1e6l5IGN5kOTi8WxD6SnCcydl4FjZgH60xa7FFfUEsBAj8DMwABAGMA61F+XQAAAA
    AzAAAAFwAAAAUALwAAAAAAAAAggKSBAAAAAGEudHh0CgAgAAAAAAABABgA6oT1tLOA3QEAAAAAAAAAAAAAAAAAAAAAAZkHAAIAQUUDAABQSwEC
    PwMUAAAAAADrUX5dAAAAAAAAAAAAAAAABAAkAAAAAAAAABCA7UFhAAAAc3ViLwoAIAAAAAAAAQAYAOqE9bSzgN0BAAAAAAAAAAAAAAAAAAAAAF
    BLAQI/AzMAAQhjAOtRfl0AAAAALQAAABEAAAALAC8AAAAAAAAAIICkgYMAAABzdWIvYiDDvC5tZAoAIAAAAAAAAQAYAOqE9bSzgN0BAAAAAAAA
    AAAAAAAAAAAAAAGZBwACAEFFAwAAUEsFBgAAAAADAAMAIAEAAOQAAAAAAA==""")
ZIP_AES_STORED = stored("""
    UEsDBDMAAQBjAOtRfl0AAAAAKwAAABcAAAAFAAsAYS50eHQBmQcAAgBBRQEAAKlKWhqP0uf1y6L7dbeAyeHfFfuhCszox7PO5rHZzlOOKc8zld
    +KkJ/W0KpQSwECPwMzAAEAYwDrUX5dAAAAACsAAAAXAAAABQAvAAAAAAAAACCApIEAAAAAYS50eHQKACAAAAAAAAEAGADqhPW0s4DdAQAAAAAA
    AAAAAAAAAAAAAAABmQcAAgBBRQEAAFBLBQYAAAAAAQABAGIAAABZAAAAAAA=""")


def number(value: int) -> bytes:
    """Write a number as the format does."""
    for more in range(9):
        if value < 1 << (7 * (more + 1)) and more < 8:
            first = (0xFF00 >> more & 0xFF) | value >> 8 * more
            return bytes([first]) + (value & (1 << 8 * more) - 1).to_bytes(more, "little")
    return b"\xff" + value.to_bytes(8, "little")


def sevenzip(
    files: dict[str, bytes],
    method: bytes = b"\x00",
    options: bytes = b"",
    pack: Callable[[bytes], bytes] = bytes,
    *,
    told: dict[str, int] | None = None,
) -> bytes:
    """Write an archive of one stream; `told` says other sizes than the true ones."""
    content = b"".join(files.values())
    packed = pack(content)
    sizes = [(told or {}).get(name, len(data)) for name, data in files.items()]
    coder = (
        bytes([len(method) | (0x20 if options else 0)]) + method + (number(len(options)) + options if options else b"")
    )
    streams = (
        b"\x04\x06" + number(0) + number(1) + b"\x09" + number(len(packed)) + b"\x00"
        + b"\x07\x0b" + number(1) + b"\x00" + number(1) + coder + b"\x0c" + number(sum(sizes)) + b"\x00"
        + b"\x08\x0d" + number(len(files)) + b"\x09" + b"".join(map(number, sizes[:-1]))
        + b"\x0a\x01" + b"".join(struct.pack("<I", zlib.crc32(data)) for data in files.values()) + b"\x00\x00"
    )  # fmt: skip
    names = b"\x00" + b"".join(name.encode("utf-16-le") + b"\0\0" for name in files)
    head = b"\x01" + streams + b"\x05" + number(len(files)) + b"\x11" + number(len(names)) + names + b"\x00\x00"
    start = struct.pack("<QQI", len(packed), len(head), zlib.crc32(head))
    return b"7z\xbc\xaf\x27\x1c\x00\x04" + struct.pack("<I", zlib.crc32(start)) + start + packed + head


def contents(data: bytes, *passwords: str) -> dict[str, bytes]:
    return {entry.name: b"".join(blocks) for entry, blocks in SevenZip(data, passwords).members()}


def raw(*filters: dict[str, int]) -> Callable[[bytes], bytes]:
    return lambda data: lzma.compress(data, lzma.FORMAT_RAW, filters=list(filters))


def deflated(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


LZMA2 = {"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}
LZMA1 = {"id": lzma.FILTER_LZMA1, "dict_size": 1 << 20, "lc": 3, "lp": 0, "pb": 2}
FILES = {
    "a.txt": b"Razorbill on the cliff\n" * 9_000,
    "dir/b.md": b"# Deep\nGuillemot\n",
    "c.csv": bytes(range(256)) * 99,
}


@pytest.mark.parametrize(
    ("method", "options", "pack"),
    [
        (b"\x00", b"", bytes),
        (b"\x21", b"\x10", raw(LZMA2)),
        (b"\x03\x01\x01", b"\x5d" + struct.pack("<I", 1 << 20), raw(LZMA1)),
        (b"\x04\x01\x08", b"", deflated),
        (b"\x04\x02\x02", b"", bz2.compress),
    ],
    ids=["copy", "lzma2", "lzma", "deflate", "bzip2"],
)
def test_ways_of_packing(method: bytes, options: bytes, pack: Callable[[bytes], bytes]) -> None:
    assert contents(sevenzip(FILES, method, options, pack)) == FILES


def test_archives_of_7_zip_are_read(document: ReadDocument) -> None:
    found = document("a.7z", PLAIN)
    assert {one.member: one.span.cut(found.text) for one in found.segments} == {
        "a.txt": "Razorbill on the cliff",
        "sub/b ü.md": "# Deep\nGuillemot",
    }
    assert found.metadata["members"] == 3


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.7z", LOCKED), ("a.7z", LOCKED_NAMES), ("a.zip", ZIP_AES), ("a.zip", ZIP_AES_STORED)],
    ids=["files", "names too", "zip", "zip, not packed"],
)
def test_passwords_open_archives(name: str, data: bytes, document: ReadDocument, read: Read) -> None:
    assert "Razorbill on the cliff" in document(name, data, password="wrong\ngeheim").text
    for password in (None, "wrong"):
        error = read(name, data, password=password)
        assert isinstance(error, EncryptedDocument)
        assert ("does not open it" in error.message) is (password is not None)


def test_a_changed_byte_under_aes_is_noticed(read: Read) -> None:
    for at in range(0x2E, 0x59, 4):
        data = bytearray(ZIP_AES_STORED)
        data[at] ^= 1
        assert isinstance(read("a.zip", bytes(data), password="geheim"), ExtractError), at


def test_many_blocks_under_aes_are_counted_right() -> None:
    """The standard's counter, over the end of a batch of blocks."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    key, content = bytes(range(32)), bytes(3 * (1 << 20) + 7)
    cipher = Cipher(algorithms.AES(key), modes.ECB()).encryptor()
    last = len(content) // 16
    tail = cipher.update((last + 1).to_bytes(16, "little"))[: len(content) % 16]
    assert deciphered(content, key)[-len(tail) :] == tail
    assert deciphered(deciphered(content, key), key) == content


def test_what_cannot_be_unpacked_is_named(read: Read) -> None:
    error = read("a.7z", PPMD)
    assert isinstance(error, UnsupportedFormat)
    assert "packed by PPMd" in error.message
    with pytest.raises(UnknownMethod, match="PPMd"):
        contents(PPMD)


def test_a_damaged_file_costs_itself_alone(document: ReadDocument) -> None:
    data = sevenzip({"a.txt": b"Razorbill", "b.txt": b"Guillemot"}, b"\x00", b"", bytes)
    found = document("a.7z", data.replace(b"Razor", b"RazOr"))
    assert [one.member for one in found.segments] == ["b.txt"]
    assert found.warnings == ("member not read: a.txt is damaged: it cannot be unpacked",)


def test_names_lead_nowhere(document: ReadDocument) -> None:
    data = sevenzip({"../../evil.md": b"a", "/abs.md": b"b", "c:\\d\\..\\e.md": b"c", "__MACOSX/x": b"d"})
    assert [one.member for one in document("a.7z", data).segments] == ["evil.md", "abs.md", "c:/d/e.md"]


def limited(data: bytes, limits: MemberLimits) -> Document | LilbeeError:
    source = Source(collection="c", path="a.7z", media_type="application/x-7z-compressed", data=data)
    return run_extractor(ArchiveExtractor(limits=limits), source, FileContext(max_chars=10**7))


def test_limits_hold_before_anything_is_unpacked() -> None:
    bomb = sevenzip({"zeros.txt": bytes(9_000_000), "b.txt": b"words"}, b"\x21", b"\x10", raw(LZMA2))
    assert len(bomb) < 5_000
    assert isinstance(limited(bomb, MemberLimits(unpacked_bytes=5_000_000)), LimitExceeded)
    assert isinstance(limited(sevenzip(FILES), MemberLimits(members=2)), LimitExceeded)
    found = limited(bomb, MemberLimits(member_bytes=1_000_000))
    assert isinstance(found, Document)
    assert found.text == "words"
    assert "zeros.txt unpacks to more than the limit of 1 MB" in found.warnings[0]


@pytest.mark.parametrize("told", [{"a.txt": 10**9}, {"a.txt": 1}, {"a.txt": 2**62}])
def test_sizes_that_lie_are_refused(told: dict[str, int], read: Read) -> None:
    data = sevenzip({"a.txt": b"some words", "b.txt": b"more"}, b"\x21", b"\x10", raw(LZMA2), told=told)
    assert isinstance(read("a.7z", data), ExtractError)


def test_a_huge_window_takes_no_memory() -> None:
    assert contents(sevenzip(FILES, b"\x21", b"\x28", raw(LZMA2))) == FILES


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from([PLAIN, LOCKED_NAMES, PPMD]), st.data())
def test_damaged_archives_say_so(whole: bytes, draw: st.DataObject) -> None:
    """Neither a changed byte in the head (its checksum set right) nor a lost end makes anything but a plain error."""
    data = bytearray(whole[: draw.draw(st.integers(0, len(whole)))] if draw.draw(st.booleans()) else whole)
    for _ in range(draw.draw(st.integers(1, 4))):
        if len(data) > 32:
            data[draw.draw(st.integers(32, len(data) - 1))] = draw.draw(st.integers(0, 255))
    if len(data) > 32:
        offset, size = struct.unpack_from("<QQ", data, 12)
        struct.pack_into("<I", data, 28, zlib.crc32(data[32 + offset : 32 + offset + size]))
    with contextlib.suppress(BrokenArchive, UnknownMethod, WrongPassword):
        contents(bytes(data), "geheim")
