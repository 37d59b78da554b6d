"""Files that are attached to a PDF, as a whole or to a place on a page."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, cast

from lilbee_core.errors import LimitExceeded, UnsupportedFormat
from lilbee_core.extract._layout import PdfFile

_FILE_ATTACHMENT = 17
"""The kind of notes on pages that hold a file, as PDFium numbers them."""
_MOST_NAME_BYTES = 1024


class _Native(Protocol):
    """What is used of PDFium's own functions; handles are None where there is nothing."""

    def FPDFDoc_GetAttachmentCount(self, document: object) -> int: ...  # noqa: N802

    def FPDFDoc_GetAttachment(self, document: object, index: int) -> object: ...  # noqa: N802

    def FPDFPage_GetAnnotCount(self, page: object) -> int: ...  # noqa: N802

    def FPDFPage_GetAnnot(self, page: object, index: int) -> object: ...  # noqa: N802

    def FPDFPage_CloseAnnot(self, note: object) -> None: ...  # noqa: N802

    def FPDFAnnot_GetSubtype(self, note: object) -> int: ...  # noqa: N802

    def FPDFAnnot_GetFileAttachment(self, note: object) -> object: ...  # noqa: N802

    def FPDFAttachment_GetName(self, file: object, buffer: object, size: int) -> int: ...  # noqa: N802

    def FPDFAttachment_GetFile(  # noqa: N802
        self, file: object, buffer: object, size: int, needed: object
    ) -> int: ...


class _Raw(Protocol):
    raw: object

    def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class Attached:
    """A file inside a PDF: its name, and where PDFium has it."""

    name: str
    handle: object

    def load(self, most: int) -> bytes:
        """Return its bytes.

        Raises:
            LimitExceeded: If they are more than allowed.
            UnsupportedFormat: If they cannot be had.
        """
        native, needed = _native(), ctypes.c_ulong()
        if not native.FPDFAttachment_GetFile(self.handle, None, 0, ctypes.byref(needed)):
            raise UnsupportedFormat(f"{self.name} cannot be taken out of its PDF")
        if needed.value > most:
            raise LimitExceeded(
                f"{self.name} is larger than the limit of {most // 1_000_000} MB", hint="Raise archive_max_member_mb."
            )
        buffer = ctypes.create_string_buffer(max(1, needed.value))
        native.FPDFAttachment_GetFile(self.handle, buffer, needed.value, ctypes.byref(needed))
        return buffer.raw[: needed.value]


def attached_files(document: PdfFile, data: bytes) -> Iterator[Attached]:
    """Yield the files attached to a PDF, those of the whole first, then those of its pages."""
    native, raw = _native(), cast("_Raw", document).raw
    for index in range(max(0, native.FPDFDoc_GetAttachmentCount(raw))):
        if handle := native.FPDFDoc_GetAttachment(raw, index):
            yield Attached(_name(native, handle), handle)
    if b"/FileAttachment" not in data and b"/ObjStm" not in data:
        return
    for number in range(len(document)):
        yield from _on_page(native, document, number)


def _on_page(native: _Native, document: PdfFile, number: int) -> Iterator[Attached]:
    import pypdfium2

    try:
        page = cast("_Raw", document[number])
    except (pypdfium2.PdfiumError, IndexError):
        return
    try:
        for index in range(max(0, native.FPDFPage_GetAnnotCount(page.raw))):
            note = native.FPDFPage_GetAnnot(page.raw, index)
            if not note:
                continue
            if native.FPDFAnnot_GetSubtype(note) == _FILE_ATTACHMENT and (
                handle := native.FPDFAnnot_GetFileAttachment(note)
            ):
                yield Attached(_name(native, handle), handle)
            native.FPDFPage_CloseAnnot(note)
    finally:
        page.close()


def _name(native: _Native, handle: object) -> str:
    """Return the last part of a file's name: it is for showing and for telling the format."""
    size = min(native.FPDFAttachment_GetName(handle, None, 0), _MOST_NAME_BYTES)
    buffer = (ctypes.c_ushort * (size // 2 + 1))()
    native.FPDFAttachment_GetName(handle, buffer, size)
    name = bytes(buffer)[:size].decode("utf-16-le", "replace").split("\x00", 1)[0]
    shown = "".join(char for char in name.replace("\\", "/").rsplit("/", 1)[-1] if char.isprintable())
    return shown.strip() or "attachment"


def _native() -> _Native:
    import pypdfium2.raw

    return cast("_Native", pypdfium2.raw)
