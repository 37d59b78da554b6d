"""Archives: each member by its own reader, in memory, within limits. Nothing is ever unpacked onto the disk."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from lilbee_core.errors import EncryptedDocument, LilbeeError, LimitExceeded
from lilbee_core.extract._members import Joined, MemberReader, Nesting
from lilbee_core.extract._package import BROKEN_ZIP
from lilbee_core.extract._reading import check_length, damaged, no_text, read_bytes, split_passwords
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Metadata, Source

_MAX_MEMBER_BYTES = 128 * 1024 * 1024
_NOISE = ("__MACOSX/", ".DS_Store", "Thumbs.db")

Member = tuple[str, int, bytes]


class ArchiveExtractor(Nesting):
    """Reads zip and tar archives and gzip files. A hit names the member, through nested archives too."""

    name = "archive"
    version = "1"
    in_process = False

    def inside(self, members: MemberReader) -> Extractor:
        return ArchiveExtractor(members)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the texts of all members that can be read; the others are named in the warnings.

        Raises:
            LimitExceeded: If the archive unpacks to more than is allowed.
            ExtractError: If it is damaged, protected or holds no text.
        """
        data = read_bytes(source)
        joined = Joined()
        members = self.reader(source)
        names: list[str] = []
        try:
            for name, size, content in _members(source, data, context, members):
                names.append(name)
                document = members.read(name, content, context)
                if isinstance(document, LilbeeError):
                    joined.warnings.append(f"member not read: {document.message}")
                elif size:
                    joined.add(document, name)
        except (*BROKEN_ZIP, tarfile.TarError) as error:
            raise damaged(source, "it cannot be unpacked") from error
        if not joined.segments:
            raise no_text(source)
        check_length(source, joined.text, context)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=joined.text,
            metadata=Metadata(members=len(names)),
            has_lines=False,
            segments=tuple(joined.segments),
            headings=tuple(joined.headings),
            warnings=tuple(joined.warnings[:100]),
        )


def _members(source: Source, data: bytes, context: ExtractContext, members: MemberReader) -> Iterator[Member]:
    if source.media_type == "application/zip":
        return _zip_members(source, data, context, members)
    if data[:2] == b"\x1f\x8b":
        return _gzip_members(source, data, context, members)
    return _tar_members(source, data, context, members)


def _zip_members(source: Source, data: bytes, context: ExtractContext, members: MemberReader) -> Iterator[Member]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = [entry for entry in archive.infolist() if not entry.is_dir() and not _is_noise(entry.filename)]
        if sum(entry.file_size for entry in entries) > members.limits.unpacked_bytes:
            raise _too_big(source)
        for entry in entries:
            members.spend(entry.file_size)
            yield _shown(entry.filename), entry.file_size, _unzipped(source, archive, entry, context.password)


def _unzipped(source: Source, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, password: str | None) -> bytes:
    if not entry.flag_bits & 1:
        with archive.open(entry) as handle:
            return _limited(source, handle)
    for candidate in split_passwords(password):
        try:
            with archive.open(entry, pwd=candidate.encode()) as handle:
                return _limited(source, handle)
        except (RuntimeError, zipfile.BadZipFile, zlib.error):
            # A wrong password is noticed at once, or by the checksum.
            continue
    what = "the given password does not open it" if password else "it is protected by a password"
    raise EncryptedDocument(f"{source.path} cannot be read: {what}", hint="Set extract_password to its password.")


def _tar_members(source: Source, data: bytes, context: ExtractContext, members: MemberReader) -> Iterator[Member]:
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for entry in archive:
            context.check()
            if not entry.isfile() or _is_noise(entry.name):
                continue
            members.spend(entry.size)
            handle = archive.extractfile(entry)
            if handle is not None:
                yield _shown(entry.name), entry.size, _limited(source, handle)


def _gzip_members(source: Source, data: bytes, context: ExtractContext, members: MemberReader) -> Iterator[Member]:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as handle:
        content = _limited(source, handle)
    members.spend(len(content))
    if content[257:262] == b"ustar":
        yield from _tar_members(source, content, context, members)
        return
    name = source.path.rsplit("/", 1)[-1]
    yield name[:-3] if name.lower().endswith(".gz") else name, len(content), content


def _limited(source: Source, handle: IO[bytes] | gzip.GzipFile) -> bytes:
    """Read a member; what it says about its size is not trusted."""
    content = handle.read(_MAX_MEMBER_BYTES + 1)
    if len(content) > _MAX_MEMBER_BYTES:
        raise _too_big(source)
    return content


def _too_big(source: Source) -> LimitExceeded:
    return LimitExceeded(
        f"{source.path} unpacks to more than is allowed",
        hint="Unpack the file yourself into the folder, or raise archive_max_mb.",
    )


def _is_noise(name: str) -> bool:
    return name.startswith(_NOISE[0]) or name.rsplit("/", 1)[-1] in _NOISE[1:]


def _shown(name: str) -> str:
    """Return a member's name as it is shown: it is a label and never a place on the disk, nor does it look like one."""
    parts = name.replace("\\", "/").replace("\x00", "").split("/")
    return "/".join(part for part in parts if part not in ("", ".", "..")) or "member"
