"""Archives: each member by its own reader, in memory, within limits. Nothing is ever unpacked onto the disk."""

from __future__ import annotations

import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import IO

from lilbee_core.errors import EncryptedDocument, ExtractError, LimitExceeded, NoText, UnsupportedFormat
from lilbee_core.extract import _zip_aes
from lilbee_core.extract._members import Joined, Member, MemberReader, Nesting, held
from lilbee_core.extract._package import BROKEN_ZIP
from lilbee_core.extract._packed_alone import unpacked_alone
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
    version = "3"
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
        refused: ExtractError | None = None
        try:
            for number, member in enumerate(self.members(source, context, reader)):
                count += 1
                found = reader.read(member, context)
                joined.add_read(found, member.name, number, "member")
                if refused is None and isinstance(found.result, ExtractError) and not isinstance(found.result, NoText):
                    refused = found.result
        except UnknownMethod as error:
            raise _packed_oddly(source.path, error) from error
        except _Partly as error:
            joined.warn(str(error))
            refused = refused or damaged(source, str(error))
        except _BROKEN as error:
            broken = damaged(source, "it cannot be unpacked")
            if not joined.segments and not joined.scans:
                raise broken from error
            joined.warn(f"what follows the first {count} members is damaged and was not read")
        if not joined.segments and not joined.scans:
            raise _without_text(source, refused, context)
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


class _Partly(Exception):
    """What follows the members that were yielded cannot be read."""


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
    member = replace(source, path=_shown(entry.filename))
    try:
        if not entry.flag_bits & 1:
            with archive.open(entry) as handle:
                return _limited(entry.filename, handle, most)
        if entry.compress_type == _zip_aes.METHOD:
            return _limited(entry.filename, io.BytesIO(_under_aes(member, data, entry, password, most)), most)
        return _unlocked(member, archive, entry, password, most)
    except NotImplementedError as error:
        method = UnknownMethod(f"method {entry.compress_type} of zip")
        raise _packed_oddly(member.path, method) from error
    except BROKEN_ZIP as error:
        raise damaged(member, "it cannot be unpacked") from error


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
                one = replace(source, path=_shown(entry.name))
                load = partial(_unpacked, one, entry, blocks, reader.limits.member_bytes, context.password)
                yield Member(one.path, entry.size, load)
    except WrongPassword as error:
        raise locked(source, context.password) from error


def _unpacked(member: Source, entry: Entry, blocks: Iterator[bytes], most: int, password: str | None) -> bytes:
    if entry.size > most:
        raise _member_too_big(entry.name, most)
    try:
        return b"".join(blocks)
    except UnknownMethod as error:
        raise _packed_oddly(member.path, error) from error
    except WrongPassword as error:
        raise locked(member, password) from error
    except BrokenArchive as error:
        raise damaged(member, "it cannot be unpacked") from error


# ------------------------------------------------------------------ tar, and files packed one by one


def _tar_members(source: Source, data: bytes, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
    count = 0
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for entry in archive:
            context.check()
            count += 1
            if not entry.isfile() or _is_noise(entry.name):
                continue
            reader.spend(entry.size)
            handle = archive.extractfile(entry)
            if handle is not None:
                one = replace(source, path=_shown(entry.name))
                yield Member(one.path, entry.size, partial(_from_tar, one, handle, reader.limits.member_bytes))
        # The library takes a head that is none for the end.
        if data[archive.offset : archive.offset + tarfile.BLOCKSIZE].strip(b"\0"):
            raise _Partly(f"what follows the first {count} entries is damaged and was not read")


def _from_tar(member: Source, handle: IO[bytes], most: int) -> bytes:
    try:
        return _limited(member.path, handle, most)
    except tarfile.TarError as error:
        raise damaged(member, "it is cut short") from error


def _packed_alone(source: Source, data: bytes, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
    most = reader.limits.unpacked_bytes
    single = unpacked_alone(data, most)
    if len(single.content) > most:
        raise _too_big(source)
    if not single.content and single.trouble:
        raise damaged(source, single.trouble)
    if single.content[_TAR_MARK_AT : _TAR_MARK_AT + 5] == b"ustar":
        yield from _tar_members(source, single.content, context, reader)
    else:
        if len(single.content) > reader.limits.member_bytes:
            raise _too_big(source)
        reader.spend(len(single.content))
        name = source.path.rsplit("/", 1)[-1]
        ending = next((one for _, one, _ in _PACKED_ALONE if name.lower().endswith(one)), "")
        yield held(name[: len(name) - len(ending)], single.content)
    if single.trouble:
        raise _Partly(single.trouble)


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


def _without_text(source: Source, refused: ExtractError | None, context: ExtractContext) -> ExtractError:
    """Return the error for an archive of which nothing was read, with what was wrong with its first member."""
    if refused is None:
        return no_text(source)
    if isinstance(refused, EncryptedDocument):
        return locked(source, context.password)
    return type(refused)(f"{source.path} cannot be read: {refused.message}", hint=refused.hint, code=refused.code)


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
