"""Files attached to PDFs are members of them, as those of mails are."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from lilbee_core.errors import ExtractError, LilbeeError, NoText
from lilbee_core.extract import ExtractorRegistry, ExtractPool, Recognizer, builtin_extractors
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._pdf_reader import PdfExtractor
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.protocols import OcrPage
from lilbee_core.types import Document, Source
from tests.core.extract._files import pdf, placed_pdf, zipped
from tests.core.extract._pdf_files import with_files, with_note
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]
PAGES = pdf([(18, "Tides"), (11, "The sea wall is inspected by rope.")], [(11, "The second page.")])
GRAY = (10, 10, bytes(100))


def by_member(document: Document) -> dict[str | None, list[str]]:
    found: dict[str | None, list[str]] = {}
    for one in document.segments:
        if not one.fine:
            found.setdefault(one.member, []).append(one.span.cut(document.text))
    return found


def limited(data: bytes, *, max_chars: int = 10_000, **limits: int) -> Document:
    source = Source(collection="c", path="a.pdf", media_type="application/pdf", data=data)
    extractor = PdfExtractor(limits=MemberLimits(**limits))
    return extractor.extract(source, FileContext(max_chars=max_chars))


def test_attachments_are_members(document: ReadDocument) -> None:
    inner = with_files(pdf([(11, "An inner page.")]), {"deep.txt": b"below"})
    files = {
        "notes/fees.csv": b"Name,Fee\nGannet,40\n",
        "b.zip": zipped({"c/d.md": "# Head\n\nwords\n"}),
        "in.pdf": inner,
    }
    found = document("a.pdf", with_files(PAGES, files))
    members = by_member(found)
    assert members[None] == ["Tides\nThe sea wall is inspected by rope.", "The second page."]
    assert "Gannet" in members["fees.csv"][0]
    assert members["b.zip/c/d.md"] == ["# Head\n\nwords"]
    assert members["in.pdf"] == ["An inner page."]
    assert members["in.pdf/deep.txt"] == ["below"]
    assert found.metadata["attachments"] == ("b.zip", "in.pdf", "fees.csv")
    assert [heading.title for heading in found.headings][:2] == ["Tides", "Head"]
    assert found.warnings == ()


def test_a_file_in_a_note_on_a_page_is_a_member(document: ReadDocument) -> None:
    found = document("a.pdf", with_note("See the note.", "log.txt", b"Razorbill seen"))
    assert by_member(found) == {None: ["See the note."], "log.txt": ["Razorbill seen"]}


def test_what_is_not_read_is_told(document: ReadDocument) -> None:
    found = document("a.pdf", with_files(PAGES, {"blob.bin": bytes(range(256)) * 9, "ok.txt": b"fine"}))
    assert found.text.endswith("fine")
    (told,) = found.warnings
    assert "attachment not read" in told
    assert "blob.bin" in told
    alone = document("a.pdf", with_files(PAGES, {"blob.bin": bytes(range(256)) * 9}))
    assert alone.text == document("a.pdf", PAGES).text
    assert "blob.bin" in alone.warnings[0]


FILES = {f"{number}.txt": b"word " * 100 for number in range(5)}


@pytest.mark.parametrize(
    ("limits", "read", "words"),
    [
        ({"members": 3}, 3, "attachments behind the first 3 not read"),
        ({"unpacked_bytes": 1_200}, 2, "unpacks to more than is allowed"),
        ({"member_bytes": 100}, 0, "is larger than the limit"),
        ({"max_chars": 600}, 0, "more than 600 characters"),
    ],
)
def test_too_many_and_too_large_attachments_cost_only_themselves(limits: dict[str, int], read: int, words: str) -> None:
    found = limited(with_files(PAGES, FILES), **limits)
    assert found.text.startswith("Tides")
    assert found.text.count("word") == 100 * read
    assert any(words in warning for warning in found.warnings)


def test_a_pdf_that_lies_deep_is_read_without_its_attachments(document: ReadDocument) -> None:
    data = with_files(PAGES, {"x.txt": b"out of reach"})
    for name in ("one.zip", "two.zip"):
        data = zipped({f"in-{name}.pdf" if data.startswith(b"%PDF") else "in.zip": data})
    found = document("a.zip", data)
    assert "inspected by rope" in found.text
    assert "out of reach" in found.text
    deeper = document("a.zip", zipped({"in.zip": data}))
    assert "inspected by rope" in deeper.text
    assert "out of reach" not in deeper.text
    assert any("x.txt lies too deep" in warning for warning in deeper.warnings)


def test_broken_attachments_do_no_harm(read: Read) -> None:
    whole = with_note("See the note.", "log.txt", b"Razorbill seen")
    for data in (
        whole.replace(b"/EF<</F 7 0 R>>", b"/EF<</F 9 0 R>>"),
        whole.replace(b"/FS <<", b"/FX <<"),
        whole[:-200],
    ):
        result = read("a.pdf", data)
        assert isinstance(result, ExtractError) or (isinstance(result, Document) and result.text == "See the note.")


class Eyes:
    name = "eyes"

    def recognize(self, image: bytes, *, languages: object, timeout_s: float) -> OcrPage:
        return OcrPage(text="What the picture says", confidence=0.9)


@pytest.fixture(scope="module")
def recognized() -> Iterator[Callable[[str, bytes], Document | LilbeeError]]:
    recognizer = Recognizer(lambda: [Eyes()], workers=1)
    with ExtractPool(ExtractorRegistry(builtin_extractors()), workers=1, recognizer=recognizer) as pool:

        def read_one(name: str, data: bytes) -> Document | LilbeeError:
            ((_, result),) = pool.extract([Source(collection="c", path=name, media_type="", data=data, size=len(data))])
            return result

        yield read_one


@pytest.mark.parametrize("pages", [[[], []], [[(60.0, 700.0, 2, "Text enough for a page of its own." * 12)], []]])
@pytest.mark.parametrize("around", ["", "box.zip"])
def test_pictures_of_the_pages_and_in_the_attachments_are_recognized(
    pages: list[list[tuple[float, float, int, str]]],
    around: str,
    recognized: Callable[[str, bytes], Document | LilbeeError],
) -> None:
    files = {"note.txt": b"beside", "scan.pdf": placed_pdf([], picture=GRAY)}
    data = with_files(placed_pdf(*pages, picture=GRAY), files)
    result = recognized(around or "a.pdf", zipped({"a.pdf": data, "z.txt": "end"}) if around else data)
    assert isinstance(result, Document)
    prefix = "a.pdf" if around else None
    own = [one[0][3].strip() if one else "What the picture says" for one in pages]
    members = by_member(result)
    assert members[prefix] == own
    assert members["a.pdf/note.txt" if around else "note.txt"] == ["beside"]
    assert members["a.pdf/scan.pdf" if around else "scan.pdf"] == ["What the picture says"]
    assert "unread_pages" not in result.metadata
    if not around:
        assert result.metadata["ocr_members"] == 1


def test_pages_without_text_are_told_with_attachments_or_without(read: Read) -> None:
    scan = placed_pdf([], picture=GRAY)
    assert isinstance(read("a.pdf", scan), NoText)
    found = read("a.pdf", with_files(scan, {"note.txt": b"beside"}))
    assert isinstance(found, Document)
    assert [(one.at, one.pages, one.span.start, one.span.end) for one in found.scans] == [((), (1,), 0, 0)]
