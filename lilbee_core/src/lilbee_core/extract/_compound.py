"""Compound files (the older Office formats, mails of Outlook): written, so that what lies in one can stand alone."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

_SECTOR = 512
_MINI = 64
_MINI_LIMIT = 4096
"""Streams that are shorter lie in small sectors."""
_FREE, _END, _FAT, _NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
_PER_SECTOR = _SECTOR // 4
_IN_HEADER = 109
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_BLACK = 1
_ENTRY_BYTES = 128
_MOST_NAME = 31


@dataclass(slots=True)
class Storage:
    """A folder of a compound file: streams and further folders by name."""

    streams: dict[str, bytes] = field(default_factory=dict[str, bytes])
    storages: dict[str, Storage] = field(default_factory=dict[str, "Storage"])


@dataclass(slots=True)
class _Entry:
    name: str
    kind: int
    data: bytes = b""
    start: int = 0
    left: int = _NONE
    right: int = _NONE
    child: int = _NONE

    def packed(self) -> bytes:
        name = self.name.encode("utf-16-le") + b"\0\0"
        shape = struct.pack("<HBBIII", len(name), self.kind, _BLACK, self.left, self.right, self.child)
        start = self.start if self.kind != _STORAGE else 0
        return name.ljust(64, b"\0") + shape + bytes(36) + struct.pack("<IQ", start, len(self.data))


def compound_file(root: Storage) -> bytes:
    """Return the bytes of a compound file with this content.

    Raises:
        ValueError: If a name is longer than the format allows.
    """
    entries = [_Entry("Root Entry", _ROOT)]
    _add(entries, 0, root)
    sectors = _Sectors()
    _place_streams(entries, sectors)
    directory = b"".join(entry.packed() for entry in entries)
    blank = bytes(64) + struct.pack("<HBBIII", 0, 0, 0, _NONE, _NONE, _NONE) + bytes(48)
    directory += blank * (-len(entries) % (_SECTOR // _ENTRY_BYTES))
    first_directory = sectors.add(directory)
    mini_starts = sectors.mini_table
    first_mini = sectors.add(_table(mini_starts)) if mini_starts else _END
    mini_count = (len(mini_starts) + _PER_SECTOR - 1) // _PER_SECTOR
    return sectors.file(first_directory, first_mini, mini_count)


def _add(entries: list[_Entry], parent: int, storage: Storage) -> None:
    """Append a folder's content; siblings form a tree that is ordered by length, then name."""
    inner: list[tuple[str, int]] = []
    for name, data in storage.streams.items():
        inner.append((name, len(entries)))
        entries.append(_Entry(name, _STREAM, data))
    for name, folder in storage.storages.items():
        inner.append((name, len(entries)))
        entries.append(_Entry(name, _STORAGE))
        _add(entries, len(entries) - 1, folder)
    if any(len(name) > _MOST_NAME for name, _ in inner):
        raise ValueError("a name in a compound file has at most 31 characters")
    inner.sort(key=lambda one: (len(one[0]), one[0].upper()))
    entries[parent].child = _tree(entries, [number for _, number in inner])


def _tree(entries: list[_Entry], numbers: Sequence[int]) -> int:
    if not numbers:
        return _NONE
    middle = len(numbers) // 2
    here = entries[numbers[middle]]
    here.left = _tree(entries, numbers[:middle])
    here.right = _tree(entries, numbers[middle + 1 :])
    return numbers[middle]


class _Sectors:
    """The sectors of the file as they are filled, and which follows which."""

    def __init__(self) -> None:
        self._sectors: list[bytes] = []
        self._next: list[int] = []
        self.mini_table: list[int] = []

    def add(self, data: bytes) -> int:
        """Store bytes and return their first sector."""
        first = len(self._sectors)
        pieces = [data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR)]
        self._sectors += pieces
        self._next += _chain(first, len(pieces))
        return first if pieces else _END

    def file(self, directory: int, mini: int, mini_count: int) -> bytes:
        """Return the whole file."""
        data_sectors = len(self._sectors)
        fat, far = 0, 0
        while (fat, far) != (needed := _tables_for(data_sectors, fat, far)):
            fat, far = needed
        places = range(data_sectors, data_sectors + fat)
        table = [*self._next, *([_FAT] * fat), *([_FAT - 1] * far)]
        far_start = data_sectors + fat
        head = struct.pack(
            "<8s16sHHHHH6xIIIIIIIII",
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"", 0x3E, 3, 0xFFFE, 9, 6,
            0, fat, directory, 0, _MINI_LIMIT, mini, mini_count, far_start if far else _END, far,
        )  # fmt: skip
        listed = [*places[:_IN_HEADER], *([_FREE] * (_IN_HEADER - min(fat, _IN_HEADER)))]
        body = b"".join(self._sectors) + _table(table, fat)
        return head + struct.pack("<109I", *listed) + body + b"".join(_far_sectors(places[_IN_HEADER:], far_start))


def _tables_for(data: int, fat: int, far: int) -> tuple[int, int]:
    """Return how many sectors the tables take that list all sectors, themselves included."""
    fat = -(-(data + fat + far) // _PER_SECTOR)
    return fat, -(-max(0, fat - _IN_HEADER) // (_PER_SECTOR - 1))


def _far_sectors(places: Sequence[int], start: int) -> Iterator[bytes]:
    """Yield the sectors that list those of the table which do not fit into the header."""
    step = _PER_SECTOR - 1
    groups = [places[at : at + step] for at in range(0, len(places), step)]
    for number, group in enumerate(groups):
        following = start + number + 1 if number + 1 < len(groups) else _END
        yield _table([*group, *([_FREE] * (step - len(group))), following])


def _table(numbers: Sequence[int], sectors: int = 0) -> bytes:
    count = sectors * _PER_SECTOR or -(-len(numbers) // _PER_SECTOR) * _PER_SECTOR
    return struct.pack(f"<{count}I", *numbers, *([_FREE] * (count - len(numbers))))


def _chain(first: int, count: int) -> list[int]:
    return [*range(first + 1, first + count), _END] if count else []


def _place_streams(entries: list[_Entry], sectors: _Sectors) -> None:
    small = bytearray()
    for entry in entries[1:]:
        if entry.kind != _STREAM or not entry.data:
            entry.start = _END if entry.kind == _STREAM else 0
        elif len(entry.data) >= _MINI_LIMIT:
            entry.start = sectors.add(entry.data)
        else:
            entry.start = len(small) // _MINI
            count = -(-len(entry.data) // _MINI)
            sectors.mini_table += _chain(entry.start, count)
            small += entry.data.ljust(count * _MINI, b"\0")
    entries[0].data = bytes(small)
    entries[0].start = sectors.add(bytes(small))
