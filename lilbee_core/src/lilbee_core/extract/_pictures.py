"""Pages as pictures, made in a worker process: pages of PDFs are drawn, image files are passed on within limits."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from lilbee_core.errors import InvalidArgument, LilbeeError, LimitExceeded, NoText
from lilbee_core.extract._formats import ARCHIVES, DOCX, IMAGES, MAIL, MBOX, ODF, OUTLOOK, PDF, SLIDES
from lilbee_core.extract._layout import NoLayout, opened, page_picture, page_size
from lilbee_core.extract._reading import damaged, read_bytes
from lilbee_core.types import Source

DPI = 300
"""Dots per inch at which text recognition reads best."""
MAX_PIXELS = 40_000_000
_OTHER_PAGE = "Choose another page."


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How pages are drawn: as text recognition reads best, unless it is said otherwise."""

    dpi: int = DPI
    max_pixels: int = MAX_PIXELS
    colored: bool = False


FOR_READING = Look()
"""As text recognition reads best."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """A page as an image file. `width` and `height` are those of the page in points, 0 where it has none."""

    data: bytes
    page: int = 1
    pages: int = 1
    width: float = 0.0
    height: float = 0.0


def has_pictures(media_type: str) -> bool:
    """Say whether files of a type may be pictures of text."""
    return media_type == PDF or media_type in IMAGES


def may_hold_pictures(media_type: str) -> bool:
    """Say whether files of a type may be pictures of text, or hold files that are."""
    return has_pictures(media_type) or media_type in (*ARCHIVES, *MAIL, *MBOX, *OUTLOOK, *DOCX, *SLIDES, *ODF)


def take_picture(
    source: Source, page: int, passwords: str | None, most_pixels: int, look: Look = FOR_READING
) -> Picture | LilbeeError:
    """Return a page of a PDF, or an image file as it is; or why there is none.

    Images of more than `most_pixels` are refused: a few kilobytes can unpack to gigabytes.
    """
    try:
        data = read_bytes(source)
        if source.media_type == PDF:
            return _page(source, data, page, passwords, look)
        return _image(source, data, most_pixels)
    except LilbeeError as error:
        return error


def _page(source: Source, data: bytes, page: int, passwords: str | None, look: Look) -> Picture:
    try:
        with opened(data, passwords) as document:
            if not 1 <= page <= len(document):
                raise InvalidArgument(f"there is no page {page}; {source.path} has {len(document)}", hint=_OTHER_PAGE)
            width, height = page_size(document, page)
            drawn = page_picture(document, page, dpi=look.dpi, max_pixels=look.max_pixels, colored=look.colored)
            return Picture(data=drawn, page=page, pages=len(document), width=width, height=height)
    except NoLayout as error:
        raise damaged(source, f"its page {page} cannot be drawn") from error


def _image(source: Source, data: bytes, most_pixels: int) -> Picture:
    width, height = image_size(data)
    if width * height > most_pixels:
        raise LimitExceeded(
            f"{source.path} is {width} x {height} pixels large, more than text recognition takes",
            hint="Save it smaller, or raise ocr_max_megapixels.",
        )
    if not width * height:
        raise NoText(f"{source.path} holds no picture that can be read", hint="Open it in a viewer and save it again.")
    return Picture(data=data)


def image_type(head: bytes) -> str | None:
    """Return the media type of an image file, as its head tells; None where that is none that browsers show."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for mark, kind in _SHOWN.items() if head.startswith(mark)), None)


def image_size(head: bytes) -> tuple[int, int]:
    """Return width and height in pixels, as the heads of an image file tell; zeros where they do not."""
    for mark, read in _READERS:
        if head.startswith(mark):
            try:
                return read(head)
            except (struct.error, IndexError):
                return 0, 0
    return 0, 0


def _png(head: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", head, 16)
    return width, height


def _gif(head: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<HH", head, 6)
    return width, height


def _bmp(head: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from("<ii", head, 18)
    return abs(width), abs(height)


def _jpeg(head: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 < len(head):
        if head[at] != 0xFF:
            at += 1
            continue
        mark = head[at + 1]
        if 0xC0 <= mark <= 0xCF and mark not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack_from(">HH", head, at + 5)
            return width, height
        if mark in (0xFF, 0x01) or 0xD0 <= mark <= 0xD8:
            at += 1 if mark == 0xFF else 2
            continue
        at += 2 + struct.unpack_from(">H", head, at + 2)[0]
    return 0, 0


def _tiff(head: bytes) -> tuple[int, int]:
    order = "<" if head[:2] == b"II" else ">"
    (start,) = struct.unpack_from(order + "I", head, 4)
    (count,) = struct.unpack_from(order + "H", head, start)
    sizes = {256: 0, 257: 0}
    for entry in range(min(count, 200)):
        tag, kind = struct.unpack_from(order + "HH", head, start + 2 + 12 * entry)
        if tag in sizes:
            (sizes[tag],) = struct.unpack_from(order + ("H" if kind == 3 else "I"), head, start + 10 + 12 * entry)
    return sizes[256], sizes[257]


def _webp(head: bytes) -> tuple[int, int]:
    kind = head[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(head[24:27], "little"), 1 + int.from_bytes(head[27:30], "little")
    if kind == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", head, 26)
    return width & 0x3FFF, height & 0x3FFF


_SHOWN = {
    b"\x89PNG": "image/png",
    b"GIF8": "image/gif",
    b"BM": "image/bmp",
    b"\xff\xd8": "image/jpeg",
}
_READERS: tuple[tuple[bytes, Callable[[bytes], tuple[int, int]]], ...] = (
    (b"\x89PNG", _png),
    (b"GIF8", _gif),
    (b"BM", _bmp),
    (b"\xff\xd8", _jpeg),
    (b"II", _tiff),
    (b"MM", _tiff),
    (b"RIFF", _webp),
)
