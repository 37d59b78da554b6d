"""7z archives: what their heads tell, and their members one after the other. Nothing but the standard library.

The format: 32 bytes that say where the head lies; the head names folders (streams that are packed as one), how each
was packed, and the files that follow each other in it. The head itself may be packed, too.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lilbee_core.extract._sevenzip_streams import (
    BrokenArchive,
    Coder,
    Packed,
    UnknownMethod,
    WrongPassword,
    unpacked,
)

MARK = b"7z\xbc\xaf\x27\x1c"
_START = struct.Struct("<IQQI")
_HEAD_AT = 32
_MOST_ENTRIES = 1_000_000
"""More files, folders or streams than this are not believed."""
_MOST_CODERS = 16
_MOST_HEAD_BYTES = 64 * 1024 * 1024
(
    _END, _HEADER, _PROPERTIES, _MORE_STREAMS, _STREAMS, _FILES, _PACK, _UNPACK, _SUBSTREAMS, _SIZES, _DIGESTS,
    _FOLDER, _CODER_SIZES, _COUNTS, _EMPTY_STREAMS, _EMPTY_FILES, _ANTI, _NAMES,
) = range(18)  # fmt: skip
_ENCODED_HEADER = 0x17


_Obstacle = UnknownMethod | WrongPassword | BrokenArchive


@dataclass(frozen=True, slots=True)
class Entry:
    """A file in the archive. `folder` is the number of the stream that holds it, None for an empty one."""

    name: str
    size: int
    folder: int | None
    digest: int | None


@dataclass(frozen=True, slots=True)
class _Folder:
    """Files packed as one stream: its coders, the outermost first, and where its bytes lie."""

    coders: tuple[Coder, ...]
    size: int
    digest: int | None
    start: int
    length: int

    @property
    def packed(self) -> Packed:
        return Packed(self.coders, self.start, self.length, self.size)

    @property
    def is_encrypted(self) -> bool:
        return any(coder.is_cipher for coder in self.coders)


class SevenZip:
    """An open archive. Members come in the order in which they were packed, since there is no other."""

    def __init__(self, data: bytes, passwords: Sequence[str] = ()) -> None:
        """Read the head.

        Raises:
            BrokenArchive: If it is no 7z archive, or damaged.
            UnknownMethod: If its head is packed in a way that nothing here undoes.
            WrongPassword: If the names are encrypted and no password opens them.
        """
        self._data = data
        self._passwords = tuple(passwords)
        self._keys: dict[int, str | None] = {}
        try:
            self._folders, self.entries = self._read()
        except (IndexError, struct.error, ValueError, OverflowError) as error:
            raise BrokenArchive("its head is damaged") from error

    def members(self) -> Iterator[tuple[Entry, Iterator[bytes]]]:
        """Yield each file with its content in blocks, which can be read until the next file is asked for.

        Reading raises `UnknownMethod` where a file is packed in a way that nothing here undoes, `WrongPassword` where
        no password opens it, `BrokenArchive` where it is not what the head says; other files may be whole.
        """
        number: int | None = None
        blocks: Iterator[bytes] | _Obstacle = iter(())
        rest = b""
        for entry in self.entries:
            if entry.folder is None:
                yield entry, iter(())
                continue
            if entry.folder != number:
                number, rest = entry.folder, b""
                blocks = self._open(number)
            if isinstance(blocks, _Obstacle):
                yield entry, _Unreadable(blocks)
                continue
            cut = _Cut(entry, blocks, rest)
            yield entry, iter(cut)
            try:
                for _ in cut:
                    pass
            except BrokenArchive as error:
                # What follows in the same stream cannot be reached.
                blocks = error
            rest = cut.rest

    def _open(self, number: int) -> Iterator[bytes] | _Obstacle:
        try:
            return self._unpacked(number)
        except (UnknownMethod, WrongPassword, BrokenArchive) as error:
            return error

    def _unpacked(self, number: int) -> Iterator[bytes]:
        folder = self._folders[number]
        if folder.is_encrypted and number not in self._keys:
            first = next(one for one in self.entries if one.folder == number)
            self._keys[number] = self._fitting_password(folder, first)
        return unpacked(self._data, folder.packed, self._keys.get(number))

    def _fitting_password(self, folder: _Folder, first: Entry) -> str:
        for password in self._passwords:
            try:
                for _ in _Cut(first, unpacked(self._data, folder.packed, password), b""):
                    pass
            except BrokenArchive:
                continue
            return password
        raise WrongPassword

    # ------------------------------------------------------------------ the head

    def _read(self) -> tuple[tuple[_Folder, ...], tuple[Entry, ...]]:
        if not self._data.startswith(MARK) or len(self._data) < _HEAD_AT:
            raise BrokenArchive("it does not begin as one")
        _, offset, size, digest = _START.unpack_from(self._data, 8)
        if size == 0:
            return (), ()
        head = self._data[_HEAD_AT + offset : _HEAD_AT + offset + size]
        if len(head) != size or zlib.crc32(head) != digest:
            raise BrokenArchive("its end is missing or damaged")
        for _ in range(_MOST_CODERS):
            at = _Bytes(head)
            kind = at.byte()
            if kind == _HEADER:
                return _header(at, len(self._data))
            if kind != _ENCODED_HEADER:
                break
            head = self._packed_head(at)
        raise BrokenArchive("its head is of an unknown kind")

    def _packed_head(self, at: _Bytes) -> bytes:
        streams = _streams(at, len(self._data))
        if not streams.folders:
            raise BrokenArchive("its head is empty")
        folder = streams.folders[0]
        if folder.size > _MOST_HEAD_BYTES:
            raise BrokenArchive("its head is too big")
        entry = Entry("", folder.size, 0, folder.digest)
        for password in self._passwords if folder.is_encrypted else (None,):
            try:
                head = b"".join(_Cut(entry, unpacked(self._data, folder.packed, password), b""))
            except BrokenArchive:
                if password is None:
                    raise
                continue
            # Some programs write no checksum: a wrong password shows in what comes out.
            if password is None or head[:1] in (bytes([_HEADER]), bytes([_ENCODED_HEADER])):
                return head
        raise WrongPassword


class _Cut:
    """The bytes of one file, cut out of the stream of its folder. What is left of the last block is in `rest`."""

    def __init__(self, entry: Entry, blocks: Iterator[bytes], rest: bytes) -> None:
        self.rest = rest
        self._entry = entry
        self._blocks = blocks
        self._left = entry.size
        self._digest = 0

    def __iter__(self) -> Iterator[bytes]:
        while self._left:
            block = self.rest or next(self._blocks, b"")
            if not block:
                raise BrokenArchive("a member of it is cut short")
            block, self.rest = block[: self._left], block[self._left :]
            self._left -= len(block)
            self._digest = zlib.crc32(block, self._digest)
            if not self._left and self._entry.digest not in (None, self._digest):
                raise BrokenArchive("a member of it is not what it was")
            yield block


class _Unreadable:
    """The content of a file that cannot be unpacked."""

    def __init__(self, error: _Obstacle) -> None:
        self._error = error

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        raise self._error


class _Bytes:
    """Reads the numbers of a head."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def byte(self) -> int:
        value = self._data[self._at]
        self._at += 1
        return value

    def take(self, count: int) -> bytes:
        if count < 0 or self._at + count > len(self._data):
            raise BrokenArchive("its head is cut short")
        piece = self._data[self._at : self._at + count]
        self._at += count
        return piece

    def number(self) -> int:
        """Read a number: the leading ones of the first byte tell how many bytes follow."""
        first, mask, value = self.byte(), 0x80, 0
        for more in range(8):
            if not first & mask:
                return value + ((first & (mask - 1)) << (8 * more))
            value |= self.byte() << (8 * more)
            mask >>= 1
        return value

    def count(self) -> int:
        """Read how many of something there are."""
        value = self.number()
        if value > _MOST_ENTRIES:
            raise BrokenArchive("its head is damaged")
        return value

    def bits(self, count: int) -> list[bool]:
        packed = self.take((count + 7) // 8)
        return [bool(packed[at // 8] & (0x80 >> at % 8)) for at in range(count)]

    def digests(self, count: int) -> list[int | None]:
        known = [True] * count if self.byte() else self.bits(count)
        return [struct.unpack("<I", self.take(4))[0] if one else None for one in known]

    def sections(self) -> Iterator[int]:
        while (kind := self.byte()) != _END:
            yield kind


@dataclass(frozen=True, slots=True)
class _Streams:
    folders: tuple[_Folder, ...]
    files: tuple[tuple[int, int, int | None], ...]
    """Folder, size and checksum of each file that has content."""


@dataclass(frozen=True, slots=True)
class _Shape:
    """A folder as the head tells it, before its sizes are known."""

    coders: tuple[Coder, ...]
    main: int
    outputs: int
    packed: int


def _header(at: _Bytes, end: int) -> tuple[tuple[_Folder, ...], tuple[Entry, ...]]:
    streams = _Streams((), ())
    entries: tuple[Entry, ...] = ()
    for kind in at.sections():
        if kind == _PROPERTIES:
            while at.byte():
                at.take(at.number())
        elif kind == _MORE_STREAMS:
            _streams(at, end)
        elif kind == _STREAMS:
            streams = _streams(at, end)
        elif kind == _FILES:
            entries = _files(at, streams)
        else:
            raise BrokenArchive("its head is damaged")
    return streams.folders, entries


def _streams(at: _Bytes, end: int) -> _Streams:
    start, lengths = 0, list[int]()
    folders: list[_Folder] = []
    files: list[tuple[int, int, int | None]] | None = None
    for kind in at.sections():
        if kind == _PACK:
            start, lengths = _pack_info(at)
        elif kind == _UNPACK:
            folders = _folders(at, start, lengths, end)
        elif kind == _SUBSTREAMS:
            files = _substreams(at, folders)
        else:
            raise BrokenArchive("its head is damaged")
    if files is None:
        files = [(number, one.size, one.digest) for number, one in enumerate(folders)]
    return _Streams(tuple(folders), tuple(files))


def _pack_info(at: _Bytes) -> tuple[int, list[int]]:
    start, count = at.number(), at.count()
    lengths: list[int] = []
    for kind in at.sections():
        if kind == _SIZES:
            lengths = [at.number() for _ in range(count)]
        elif kind == _DIGESTS:
            at.digests(count)
    return start, lengths


def _folders(at: _Bytes, start: int, lengths: Sequence[int], end: int) -> list[_Folder]:
    if at.byte() != _FOLDER:
        raise BrokenArchive("its head is damaged")
    count = at.count()
    if at.byte():
        raise BrokenArchive("its head lies elsewhere")
    shapes = [_shape(at) for _ in range(count)]
    sizes: list[list[int]] = []
    digests: list[int | None] = [None] * count
    for kind in at.sections():
        if kind == _CODER_SIZES:
            sizes = [[at.number() for _ in range(shape.outputs)] for shape in shapes]
        elif kind == _DIGESTS:
            digests = at.digests(count)
    folders: list[_Folder] = []
    place, first = _HEAD_AT + start, 0
    for shape, size, digest in zip(shapes, sizes, digests, strict=True):
        own = lengths[first : first + shape.packed]
        if len(own) != shape.packed or place + sum(own) > end:
            raise BrokenArchive("it is cut short")
        # Coders with several streams are refused when they are used; the first stream stands for them until then.
        folders.append(_Folder(shape.coders, size[shape.main], digest, place, own[0]))
        place, first = place + sum(own), first + shape.packed
    return folders


def _shape(at: _Bytes) -> _Shape:
    """Read how a folder is packed, and put its coders into the order from its content to its bytes."""
    count = at.count()
    if not 0 < count <= _MOST_CODERS:
        raise BrokenArchive("its head is damaged")
    coders: list[Coder] = []
    inputs = outputs = 0
    for _ in range(count):
        flags = at.byte()
        method = at.take(flags & 15)
        ins, outs = (at.count(), at.count()) if flags & 0x10 else (1, 1)
        options = at.take(at.number()) if flags & 0x20 else b""
        coders.append(Coder(method, options, simple=(ins, outs) == (1, 1)))
        inputs, outputs = inputs + ins, outputs + outs
    if outputs < 1 or inputs < outputs - 1:
        raise BrokenArchive("its head is damaged")
    bound = {at.count(): at.count() for _ in range(outputs - 1)}
    packed = inputs - (outputs - 1)
    if packed > 1:
        for _ in range(packed):
            at.count()
    main = next((one for one in range(outputs) if one not in bound.values()), 0)
    if not all(coder.simple for coder in coders):
        return _Shape(tuple(coders), main, outputs, packed)
    chain, place = [coders[main]], main
    while place in bound and len(chain) <= count:
        place = bound[place]
        chain.append(coders[place])
    if len(chain) != count:
        raise BrokenArchive("its head is damaged")
    return _Shape(tuple(chain), main, outputs, packed)


def _substreams(at: _Bytes, folders: Sequence[_Folder]) -> list[tuple[int, int, int | None]]:
    counts = [1] * len(folders)
    kind = at.byte()
    if kind == _COUNTS:
        counts = [at.count() for _ in folders]
        kind = at.byte()
    sizes: list[list[int]] = []
    for folder, count in zip(folders, counts, strict=True):
        own = [at.number() for _ in range(count - 1)] if kind == _SIZES else []
        if (kind != _SIZES and count > 1) or sum(own) > folder.size:
            raise BrokenArchive("its head is damaged")
        sizes.append([*own, folder.size - sum(own)] if count else [])
    if kind == _SIZES:
        kind = at.byte()
    known = [one.digest is not None and count == 1 for one, count in zip(folders, counts, strict=True)]
    digests: Iterator[int | None] = iter(())
    while kind != _END:
        if kind != _DIGESTS:
            raise BrokenArchive("its head is damaged")
        missing = sum(count for count, one in zip(counts, known, strict=True) if not one)
        digests = iter(at.digests(missing))
        kind = at.byte()
    return [
        (number, size, folders[number].digest if known[number] else next(digests, None))
        for number, own in enumerate(sizes)
        for size in own
    ]


def _files(at: _Bytes, streams: _Streams) -> tuple[Entry, ...]:
    count = at.count()
    names = [""] * count
    empty = [False] * count
    plain_empty: list[bool] = []
    for kind in at.sections():
        section = _Bytes(at.take(at.number()))
        if kind == _EMPTY_STREAMS:
            empty = section.bits(count)
        elif kind == _EMPTY_FILES:
            plain_empty = section.bits(sum(empty))
        elif kind == _NAMES:
            names = _names(section, count)
    files = iter(streams.files)
    told = iter(plain_empty)
    entries: list[Entry] = []
    for name, is_empty in zip(names, empty, strict=True):
        if not is_empty:
            folder, size, digest = next(files, (None, 0, None))
            if folder is None:
                raise BrokenArchive("its head is damaged")
            # Without content there is nothing to look for in the stream.
            entries.append(Entry(name, size, folder if size else None, digest))
        elif next(told, False):
            entries.append(Entry(name, 0, None, None))
    return tuple(entries)


def _names(section: _Bytes, count: int) -> list[str]:
    if section.byte():
        raise BrokenArchive("its head lies elsewhere")
    names: list[str] = []
    for _ in range(count):
        name = bytearray()
        while (letter := section.take(2)) != b"\0\0":
            name += letter
        names.append(name.decode("utf-16-le", "replace"))
    return names
