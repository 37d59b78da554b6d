"""Mails of Outlook (.msg): the text by the engine, the attachments by their own readers, forwarded mails as mails."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from io import BytesIO
from typing import IO, Protocol, cast

from lilbee_core.errors import NoText
from lilbee_core.extract._compound import Storage, compound_file
from lilbee_core.extract._kreuzberg import KreuzbergExtractor
from lilbee_core.extract._members import Joined, Member, MemberReader, Nesting, held
from lilbee_core.extract._reading import check_length, read_bytes
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Source

_ATTACHED = "__attach_version1.0_#"
_DATA = "__substg1.0_37010102"
_MESSAGE = "__substg1.0_3701000D"
"""A folder with a whole mail in it."""
_NAMES = ("__substg1.0_3707001F", "__substg1.0_3707001E", "__substg1.0_3704001F", "__substg1.0_3704001E")
"""Streams with the name of an attachment: the long one in Unicode first."""
_SUBJECTS = ("__substg1.0_0037001F", "__substg1.0_0037001E")
_PROPERTIES = "__properties_version1.0"
_NAMED = "__nameid_version1.0"
"""What properties are called that have no number of their own; only the outermost mail tells."""
_INNER_HEAD = 24
_HEAD_DIFFERENCE = 8
"""The properties of a mail that stands alone begin with so many bytes more."""
_MOST_NAME = 1000
_MOST_SUBJECT = 80


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
        return f"2-{KreuzbergExtractor().version}"

    def inside(self, members: MemberReader) -> Extractor:
        return OutlookExtractor(members)

    def members(self, source: Source, context: ExtractContext, reader: MemberReader) -> Iterator[Member]:
        for name, content in attachments(read_bytes(source)):
            reader.spend(len(content))
            yield held(name, content)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return headers, text and the text of attachments.

        Raises:
            ExtractError: If the file is damaged, holds no text or unpacks to too much.
        """
        data = read_bytes(source)
        whole = replace(source, data=data)
        missing: NoText | None = None
        try:
            mail = KreuzbergExtractor().extract(replace(source, data=_alone(data)), context)
        except NoText as error:
            # A mail may be nothing but what is attached to it.
            mail, missing = _empty(source), error
        text = Joined(mail.text.strip("\n"))
        reader = self.reader(source)
        text.add_all(self.members(whole, context, reader), reader, context, "attachment")
        if missing is not None and not text.segments and not text.scans:
            raise missing
        check_length(source, text.text, context)
        return replace(
            mail,
            text=text.text,
            segments=(*mail.segments, *text.segments),
            headings=(*mail.headings, *text.headings),
            warnings=(*mail.warnings, *text.warnings),
            scans=tuple(text.scans),
            tables=tuple(text.tables),
        )


def _empty(source: Source) -> Document:
    return Document(
        path=source.path, collection=source.collection, media_type=source.media_type, text="", has_lines=False
    )


def _alone(data: bytes) -> bytes:
    """Return a mail without the mails in it, whose recipients the engine takes for its own."""
    import olefile

    try:
        container = cast("_Ole", olefile).OleFileIO(BytesIO(data))
        paths = container.listdir()
        if not any(_MESSAGE in path for path in paths):
            return data
        return compound_file(_tree(container, [path for path in paths if _MESSAGE not in path], 0))
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001 - as below: the engine takes what is there
        return data


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
            elif container.exists(f"{folder}/{_MESSAGE}/{_PROPERTIES}"):
                yield _mail_name(container, folder, number), _as_file(container, f"{folder}/{_MESSAGE}")
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - as above: one broken attachment costs itself
            continue


def _name(container: _Container, folder: str, number: int) -> str:
    shown = _text(container, [f"{folder}/{stream}" for stream in _NAMES]).replace("\\", "/").rsplit("/", 1)[-1]
    return shown if shown not in ("", ".", "..") else f"attachment {number}"


def _mail_name(container: _Container, folder: str, number: int) -> str:
    """Return what a forwarded mail is called: by its subject, with the ending of its format."""
    subject = _text(container, [f"{folder}/{_MESSAGE}/{stream}" for stream in _SUBJECTS])
    plain = " ".join(subject.replace("/", " ").replace("\\", " ").split())[:_MOST_SUBJECT].strip(". ")
    return f"{plain or f'message {number}'}.msg"


def _text(container: _Container, places: Sequence[str]) -> str:
    for place in places:
        if container.exists(place):
            encoding = "utf-16-le" if place.endswith("F") else "cp1252"
            text = container.openstream(place).read(_MOST_NAME).decode(encoding, "replace").strip("\x00 ")
            if text:
                return text
    return ""


def _as_file(container: _Container, folder: str) -> bytes:
    """Return a mail that lies in another one as a file of its own."""
    prefix = folder.split("/")
    paths = container.listdir()
    root = _tree(container, [path for path in paths if list(path[: len(prefix)]) == prefix], len(prefix))
    named = _tree(container, [path for path in paths if path[0] == _NAMED], 0)
    root.storages.update(named.storages)
    properties = root.streams[_PROPERTIES]
    root.streams[_PROPERTIES] = properties[:_INNER_HEAD] + bytes(_HEAD_DIFFERENCE) + properties[_INNER_HEAD:]
    return compound_file(root)


def _tree(container: _Container, paths: Sequence[Sequence[str]], depth: int) -> Storage:
    """Return the streams with these names, without so many folders around them."""
    root = Storage()
    for path in paths:
        place = root
        for name in path[depth:-1]:
            place = place.storages.setdefault(name, Storage())
        place.streams[path[-1]] = container.openstream("/".join(path)).read()
    return root
