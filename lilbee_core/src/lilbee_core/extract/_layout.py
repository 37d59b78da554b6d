"""The one place that calls pypdfium2: where on its page each run of text of a PDF stands, and pages as pictures.

Coordinates are points from the lower left corner of the page as it is shown.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from lilbee_core.extract._gutters import Sides, gutters, is_wide, taken_apart
from lilbee_core.extract._reading import split_passwords

T = TypeVar("T")
MAX_RUNS = 20_000
"""Runs of one page beyond which its layout is not looked at: a map or a drawing, no text."""
_MAX_LETTERS = 20_000
_SPACE = re.compile(r"(?<=\S) (?=\S)")
_MANY_LINES = 200
_TOUCHING = 0.3
_HYPHENS = {0x02: "-", 0xFFFE: "-"}
_TEXT, _PATH, _IMAGE, _SHADING = 1, 2, 3, 4
"""Kinds of things on a page, as PDFium numbers them."""
_GRAY, _RGB = 0, 2
"""Kinds of pictures, as PNG numbers them."""
_UNSEEN, _MODES = 3, 8
"""The way of drawing text that cannot be seen, and how many ways there are."""


class _Words(Protocol):
    def count_rects(self) -> int: ...

    def get_rect(self, index: int) -> Sides: ...

    def count_chars(self) -> int: ...

    def get_charbox(self, index: int, *, loose: bool = False) -> Sides: ...

    def get_text_range(self) -> str: ...

    def get_text_bounded(self, left: float, bottom: float, right: float, top: float) -> str: ...


class _RawWords(_Words, Protocol):
    raw: object


class _Piece(Protocol):
    @property
    def raw(self) -> object: ...

    @property
    def type(self) -> int: ...

    def get_bounds(self) -> Sides: ...


class _Bitmap(Protocol):
    buffer: bytes
    width: int
    height: int
    stride: int
    n_channels: int

    def close(self) -> None: ...


class _Page(Protocol):
    def get_textpage(self) -> _Words: ...

    def get_bbox(self) -> Sides: ...

    def get_rotation(self) -> int: ...

    def get_size(self) -> tuple[float, float]: ...

    def get_objects(self, *, max_depth: int) -> Iterable[_Piece]: ...

    def render(self, *, scale: float, grayscale: bool, rev_byteorder: bool = False) -> _Bitmap: ...

    def close(self) -> None: ...


class PdfFile(Protocol):
    """An open PDF."""

    def __len__(self) -> int: ...

    def __getitem__(self, index: int) -> _Page: ...

    def get_page_size(self, index: int) -> tuple[float, float]: ...

    def close(self) -> None: ...


class _Pdfium(Protocol):
    PdfiumError: type[Exception]

    def PdfDocument(self, data: bytes, *, password: str | None) -> PdfFile: ...  # noqa: N802 - the library's name


class _Matrix(Protocol):
    a: float
    b: float
    c: float
    d: float


class _Native(Protocol):
    def FPDFText_GetUnicode(self, words: object, index: int) -> int: ...  # noqa: N802

    def FPDFTextObj_GetTextRenderMode(self, text: object) -> int: ...  # noqa: N802

    def FPDFText_GetMatrix(self, words: object, index: int, matrix: object) -> int: ...  # noqa: N802


def _pdfium() -> _Pdfium:
    import pypdfium2

    return cast("_Pdfium", pypdfium2)


class NoLayout(Exception):
    """The positions in a PDF cannot be read, though its text may."""


@dataclass(frozen=True, slots=True)
class Run:
    """Letters that stand side by side on a page."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom

    @property
    def width(self) -> float:
        return self.right - self.left


@contextmanager
def opened(data: bytes, passwords: str | None) -> Generator[PdfFile, None, None]:
    """Open a PDF with the first password that fits.

    Raises:
        NoLayout: If it cannot be opened.
    """
    pdfium = _pdfium()
    for password in (None, *split_passwords(passwords)):
        try:
            document = pdfium.PdfDocument(data, password=password)
        except pdfium.PdfiumError:
            continue
        try:
            yield document
        finally:
            document.close()
        return
    raise NoLayout("the PDF cannot be opened")


def _read(document: PdfFile, number: int, read: Callable[[_Page], T]) -> T:
    """Return what is read of a page, which is closed again."""
    pdfium = _pdfium()
    try:
        page = document[number - 1]
        try:
            return read(page)
        finally:
            page.close()
    except (pdfium.PdfiumError, IndexError) as error:
        raise NoLayout(str(error)) from error


def page_runs(document: PdfFile, number: int) -> list[Run]:
    """Return the runs of text of a page (counted from 1) in the order in which they were drawn.

    Raises:
        NoLayout: If the page cannot be read, or holds too many.
    """
    return _read(document, number, _runs)


def _runs(page: _Page) -> list[Run]:
    text = page.get_textpage()
    count = text.count_rects()
    if count > MAX_RUNS:
        raise NoLayout(f"{count} runs on a page")
    shown = _as_shown(page)
    runs: list[Run] = []
    empty = gutters([gap for gap in _gaps(text) if is_wide(gap)])
    for line in _joined([text.get_rect(at) for at in range(count)]):
        for sides in taken_apart(line, empty) if empty else (line,):
            content = _content(text, sides)
            if content.strip():
                runs.append(Run(content, *shown.turn(sides)))
    return runs


def _gaps(text: _Words) -> Iterator[Sides]:
    """Yield what lies between words that follow each other in one line."""
    letters = text.get_text_range()
    if len(letters) != text.count_chars() or len(letters) > _MAX_LETTERS:
        return
    for space in _SPACE.finditer(letters):
        before, behind = text.get_charbox(space.start() - 1), text.get_charbox(space.end())
        bottom, top = max(before[1], behind[1]), min(before[3], behind[3])
        if before[2] < behind[0] and bottom < top:
            yield before[2], min(before[1], behind[1]), behind[0], max(before[3], behind[3])


def _content(text: _Words, sides: Sides) -> str:
    return " ".join(text.get_text_bounded(*sides).translate(_HYPHENS).split())


def page_letters(document: PdfFile, number: int) -> tuple[list[Run], bool]:
    """Return the letters and digits of a page (counted from 1), each with its place; and whether they are mirrored.

    Raises:
        NoLayout: If the page cannot be read, or holds too many.
    """
    return _read(document, number, _letters)


def _letters(page: _Page) -> tuple[list[Run], bool]:
    import pypdfium2.raw

    words = cast("_RawWords", page.get_textpage())
    count = words.count_chars()
    if count > _MAX_LETTERS:
        raise NoLayout(f"{count} letters on a page")
    shown, native, matrix = _as_shown(page), cast("_Native", pypdfium2.raw), cast("_Matrix", pypdfium2.raw.FS_MATRIX())
    letters: list[Run] = []
    mirrored = 0
    for at in range(count):
        char = chr(native.FPDFText_GetUnicode(words.raw, at))
        if char.isalnum():
            letters.append(Run(char, *shown.turn(words.get_charbox(at, loose=True))))
            if native.FPDFText_GetMatrix(words.raw, at, matrix):
                mirrored += matrix.a * matrix.d < matrix.b * matrix.c
    return letters, mirrored * 2 > len(letters)


def _joined(rects: list[Sides]) -> Iterator[Sides]:
    """Join what touches on a line: some programs place every letter by itself."""
    open_one: Sides | None = None
    for rect in rects:
        if open_one is not None and _touch(open_one, rect):
            open_one = (
                open_one[0],
                min(open_one[1], rect[1]),
                max(open_one[2], rect[2]),
                max(open_one[3], rect[3]),
            )
            continue
        if open_one is not None:
            yield open_one
        open_one = rect
    if open_one is not None:
        yield open_one


def _touch(one: Sides, other: Sides) -> bool:
    height = max(one[3] - one[1], other[3] - other[1])
    level = min(one[3], other[3]) - max(one[1], other[1]) > 0.3 * min(one[3] - one[1], other[3] - other[1])
    return level and -height <= other[0] - one[2] <= _TOUCHING * height and other[0] >= one[0]


@dataclass(frozen=True, slots=True)
class _Shown:
    """How the page lies on the screen: its visible part, and how it is turned."""

    box: Sides
    rotation: int

    def turn(self, sides: Sides) -> Sides:
        left, bottom, right, top = (
            sides[0] - self.box[0],
            sides[1] - self.box[1],
            sides[2] - self.box[0],
            sides[3] - self.box[1],
        )
        width, height = self.box[2] - self.box[0], self.box[3] - self.box[1]
        match self.rotation:
            case 90:
                return bottom, width - right, top, width - left
            case 180:
                return width - right, height - top, width - left, height - bottom
            case 270:
                return height - top, left, height - bottom, right
            case _:
                return left, bottom, right, top


def _as_shown(page: _Page) -> _Shown:
    left, bottom, right, top = page.get_bbox()
    return _Shown((left, bottom, right, top), page.get_rotation())


def page_size(document: PdfFile, number: int) -> tuple[float, float]:
    """Return width and height of a page as it is shown, in points.

    Raises:
        NoLayout: If there is no such page.
    """
    pdfium = _pdfium()
    try:
        width, height = document.get_page_size(number - 1)
    except (pdfium.PdfiumError, IndexError) as error:
        raise NoLayout(str(error)) from error
    return float(width), float(height)


@dataclass(frozen=True, slots=True)
class Shown:
    """What covers a page besides text that can be seen.

    `pictures` is the share of the page under pictures; `drawings` says that there are many lines, as of letters that
    are drawn; `unseen_text` that its text is a layer which somebody's text recognition left there.
    """

    pictures: float
    drawings: bool
    unseen_text: bool


def page_shown(document: PdfFile, number: int) -> Shown | None:
    """Return what covers a page, None if it cannot be told."""
    pdfium = _pdfium()
    try:
        page = document[number - 1]
        try:
            return _shown_on(page)
        finally:
            page.close()
    except (pdfium.PdfiumError, IndexError):
        return None


def _shown_on(page: _Page) -> Shown:
    import pypdfium2.raw

    native = cast("_Native", pypdfium2.raw)
    width, height = page.get_size()
    area, drawn = 0.0, 0
    modes: set[int] = set()
    for piece in page.get_objects(max_depth=4):
        if piece.type == _IMAGE:
            left, bottom, right, top = piece.get_bounds()
            area += abs((right - left) * (top - bottom))
        elif piece.type == _TEXT and len(modes) < _MODES:
            modes.add(native.FPDFTextObj_GetTextRenderMode(piece.raw))
        elif piece.type in (_PATH, _SHADING):
            drawn += 1
            if drawn > _MANY_LINES:
                break
    share = min(1.0, area / (width * height or 1.0))
    return Shown(pictures=share, drawings=drawn > _MANY_LINES, unseen_text=modes == {_UNSEEN})


def page_picture(document: PdfFile, number: int, *, dpi: int, max_pixels: int, colored: bool = False) -> bytes:
    """Return a page as a PNG, in shades of gray unless `colored`; fewer dots per inch where the page is so large.

    Raises:
        NoLayout: If it cannot be drawn.
    """
    pdfium = _pdfium()
    width, height = page_size(document, number)
    scale = dpi / 72
    if (pixels := width * height * scale * scale) > max_pixels:
        scale *= (max_pixels / pixels) ** 0.5
    try:
        page = document[number - 1]
        bitmap = page.render(scale=scale, grayscale=not colored, rev_byteorder=colored)
        try:
            return _png(bytes(bitmap.buffer), bitmap)
        finally:
            bitmap.close()
            page.close()
    except (pdfium.PdfiumError, IndexError, ValueError) as error:
        raise NoLayout(str(error)) from error


def _png(dots: bytes, bitmap: _Bitmap) -> bytes:
    kind = {1: _GRAY, 3: _RGB}[bitmap.n_channels]
    height, stride, long = bitmap.height, bitmap.stride, bitmap.width * bitmap.n_channels
    rows = b"".join(b"\0" + dots[at * stride : at * stride + long] for at in range(height))
    head = struct.pack(">IIBBBBB", bitmap.width, height, 8, kind, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body)) for kind, body in parts
    )
