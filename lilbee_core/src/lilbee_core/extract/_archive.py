"""Archives: each member by its own reader, in memory, within limits. Nothing is ever unpacked onto the disk."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from functools import partial
from typing import IO

from lilbee_core.errors import LilbeeError, LimitExceeded, UnsupportedFormat
from lilbee_core.extract import _zip_aes
from lilbee_core.extract._members import Joined, Member, MemberReader, Nesting, held
from lilbee_core.extract._package import BROKEN_ZIP
from lilbee_core.extract._reading import check_length, damaged, locked, no_text, read_bytes, split_passwords
from lilbee_core.extract._sevenzip import MARK as SEVENZIP_MARK
from lilbee_core.extract._sevenzip import Entry, SevenZip
from lilbee_core.extract._sevenzip_streams import BrokenArchive, UnknownMethod, WrongPassword
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Metadata, Source

_NOISE = ("__MACOSX/", ".DS_Store", "Thumbs.db")
_TAR_MARK_AT = 257
_PACKED_ALONE = ((b"\x1f\x8b", ".gz", ".tgz"), (b"BZh", ".bz2", ".tbz2"), (b"\xfd7zXZ\x00", ".xz", ".txz"))
"""First bytes and endings of files that are packed one by one; behind the second ending there is a tar archive."""
_BROKEN = (*BROKEN_ZIP, tarfile.TarError, BrokenArchive)


class ArchiveExtractor(Nesting):
    """Reads archives (zip, 7z, tar) and packed files (gzip, bzip2, xz). A hit names the member, through all levels."""

    name = "archive"
    version = "2"
    in_process = False

    def inside(self, members: MemberReader) -> Extractor:
        return ArchiveExtractor(members)

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        data = read_bytes(source)
        if data.startswith(SEVENZIP_MARK):
            return _sevenzip_members(source, data, context, reader)
        if any(data.startswith(mark) for mark, *_ in _PACKED_ALONE):
            return _packed_alone(source, data, context, reader)
        if source.media_type == "application/zip":
            return _zip_members(source, data, context, reader)
        return _tar_members(source, data, context, reader)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the texts of all members that can be read; the others are named in the warnings.

        Raises:
            LimitExceeded: If the archive unpacks to more than is allowed.
            ExtractError: If it is damaged, protected or holds no text.
        """
        joined = Joined()
        reader = self.reader(source)
        count = 0
        refused: LilbeeError | None = None
        try:
            for number, member in enumerate(self.members(source, context, reader)):
                count += 1
                found = reader.read(member, context)
                joined.add_read(found, member.name, number, "member")
                if refused is None and isinstance(found.result, LimitExceeded | UnsupportedFormat):
                    refused = found.result
        except UnknownMethod as error:
            raise _packed_oddly(source.path, error) from error
        except _BROKEN as error:
            raise damaged(source, "it cannot be unpacked") from error
        if not joined.segments and not joined.scans:
            raise _of_member(source, refused) if refused is not None else no_text(source)
        check_length(source, joined.text, context)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=joined.text,
            metadata=Metadata(members=count),
            has_lines=False,
            segments=tuple(joined.segments),
            headings=tuple(joined.headings),
            warnings=joined.warnings,
            scans=tuple(joined.scans),
            tables=tuple(joined.tables),
        )


# ------------------------------------------------------------------ zip


def _zip_members(source: Source, data: bytes, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_noise(entry.filename)]
        if sum(entry.file_size for entry in entries) > reader.limits.unpacked_bytes:
            raise _too_big(source)
        for entry in entries:
            reader.spend(entry.file_size)
            load = partial(_unzipped, source, (archive, data), entry, context.password, reader.limits.member_bytes)
            yield Member(_shown(entry.filename), entry.file_size, load)


def _unzipped(
    source: Source, opened: tuple[zipfile.ZipFile, bytes], entry: zipfile.ZipInfo, password: str | None, most: int
) -> bytes:
    archive, data = opened
    try:
        if not entry.flag_bits & 1:
            with archive.open(entry) as handle:
                return _limited(entry.filename, handle, most)
        if entry.compress_type == _zip_aes.METHOD:
            return _limited(entry.filename, io.BytesIO(_under_aes(source, data, entry, password, most)), most)
        return _unlocked(source, archive, entry, password, most)
    except NotImplementedError as error:
        method = UnknownMethod(f"method {entry.compress_type} of zip")
        raise _packed_oddly(_shown(entry.filename), method) from error


def _under_aes(source: Source, data: bytes, entry: zipfile.ZipInfo, password: str | None, most: int) -> bytes:
    try:
        return _zip_aes.opened(data, entry, split_passwords(password), most)
    except _zip_aes.NotOpened as error:
        raise locked(source, password) from error


def _unlocked(
    source: Source, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, password: str | None, most: int
) -> bytes:
    for candidate in split_passwords(password):
        try:
            with archive.open(entry, pwd=candidate.encode()) as handle:
                return _limited(entry.filename, handle, most)
        except NotImplementedError:
            raise
        except (RuntimeError, zipfile.BadZipFile, zlib.error):
            # A wrong password is noticed at once, or by the checksum.
            continue
    raise locked(source, password)


# ------------------------------------------------------------------ 7z


def _sevenzip_members(source: Source, data: bytes, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
    try:
        archive = SevenZip(data, split_passwords(context.password))
        files = [entry for entry in archive.entries if not _is_noise(entry.name)]
        if sum(entry.size for entry in files) > reader.limits.unpacked_bytes:
            raise _too_big(source)
        for entry, blocks in archive.members():
            context.check()
            if not _is_noise(entry.name):
                reader.spend(entry.size)
                yield Member(
                    _shown(entry.name), entry.size, partial(_unpacked, entry, blocks, reader.limits.member_bytes)
                )
    except WrongPassword as error:
        raise locked(source, context.password) from error


def _unpacked(entry: Entry, blocks: Iterator[bytes], most: int) -> bytes:
    if entry.size > most:
        raise _member_too_big(entry.name, most)
    try:
        return b"".join(blocks)
    except UnknownMethod as error:
        raise _packed_oddly(_shown(entry.name), error) from error


# ------------------------------------------------------------------ tar, and files packed one by one


def _tar_members(source: Source, data: bytes, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for entry in archive:
            context.check()
            if not entry.isfile() or _is_noise(entry.name):
                continue
            reader.spend(entry.size)
            handle = archive.extractfile(entry)
            if handle is not None:
                load = partial(_limited, entry.name, handle, reader.limits.member_bytes)
                yield Member(_shown(entry.name), entry.size, load)


def _packed_alone(source: Source, data: bytes, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
    content = _single(source, data, reader.limits.unpacked_bytes)
    if content[_TAR_MARK_AT : _TAR_MARK_AT + 5] == b"ustar":
        yield from _tar_members(source, content, context, reader)
        return
    if len(content) > reader.limits.member_bytes:
        raise _too_big(source)
    reader.spend(len(content))
    name = source.path.rsplit("/", 1)[-1]
    ending = next((one for _, one, _ in _PACKED_ALONE if name.lower().endswith(one)), "")
    yield held(name[: len(name) - len(ending)], content)


def _single(source: Source, data: bytes, most: int) -> bytes:
    file = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=file) as gzipped:
            content = gzipped.read(most + 1)
    elif data.startswith(b"BZ"):
        with bz2.BZ2File(file) as bzipped:
            content = bzipped.read(most + 1)
    else:
        with lzma.LZMAFile(file) as xzipped:
            content = xzipped.read(most + 1)
    if len(content) > most:
        raise _too_big(source)
    return content


# ------------------------------------------------------------------ limits and names


def _limited(name: str, handle: IO[bytes], most: int) -> bytes:
    """Read a member; what it says about its size is not trusted."""
    content = handle.read(most + 1)
    if len(content) > most:
        raise _member_too_big(name, most)
    return content


def _member_too_big(name: str, most: int) -> LimitExceeded:
    return LimitExceeded(
        f"{_shown(name)} unpacks to more than the limit of {most // 1_000_000} MB",
        hint="Raise archive_max_member_mb, or unpack the file yourself into the folder.",
    )


def _of_member(source: Source, error: LilbeeError) -> LilbeeError:
    return type(error)(f"{source.path} cannot be read: {error.message}", hint=error.hint, code=error.code)


def _too_big(source: Source) -> LimitExceeded:
    return LimitExceeded(
        f"{source.path} unpacks to more than is allowed",
        hint="Unpack the file yourself into the folder, or raise archive_max_mb.",
    )


def _packed_oddly(name: str, error: UnknownMethod) -> UnsupportedFormat:
    return UnsupportedFormat(
        f"{name} is packed by {error}, which nothing here unpacks", hint="Unpack it yourself into the folder."
    )


def _is_noise(name: str) -> bool:
    return name.startswith(_NOISE[0]) or name.rsplit("/", 1)[-1] in _NOISE[1:]


def _shown(name: str) -> str:
    """Return a member's name as it is shown: it is a label and never a place on the disk, nor does it look like one."""
    parts = name.replace("\\", "/").replace("\x00", "").split("/")
    return "/".join(part for part in parts if part not in ("", ".", "..")) or "member"
