"""Mails of Outlook (.msg): the text by the engine, the attachments by their own readers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from typing import IO, Protocol, cast

from lilbee_core.errors import LilbeeError, NoText
from lilbee_core.extract._kreuzberg import KreuzbergExtractor
from lilbee_core.extract._members import Joined, MemberReader, Nesting
from lilbee_core.extract._reading import check_length, read_bytes
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Source

_ATTACHED = "__attach_version1.0_#"
_DATA = "__substg1.0_37010102"
_NAMES = ("__substg1.0_3707001F", "__substg1.0_3707001E", "__substg1.0_3704001F", "__substg1.0_3704001E")
"""Streams with the name of an attachment: the long one in Unicode first."""
_MOST_NAME = 1000


class _Container(Protocol):
    def listdir(self) -> Sequence[Sequence[str]]: ...

    def exists(self, filename: str) -> bool: ...

    def get_size(self, filename: str) -> int: ...

    def openstream(self, filename: str) -> IO[bytes]: ...


class _Ole(Protocol):
    def OleFileIO(self, filename: IO[bytes]) -> _Container: ...  # noqa: N802 - the library's name


class OutlookExtractor(Nesting):
    """Reads a mail of Outlook, in a worker process. Attachments are members of the document."""

    name = "outlook"
    in_process = False

    @property
    def version(self) -> str:
        return f"1-{KreuzbergExtractor().version}"

    def inside(self, members: MemberReader) -> Extractor:
        return OutlookExtractor(members)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return headers, text and the text of attachments.

        Raises:
            ExtractError: If the file is damaged, holds no text or unpacks to too much.
        """
        data = read_bytes(source)
        missing: NoText | None = None
        try:
            mail = KreuzbergExtractor().extract(replace(source, data=data), context)
        except NoText as error:
            # A mail may be nothing but what is attached to it.
            mail, missing = _empty(source), error
        text = Joined(mail.text.strip("\n"))
        members = self.reader(source)
        for name, content in attachments(data):
            members.spend(len(content))
            found = members.read(name, content, context)
            if isinstance(found, LilbeeError):
                text.warnings.append(f"attachment not read: {found.message}")
            else:
                text.add(found, name)
        if missing is not None and not text.segments:
            raise missing
        check_length(source, text.text, context)
        return replace(
            mail,
            text=text.text,
            segments=(*mail.segments, *text.segments),
            headings=(*mail.headings, *text.headings),
            warnings=(*mail.warnings, *text.warnings),
        )


def _empty(source: Source) -> Document:
    return Document(
        path=source.path, collection=source.collection, media_type=source.media_type, text="", has_lines=False
    )


def attachments(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files that are attached to a mail with their names; what is broken is left out."""
    import olefile

    try:
        container = cast("_Ole", olefile).OleFileIO(BytesIO(data))
        folders = sorted({path[0] for path in container.listdir() if path[0].startswith(_ATTACHED)})
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - the library raises what it likes on broken files; the engine read the mail
        return
    for number, folder in enumerate(folders, start=1):
        try:
            if container.exists(f"{folder}/{_DATA}"):
                yield _name(container, folder, number), container.openstream(f"{folder}/{_DATA}").read()
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - as above: one broken attachment costs itself
            continue


def _name(container: _Container, folder: str, number: int) -> str:
    for stream in _NAMES:
        place = f"{folder}/{stream}"
        if container.exists(place):
            encoding = "utf-16-le" if stream.endswith("F") else "cp1252"
            name = container.openstream(place).read(_MOST_NAME).decode(encoding, "replace").strip("\x00 ")
            shown = name.replace("\\", "/").rsplit("/", 1)[-1]
            if shown not in ("", ".", ".."):
                return shown
    return f"attachment {number}"
