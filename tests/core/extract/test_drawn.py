"""Office files whose pages are pictures are scans; pictures beside enough text are left alone."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable, Iterator
from itertools import count

import pytest

from lilbee_core.errors import LilbeeError, NoText
from lilbee_core.extract import ExtractorRegistry, ExtractPool, Recognizer, builtin_extractors, may_hold_pictures
from lilbee_core.protocols import OcrPage
from lilbee_core.types import Document, Source
from tests.core.extract._files import docx, odf, paragraph, pptx, relations, shape, zipped
from tests.core.extract.conftest import Read

Recognized = Callable[..., Document | LilbeeError]
LITTLE = "A cover line."
MUCH = "Enough text that the pictures beside it only show what it says. " * 12
_A, _R = "http://schemas.openxmlformats.org/drawingml/2006/main", "http://schemas.openxmlformats.org/officeDocument"


def png(width: int = 1000, height: int = 1400) -> bytes:
    """Return the head of a picture of that size; nothing here looks further."""
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", width, height) + b"\x08\0\0\0\0" + bytes(4)


def with_parts(data: bytes, **parts: bytes) -> bytes:
    """Return a package with parts put in or replaced; ``__`` in their names is a slash, ``_`` a dot."""
    new = {name.replace("__", "/").replace("_", "."): content for name, content in parts.items()}
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        return zipped({**{name: package.read(name) for name in package.namelist()}, **new})


def blip(number: int) -> str:
    return f'<w:drawing><a:blip xmlns:a="{_A}" xmlns:r="{_R}/2006/relationships" r:embed="r{number}"/></w:drawing>'


def word(text: str, *pictures: bytes) -> bytes:
    """Return a Word document of a paragraph and pictures, the last one first."""
    body = paragraph(text) + "".join(f"<w:p><w:r>{blip(n)}</w:r></w:p>" for n in reversed(range(len(pictures))))
    listed = relations({f"r{n}": ("image", f"media/image{n}.png") for n in range(len(pictures))})
    parts = {f"word__media__image{n}_png": data for n, data in enumerate(pictures)}
    whole = with_parts(docx(body), **parts)
    with zipfile.ZipFile(io.BytesIO(whole)) as package:
        rest = {name: package.read(name) for name in package.namelist()}
    return zipped({**rest, "word/_rels/document.xml.rels": listed})


def slides(*texts: str) -> bytes:
    """Return a presentation; each slide shows a picture."""
    shown = f'<p:pic><a:blip xmlns:b="{_A}" r:embed="r0"/></p:pic>'
    data = pptx([(shape(text) if text else "") + shown for text in texts])
    with zipfile.ZipFile(io.BytesIO(data)) as package:
        parts: dict[str, str | bytes] = {name: package.read(name) for name in package.namelist()}
    for number in range(len(texts)):
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations({"r0": ("image", f"../media/p{number}.png")})
        parts[f"ppt/media/p{number}.png"] = png()
    return zipped(parts)


def text_document(text: str, *pictures: bytes) -> bytes:
    frames = "".join(
        f'<text:p><draw:frame><draw:image xmlns:xlink="urn:x" xlink:href="Pictures/{n}.png"/></draw:frame></text:p>'
        for n in range(len(pictures))
    )
    data = odf(f"<text:p>{text}</text:p>{frames}")
    return with_parts(data, **{f"Pictures__{n}_png": picture for n, picture in enumerate(pictures)})


class Eyes:
    name = "eyes"

    def __init__(self) -> None:
        self._pages = count(1)

    def recognize(self, image: bytes, *, languages: object, timeout_s: float) -> OcrPage:
        return OcrPage(text=f"Page {next(self._pages)} of the picture, {len(image)} bytes", confidence=0.9)


@pytest.fixture(scope="module")
def recognized() -> Iterator[Recognized]:
    pools: list[ExtractPool] = []

    def read(name: str, data: bytes, *, blind: bool = False) -> Document | LilbeeError:
        engines = [] if blind else [Eyes()]
        recognizer = Recognizer(lambda: engines, workers=1)
        pools.append(ExtractPool(ExtractorRegistry(builtin_extractors()), workers=1, recognizer=recognizer))
        source = Source(collection="c", path=name, media_type="", data=data, size=len(data))
        ((_, result),) = pools[-1].extract([source])
        return result

    yield read
    for pool in pools:
        pool.close()


FILES: dict[str, Callable[..., bytes]] = {"a.docx": word, "a.odt": text_document}


@pytest.mark.parametrize("name", FILES)
def test_pages_scanned_into_a_document_are_recognized(name: str, recognized: Recognized) -> None:
    result = recognized(name, FILES[name](LITTLE, png(), png()))
    assert isinstance(result, Document)
    assert result.text.startswith(LITTLE)
    assert "Page 1 of the picture" in result.text
    assert "Page 2 of the picture" in result.text
    members = [one.member for one in result.segments if one.member]
    assert len(members) == 2
    assert result.metadata["ocr_members"] == 2
    assert "unread_pages" not in result.metadata


@pytest.mark.parametrize("name", FILES)
def test_without_an_engine_they_are_counted_and_a_hint_is_given(name: str, recognized: Recognized) -> None:
    result = recognized(name, FILES[name](LITTLE, png(), png()), blind=True)
    assert isinstance(result, Document)
    assert result.metadata["unread_pages"] == 2
    assert "install Tesseract" in result.warnings[0]
    empty = recognized(name, FILES[name]("", png()), blind=True)
    assert isinstance(empty, NoText)
    assert "install Tesseract" in empty.message


@pytest.mark.parametrize(
    ("text", "picture"), [(MUCH, png()), (LITTLE, png(120, 90)), (LITTLE, png(5000, 100)), (LITTLE, b"no picture")]
)
@pytest.mark.parametrize("name", FILES)
def test_illustrations_and_logos_are_left_alone(name: str, text: str, picture: bytes, read: Read) -> None:
    found = read(name, FILES[name](text, picture))
    assert isinstance(found, Document)
    assert found.scans == ()


def test_pictures_of_a_word_document_come_in_its_order(read: Read) -> None:
    found = read("a.docx", word(LITTLE, png(), png()))
    assert isinstance(found, Document)
    assert [(one.at, one.member) for one in found.scans] == [((1,), "image1.png"), ((0,), "image0.png")]


def test_slides_that_are_pictures_are_named(recognized: Recognized) -> None:
    result = recognized("a.pptx", slides("Agenda", MUCH, ""))
    assert isinstance(result, Document)
    assert [one.member for one in result.segments if one.member] == ["slide 1/p0.png", "slide 3/p2.png"]


def test_a_document_of_pictures_in_an_archive(recognized: Recognized) -> None:
    result = recognized("a.zip", zipped({"in.docx": word("", png()), "b.txt": "beside"}))
    assert isinstance(result, Document)
    assert [one.member for one in result.segments] == ["in.docx/image0.png", "b.txt"]


def test_a_file_without_text_and_pictures_says_so(read: Read) -> None:
    assert isinstance(read("a.docx", word("")), NoText)
    assert may_hold_pictures("application/vnd.openxmlformats-officedocument.wordprocessingml.document")
