"""Pages that are pictures: read by the first engine that can, with how sure it was (R049-R051, R053, R379)."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.errors import Cancelled, ExtractError, LilbeeError, LimitExceeded, NoText, ProviderError
from lilbee_core.extract import ExtractorRegistry, ExtractPool, Recognizer, SeeingModel, builtin_extractors
from lilbee_core.extract._pages import shown_pages
from lilbee_core.extract._pictures import image_size
from lilbee_core.extract._rapid import page_of
from lilbee_core.extract._tesseract import Tesseract, find_tesseract, read_table
from lilbee_core.protocols import OcrEngine, OcrPage
from lilbee_core.types import Document, Source
from tests.core.extract._files import docx, paragraph, pdf, placed_pdf, zipped
from tests.core.extract.test_sevenzip import sevenzip

GRAY = (10, 10, bytes(100))
LINE = (60.0, 700.0, 2, "A line with more than enough letters to be the text of a page of its own, no stamp. " * 5)
PNG = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\nIDAT\x08\x99\x63\x60\0\0"
    b"\0\x02\0\x01\x48\xaf\xa4\x71\0\0\0\0IEND\xaeB`\x82"
)


class Engine:
    """Recognizes what it was told to, in turn, and remembers what it was asked."""

    def __init__(self, *answers: str | Exception, name: str = "fake", confidence: float = 0.9) -> None:
        self.name = name
        self.asked: list[tuple[bytes, tuple[str, ...], float]] = []
        self._answers = answers
        self._confidence = confidence
        self._lock = threading.Lock()

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
        with self._lock:
            answer = self._answers[len(self.asked) % len(self._answers)]
            self.asked.append((image[:4], tuple(languages), timeout_s))
        if isinstance(answer, Exception):
            raise answer
        return OcrPage(text=answer, confidence=self._confidence)


Run = Callable[..., tuple[Document | LilbeeError, list[tuple[int, int]]]]


@pytest.fixture
def run() -> Iterator[Run]:
    """Read one file with the given engines."""
    pools: list[ExtractPool] = []

    def read(
        name: str, data: bytes, *engines: OcrEngine, check: Callable[[], None] = lambda: None, **more: object
    ) -> tuple[Document | LilbeeError, list[tuple[int, int]]]:
        recognizer = Recognizer(lambda: engines, workers=1, **more)  # type: ignore[arg-type]
        pool = ExtractPool(ExtractorRegistry(builtin_extractors()), workers=1, timeout_s=30, recognizer=recognizer)
        pools.append(pool)
        told: list[tuple[int, int]] = []
        source = Source(collection="c", path=name, media_type="", data=data, size=len(data))
        results = pool.extract([source], check=check, on_page=lambda source, done, total: told.append((done, total)))
        ((_, result),) = results
        return result, told

    yield read
    for pool in pools:
        pool.close()


def test_a_scan_is_read_page_by_page_with_places_and_progress(run: Run) -> None:
    engine = Engine("First page of the lease", "Second page, in which Heronsgate is named")
    result, told = run("a.pdf", placed_pdf([], [], picture=GRAY), engine, languages=("en", "de"), timeout_s=7)
    assert isinstance(result, Document)
    assert result.text == "First page of the lease\n\nSecond page, in which Heronsgate is named"
    pages = [one for one in result.segments if not one.fine]
    assert [(one.page, one.span.cut(result.text)) for one in pages] == list(enumerate(result.text.split("\n\n"), 1))
    assert [box.page for one in result.segments for box in one.boxes] == [1, 2]
    assert (result.metadata["ocr_pages"], result.metadata["ocr_confidence"]) == ("1-2", 0.9)
    assert told == [(1, 2), (2, 2)]
    assert engine.asked == [(b"\x89PNG", ("en", "de"), 7)] * 2
    assert (result.has_lines, result.pages_without_text) == (False, ())


def test_only_pages_without_text_are_recognized(run: Run) -> None:
    engine = Engine("What the picture says")
    data = placed_pdf([LINE], [(280.0, 20.0, 9, "2")], [LINE], picture=GRAY)
    result, told = run("a.pdf", data, engine)
    assert isinstance(result, Document)
    assert result.text == f"{LINE[3]}\n\nWhat the picture says\n\n{LINE[3]}"
    assert len(engine.asked) == len(told) == 1
    assert result.metadata["ocr_pages"] == "2"
    for segment in result.segments:
        assert segment.span.cut(result.text) in (LINE[3], "What the picture says")
    assert [one.page for one in result.segments if not one.fine] == [1, 2, 3]


STAMP = (40.0, 815.0, 8, "Received on 12 March 2020 by the archive of the harbor office of Sallow Ford, file 4711")
LETTER = "Dear Sir, the bank at Pellworth has to be rebuilt with oak piles before the geese are back. " * 2


def test_a_line_over_a_scan_stays_beside_what_is_recognized(run: Run) -> None:
    data = placed_pdf([STAMP], picture=GRAY)
    result, _ = run("a.pdf", data, Engine(LETTER))
    assert isinstance(result, Document)
    assert result.text == f"{STAMP[3]}\n\n{LETTER.strip()}"
    result, _ = run("a.pdf", data, Engine(f"{STAMP[3].upper()}\n{LETTER}"))
    assert isinstance(result, Document)
    assert result.text == f"{STAMP[3].upper()}\n{LETTER.strip()}", "it was recognized as well"
    result, _ = run("a.pdf", data)
    assert isinstance(result, Document)
    assert (result.text, result.metadata["unread_pages"]) == (STAMP[3], 1)


@pytest.mark.parametrize("engine", [Engine(STAMP[3].replace("o", "0")), Engine(LETTER, confidence=0.3)])
def test_a_page_of_text_over_a_photo_keeps_its_own(engine: Engine, run: Run) -> None:
    result, _ = run("a.pdf", placed_pdf([STAMP], picture=GRAY), engine)
    assert isinstance(result, Document)
    assert (result.text, result.pages_without_text, result.warnings) == (STAMP[3], (), ())
    assert "unread_pages" not in result.metadata


def test_force_recognizes_every_page_and_off_none(run: Run) -> None:
    engine = Engine("Seen instead")
    result, _ = run("a.pdf", pdf([(11, "Hidden layer")]), engine, mode="force")
    assert isinstance(result, Document)
    assert result.text == "Seen instead"
    result, _ = run("a.pdf", placed_pdf([], picture=GRAY), engine, mode="off")
    assert isinstance(result, NoText)
    assert "Set ocr to auto" in result.hint
    assert len(engine.asked) == 1


def test_without_an_engine_the_hint_says_what_to_install(run: Run) -> None:
    for name, data in (("a.pdf", placed_pdf([], picture=GRAY)), ("a.png", PNG)):
        result, _ = run(name, data)
        assert isinstance(result, NoText)
        assert result.code == "extract.no_text"
        for told in (result.message, result.hint):
            assert "apt install tesseract-ocr" in told
            assert "lilbee-core[rapidocr]" in told
    result, _ = run("a.pdf", placed_pdf([LINE], [], picture=GRAY))
    assert isinstance(result, Document)
    assert result.warnings == ("pictures on page 2 not read: no text recognition is installed",)
    assert result.pages_without_text == (2,)


def test_the_next_engine_reads_what_the_first_cannot(run: Run) -> None:
    first, second = Engine(ProviderError("the server is down")), Engine("Read by the second")
    result, _ = run("a.png", PNG, first, second)
    assert isinstance(result, Document)
    assert result.text == "Read by the second"
    assert len(first.asked) == len(second.asked) == 1


def test_an_empty_page_is_not_given_to_the_next_engine(run: Run) -> None:
    second = Engine("noise")
    result, _ = run("a.png", PNG, Engine(""), second)
    assert isinstance(result, NoText)
    assert "none was recognized" in result.message
    assert second.asked == []


def test_failures_are_told(run: Run) -> None:
    result, _ = run("a.pdf", placed_pdf([], [], [], picture=GRAY), Engine("One", ZeroDivisionError("oops")))
    assert isinstance(result, Document)
    assert result.text.split("\n\n") == ["One", "", "One"]
    assert result.warnings == ("page 2 not read: fake failed (ZeroDivisionError('oops'))",)
    result, _ = run("a.pdf", placed_pdf([], picture=GRAY), Engine(ExtractError("Tesseract failed: no memory")))
    assert isinstance(result, NoText)
    assert "Tesseract failed: no memory" in result.message


def test_low_confidence_is_told(run: Run) -> None:
    result, _ = run("a.pdf", placed_pdf([], [], picture=GRAY), Engine("Smudged", confidence=0.31))
    assert isinstance(result, Document)
    assert result.warnings == ("pages 1-2 recognized with low confidence",)
    assert result.metadata["ocr_confidence"] == 0.31


def test_other_files_and_errors_pass_by(run: Run) -> None:
    engine = Engine("never")
    result, _ = run("a.docx", docx(paragraph("words")), engine, mode="force")
    assert isinstance(result, Document)
    assert result.text == "words"
    assert isinstance(run("a.docx", docx("<w:p/>"), engine)[0], NoText)
    assert isinstance(run("a.pdf", b"%PDF-1.4 garbage", engine)[0], ExtractError)
    assert engine.asked == []


def test_a_cancelled_sync_does_not_wait_for_the_page(run: Run) -> None:
    started, release = threading.Event(), threading.Event()

    class Slow(Engine):
        def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
            started.set()
            release.wait(30)
            return OcrPage(text="late", confidence=1.0)

    def check() -> None:
        if started.is_set():
            raise Cancelled("stop")

    try:
        with pytest.raises(Cancelled):
            run("a.png", PNG, Slow(""), check=check)
    finally:
        release.set()


class Together:
    """An engine that waits until so many pages are being read at once."""

    name = "together"

    def __init__(self, wanted: int) -> None:
        self._all_there = threading.Barrier(wanted)

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
        self._all_there.wait(20)
        return OcrPage(text="Read beside others", confidence=1.0)


def test_pages_of_several_files_are_read_at_once_and_no_more_than_allowed() -> None:
    class Gate:
        limit = 4
        most = 0

        def under_way(self, count: int) -> None:
            self.most = max(self.most, count)

    gate = Gate()
    sources = [Source(collection="c", path=f"{n}.png", media_type="", data=PNG, size=len(PNG)) for n in range(8)]
    engine = Together(4)
    recognizer = Recognizer(lambda: [engine], workers=lambda: 4)
    registry = ExtractorRegistry(builtin_extractors())
    with ExtractPool(registry, workers=1, gate=gate, timeout_s=30, recognizer=recognizer) as pool:
        results = [result for _, result in pool.extract(sources)]
    assert [one.text for one in results if isinstance(one, Document)] == ["Read beside others"] * 8
    assert 0 < gate.most <= 4


def test_an_engine_that_breaks_the_reading_costs_its_file_alone() -> None:
    class Strange(Recognizer):
        def complete(self, source: Source, *rest: object, **more: object) -> Document | LilbeeError:
            if source.path == "0.png":
                raise ZeroDivisionError
            return super().complete(source, *rest, **more)  # type: ignore[arg-type]

    engine = Engine("words of it")
    sources = [Source(collection="c", path=f"{n}.png", media_type="", data=PNG, size=len(PNG)) for n in range(2)]
    registry = ExtractorRegistry(builtin_extractors())
    with ExtractPool(registry, workers=1, timeout_s=30, recognizer=Strange(lambda: [engine])) as pool:
        results = {source.path: result for source, result in pool.extract(sources)}
    assert isinstance(results["0.png"], ExtractError)
    assert isinstance(results["1.png"], Document)


def test_a_model_that_sees_keeps_headings_and_tables(run: Run) -> None:
    class Model:
        def read(self, image: bytes, *, prompt: str = "") -> str:
            assert image.startswith(b"\x89PNG")
            return "# Lease\n\n| Boat | Fee |\n|---|---|\n| Otter | 90 |\n\n## Terms\n\nMonthly.\n"

    result, _ = run("a.pdf", placed_pdf([], picture=GRAY), SeeingModel(Model(), "acme/eyes"))
    assert isinstance(result, Document)
    assert "| Otter | 90 |" in result.text
    assert [(one.level, one.title) for one in result.headings] == [(1, "Lease"), (2, "Terms")]
    assert result.title == "Lease"


MEMBERS: dict[str, str | bytes] = {
    "a.txt": "before",
    "b/photo.png": PNG,
    "c.txt": "behind",
    "scan.pdf": placed_pdf([LINE], [], picture=GRAY),
}


def told_by_member(document: Document) -> dict[str | None, list[tuple[int | None, str]]]:
    found: dict[str | None, list[tuple[int | None, str]]] = {}
    for one in document.segments:
        if not one.fine:
            found.setdefault(one.member, []).append((one.page, one.span.cut(document.text)))
    return found


def sevenzipped(parts: dict[str, str | bytes]) -> bytes:
    return sevenzip({name: data.encode() if isinstance(data, str) else data for name, data in parts.items()})


@pytest.mark.slow
@pytest.mark.parametrize("pack", [zipped, sevenzipped])
def test_members_that_are_pictures_are_read_in_their_place(pack: Callable[..., bytes], run: Run) -> None:
    inner = pack({"deep.png": PNG, "deep.txt": "deep text"})
    found, told = run("a.zip", pack({"first.png": PNG, **MEMBERS, "inner.zip": inner}), Engine("seen 1", "seen 2"))
    assert isinstance(found, Document), found
    assert found.text.split("\n\n") == [
        "seen 1", "before", "seen 2", "behind", LINE[3], "seen 1", "seen 2", "deep text",
    ]  # fmt: skip
    assert told_by_member(found) == {
        "first.png": [(None, "seen 1")],
        "a.txt": [(None, "before")],
        "b/photo.png": [(None, "seen 2")],
        "c.txt": [(None, "behind")],
        "scan.pdf": [(1, LINE[3]), (2, "seen 1")],
        "inner.zip/deep.png": [(None, "seen 2")],
        "inner.zip/deep.txt": [(None, "deep text")],
    }
    assert (found.metadata["ocr_members"], found.metadata["ocr_confidence"]) == (4, 0.9)
    assert found.warnings == ()
    assert len(told) == 4


@pytest.mark.slow
def test_scans_attached_to_mails_are_read(run: Run) -> None:
    message = EmailMessage()
    message["Subject"] = "Invoice"
    message.set_content("Please pay.")
    for name in ("scan.png", "scan.png"):
        message.add_attachment(PNG, maintype="image", subtype="png", filename=name)
    found, _ = run("a.eml", message.as_bytes(), Engine("ten crowns", "eleven crowns"))
    assert isinstance(found, Document)
    assert found.text.split("\n\n")[1:] == ["Please pay.", "ten crowns", "eleven crowns"]
    box = b"From x Mon Mar  2 08:15:00 2026\n" + message.as_bytes()
    packed, _ = run("a.zip", zipped({"mail/a.mbox": box}), Engine("ten crowns", "eleven crowns"))
    assert isinstance(packed, Document)
    assert [one.member for one in packed.segments][-2:] == 2 * ["mail/a.mbox/scan.png"]


@pytest.mark.slow
def test_an_archive_of_scans_alone_is_no_text_until_somebody_reads(run: Run) -> None:
    data = zipped({"a.png": PNG, "b.pdf": placed_pdf([], [], picture=GRAY)})
    for engines in ((), (Engine(ProviderError("no")),)):
        error, _ = run("a.zip", data, *engines)
        assert isinstance(error, NoText), error
        assert ("apt install tesseract-ocr" if not engines else "no") in error.message
    found, _ = run("a.zip", data, Engine("one", "two", "three"))
    assert isinstance(found, Document)
    assert found.text == "one\n\ntwo\n\nthree"
    empty, _ = run("a.zip", zipped({"a.png": PNG, "b.txt": "words"}), Engine(""))
    assert isinstance(empty, Document)
    assert (empty.text, "unread_pages" in empty.metadata, empty.warnings) == ("words", False, ())


@pytest.mark.slow
def test_pages_of_members_that_are_not_read_are_counted(run: Run) -> None:
    data = zipped({**MEMBERS, "two.pdf": placed_pdf([], [], picture=GRAY)})
    for engine, count in ((Engine(ProviderError("no")), 4), (Engine("one", ProviderError("no")), 2)):
        found, _ = run("a.zip", data, engine)
        assert isinstance(found, Document)
        assert found.metadata["unread_pages"] == count
    off, _ = run("a.zip", data, Engine("x"), mode="off")
    assert isinstance(off, Document)
    assert off.metadata["unread_pages"] == 4
    forced, _ = run("a.zip", data, Engine("forced"), mode="force")
    assert isinstance(forced, Document)
    assert LINE[3] not in forced.text


def test_images_that_unpack_to_too_much_are_refused_unread(run: Run) -> None:
    side = int(200_000_000**0.5) + 1
    huge = PNG[:16] + side.to_bytes(4, "big") * 2 + PNG[24:]
    engine = Engine("never")
    result, _ = run("a.png", huge, engine)
    assert isinstance(result, LimitExceeded)
    assert str(side) in result.message
    assert engine.asked == []


@pytest.mark.parametrize(
    ("head", "size"),
    [
        (PNG, (1, 1)),
        (b"GIF89a" + bytes((4, 1, 3, 0)), (260, 3)),
        (b"BM" + bytes(16) + (70).to_bytes(4, "little") + (-50 % 2**32).to_bytes(4, "little"), (70, 50)),
        (b"\xff\xd8\xff\xe0\0\x04ab\xff\xff\xc2\0\x11\x08\0\x20\0\x30" + bytes(9), (48, 32)),
        (b"II*\0\x08\0\0\0\x02\0\0\x01\x03\0\x01\0\0\0\x05\0\0\0\x01\x01\x04\0\x01\0\0\0\x07\0\0\0", (5, 7)),
        (b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x09\0\0\x04\0\0", (10, 5)),
        (b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + b"\x20\0\x10\0", (32, 16)),
        (b"nothing", (0, 0)),
    ],
)
def test_sizes_of_images(head: bytes, size: tuple[int, int]) -> None:
    assert image_size(head) == size


@given(st.sampled_from([b"\x89PNG", b"GIF8", b"BM", b"\xff\xd8", b"II", b"MM", b"RIFF"]), st.binary(max_size=200))
def test_sizes_of_broken_images_are_unknown_or_numbers(mark: bytes, rest: bytes) -> None:
    width, height = image_size(mark + rest)
    assert width >= 0
    assert height >= 0


def test_words_of_a_table_become_lines_and_blocks() -> None:
    rows = ["level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"]
    words = [(1, 1, 90, "The"), (1, 1, 90, "tun-"), (1, 2, 50, "nel"), (2, 1, 80, "is"), (2, 1, -1, " ")]
    rows += [f"5\t1\t{block}\t1\t{line}\t1\t0\t0\t9\t9\t{sure}\t{word}" for block, line, sure, word in words]
    page = read_table("\n".join([*rows, "4\t1\t1\t1\t1\t0\t0\t0\t9\t9\t-1\t", "broken"]))
    assert page.text == "The tunnel\n\nis"
    assert page.confidence == pytest.approx((90 * 7 + 50 * 3 + 80 * 2) / 12 / 100, abs=1e-4)


def test_pieces_of_one_height_become_a_line() -> None:
    def box(left: int, top: int) -> list[list[float]]:
        return [[left, top], [left + 50, top], [left + 50, top + 10], [left, top + 10]]

    page = page_of(["right", "left", "below"], [0.9, 0.8, 0.7], [box(100, 1), box(10, 2), box(10, 20)])
    assert page == OcrPage(text="left right\nbelow", confidence=0.8)
    assert page_of((), (), ()) == OcrPage(text="", confidence=0.0)


@pytest.mark.parametrize(
    ("pages", "shown"), [([3], "page 3"), ([2, 1], "pages 1-2"), ([1, 2, 3, 9, 11, 12], "pages 1-3, 9, 11-12")]
)
def test_page_numbers_as_a_reader_says_them(pages: list[int], shown: str) -> None:
    assert shown_pages(pages) == shown


# --------------------------------------------------------------------------- the program itself

needs_tesseract = pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")


def written(line: str) -> bytes:
    """Return a picture of a line."""
    from lilbee_core.extract._layout import opened, page_picture

    with opened(placed_pdf([(40, 700, 24, line)]), None) as document:
        return page_picture(document, 1, dpi=150, max_pixels=10_000_000)


@pytest.fixture
def tesseract() -> Tesseract:
    command = find_tesseract()
    assert command is not None
    return Tesseract(command)


@needs_tesseract
def test_tesseract_reads_a_line(tesseract: Tesseract) -> None:
    page = tesseract.recognize(written("The Larkspur tunnel is shut"), languages=("en", "xx"), timeout_s=60)
    assert page.text == "The Larkspur tunnel is shut"
    assert page.confidence > 0.8


@needs_tesseract
def test_tesseract_says_what_is_missing_or_wrong(tesseract: Tesseract) -> None:
    with pytest.raises(ExtractError, match="no data for xx, chi_xyz") as caught:
        tesseract.recognize(PNG, languages=("xx", "chi_xyz"), timeout_s=60)
    assert "ocr_languages" in caught.value.hint
    with pytest.raises(ExtractError, match="Tesseract failed"):
        tesseract.recognize(b"no picture", languages=("en",), timeout_s=60)
    with pytest.raises(ExtractError, match=r"within 0\.01 seconds"):
        tesseract.recognize(written("slow"), languages=("en",), timeout_s=0.01)


def test_a_program_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ExtractError, match="cannot be started"):
        Tesseract(str(tmp_path / "tesseract")).recognize(PNG, languages=("en",), timeout_s=5)


@pytest.mark.skipif(os.name != "posix", reason="a script as a program")
def test_a_program_that_prints_rubbish_recognizes_nothing(tmp_path: Path) -> None:
    program = tmp_path / "tesseract"
    program.write_text("#!/bin/sh\nif [ \"$1\" = --list-langs ]; then printf 'List:\\neng\\n'; else echo rubbish; fi\n")
    program.chmod(0o755)
    page = Tesseract(str(program)).recognize(PNG, languages=("en",), timeout_s=20)
    assert page == OcrPage(text="", confidence=0.0)
