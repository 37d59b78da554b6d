"""What every extractor, chunker, fetcher and OCR engine keeps to."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.errors import Cancelled, ExtractError, LilbeeError
from lilbee_core.protocols import Fetched, OcrPage
from lilbee_core.testing._edges import ReadContext, Switch
from lilbee_core.testing.builders import a_document, id_of
from lilbee_core.testing.contracts._tools import UNICODE, check_name, check_picklable, check_unique
from lilbee_core.text import LineIndex
from lilbee_core.types import Chunk, Document, Heading, Segment, Source, Span, Symbol, Table

if TYPE_CHECKING:
    from lilbee_core.protocols import Chunker, Extractor, Fetcher, OcrEngine

_GARBAGE = bytes(range(256)) * 8


class ExtractorContract(ABC):
    """Checks for an `Extractor`: give the extractor in `make`, and files that it reads in `sources`."""

    @abstractmethod
    def make(self) -> Extractor:
        """Return a new extractor."""

    @abstractmethod
    def sources(self) -> Sequence[Source]:
        """Return at least one source that the extractor reads without an error (`a_source` makes one)."""

    # ------------------------------------------------------------------ the checks

    def test_it_says_what_it_is(self) -> None:
        extractor = self.make()
        check_name(extractor.name, "the extractor's name")
        check_name(extractor.version, "the extractor's version")
        assert isinstance(extractor.in_process, bool), "in_process is neither true nor false"

    def test_it_reads_its_samples(self) -> None:
        assert self.sources(), "give at least one source"
        for source, document in self._read():
            assert isinstance(document, Document), f"extract returned {type(document).__name__}, not a Document"
            assert document.text.strip(), f"{source.path} came out without text"

    def test_the_document_says_where_it_comes_from(self) -> None:
        for source, document in self._read():
            assert document.path == source.path, f"{source.path} came out as {document.path}"
            assert document.collection == source.collection, f"{source.path} changed its collection"

    def test_same_input_same_output(self) -> None:
        for source, document in self._read():
            assert self.make().extract(source, ReadContext()) == document, f"{source.path} came out differently"

    def test_places_lie_inside_the_text(self) -> None:
        for source, document in self._read():
            check_places(document, source.path)

    def test_lines_are_those_of_the_file(self) -> None:
        for source, document in self._read():
            if document.has_lines:
                _check_lines(source, document)

    def test_the_document_can_travel(self) -> None:
        for source, document in self._read():
            check_picklable(document, f"the document of {source.path}")

    def test_broken_files_raise_extract_errors(self) -> None:
        for source in self.sources():
            whole = source.read()
            for data in (b"", whole[: len(whole) // 2], _GARBAGE, whole.replace(b"\n", b"\x00"), b"\xff\xfe" + whole):
                self._survives(replace(source, data=data, file=None, size=len(data)))

    def test_a_missing_file_raises(self) -> None:
        for source in self.sources():
            gone = replace(source, data=None, file=f"{__file__}.gone")
            try:
                self.make().extract(gone, ReadContext())
            except (ExtractError, OSError):
                continue
            raise AssertionError("it read a file that does not exist")

    def test_the_longest_text_is_kept(self) -> None:
        for source in self.sources():
            try:
                document = self.make().extract(source, ReadContext(max_chars=4))
            except ExtractError:
                continue
            assert len(document.text) <= 4, f"{len(document.text)} characters came out of {source.path} instead of 4"

    def test_a_cancelled_read_ends(self) -> None:
        for source in self.sources():
            context = ReadContext(switch=Switch(after=0))
            try:
                self.make().extract(source, context)
            except Cancelled:
                continue
            assert not context.switch.checks, "it swallowed Cancelled"

    # ------------------------------------------------------------------ inside

    def _read(self) -> list[tuple[Source, Document]]:
        return [(source, self.make().extract(source, ReadContext())) for source in self.sources()]

    def _survives(self, source: Source) -> None:
        try:
            document = self.make().extract(source, ReadContext())
        except ExtractError:
            return
        except Exception as error:
            message = f"a broken {source.path} raised {type(error).__name__}: {error}, not an ExtractError"
            raise AssertionError(message) from error
        check_places(document, source.path)


def check_places(document: Document, what: str) -> None:
    """Demand that headings, symbols and segments lie inside the text, in order."""
    size = len(document.text)
    assert "\r" not in document.text, f"{what}: lines end in carriage returns"
    assert 0 <= document.body_start <= size, f"{what}: the body starts outside the text"
    placed: tuple[Segment | Symbol | Table, ...] = (*document.segments, *document.symbols, *document.tables)
    spans = [one.span for one in placed]
    assert all(span.end <= size for span in spans), f"{what}: a segment, symbol or table lies outside the text"
    assert all(0 <= one.start < max(size, 1) for one in document.headings), f"{what}: a heading lies outside the text"
    for name in ("segments", "symbols", "tables"):
        starts = [one.span.start for one in getattr(document, name)]
        assert starts == sorted(starts), f"{what}: {name} are not in the order of the text"
    starts = [one.start for one in document.headings]
    assert starts == sorted(starts), f"{what}: headings are not in the order of the text"
    lines = document.text.count("\n") + 1 if document.text else 0
    line_map = document.line_map
    assert line_map is None or len(line_map) >= lines, f"{what}: line_map has {len(line_map or ())} of {lines} lines"


def _check_lines(source: Source, document: Document) -> None:
    in_file = len(re.split(rb"\r\n|\r|\n", source.read()))
    lines = document.text.count("\n") + 1
    if document.line_map is None:
        assert lines <= in_file, f"{source.path} has {in_file} lines and its text {lines}: set has_lines or line_map"
        return
    named = document.line_map[:lines]
    assert all(1 <= line <= in_file for line in named), f"{source.path}: line_map names a line that the file lacks"
    assert list(named) == sorted(named), f"{source.path}: line_map goes back"


class ChunkerContract(ABC):
    """Checks for a `Chunker`: give the chunker in `make`, and documents of your own in `documents`."""

    @abstractmethod
    def make(self) -> Chunker:
        """Return a new chunker."""

    def documents(self) -> Sequence[Document]:
        """Return the documents that the chunker is tried on, beside the empty one."""
        return sample_texts()

    # ------------------------------------------------------------------ the checks

    def test_its_fingerprint_names_the_cut(self) -> None:
        check_name(self.make().fingerprint, "the fingerprint")
        assert self.make().fingerprint == self.make().fingerprint, "two equal chunkers have two fingerprints"

    def test_chunks_are_verbatim_slices(self) -> None:
        for document, chunks in self._cut():
            for chunk in chunks:
                found = chunk.span.cut(document.text)
                assert chunk.text == found, (
                    f"{document.path}: a chunk says {chunk.text!r} where the text says {found!r}"
                )

    def test_no_chunk_is_blank(self) -> None:
        for document, chunks in self._cut():
            assert all(chunk.text.strip() for chunk in chunks), f"{document.path}: a chunk holds nothing but blanks"

    def test_nothing_is_lost(self) -> None:
        for document, chunks in self._cut():
            covered = bytearray(len(document.text))
            for chunk in chunks:
                covered[chunk.span.start : chunk.span.end] = b"\x01" * len(chunk.span)
            lost = [
                at
                for at in range(document.body_start, len(document.text))
                if not covered[at] and not document.text[at].isspace()
            ]
            assert not lost, f"{document.path}: {document.text[lost[0] : lost[0] + 30]!r} is in no chunk"

    def test_what_stands_before_the_body_is_left_out(self) -> None:
        for document, chunks in self._cut():
            early = [chunk for chunk in chunks if chunk.span.start < document.body_start]
            assert not early, f"{document.path}: a chunk starts before the body"

    def test_chunks_stand_in_order(self) -> None:
        for document, chunks in self._cut():
            starts = [chunk.span.start for chunk in chunks]
            assert starts == sorted(set(starts)), f"{document.path}: chunks start at {starts}"
            assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks))), f"{document.path}: wrong ordinals"

    def test_ids_are_stable_and_unique(self) -> None:
        for document, chunks in self._cut():
            check_unique([chunk.id for chunk in chunks], document.path)
            again = self.make().split(document, id_of(document))
            assert again == chunks, f"{document.path}: cut twice, it gave two results"

    def test_chunks_say_whose_they_are(self) -> None:
        for document, chunks in self._cut():
            for chunk in chunks:
                assert chunk.document_id == id_of(document), f"{document.path}: a chunk belongs to {chunk.document_id}"
                owner = (chunk.collection, chunk.path, chunk.media_type)
                expected = (document.collection, document.path, document.media_type)
                assert owner == expected, f"{document.path}: a chunk says it is from {owner}"

    def test_lines_are_those_of_the_file(self) -> None:
        for document, chunks in self._cut():
            lines = LineIndex(document.text)
            for chunk in chunks:
                place = (chunk.location.line_start, chunk.location.line_end)
                last = max(chunk.span.start, chunk.span.end - 1)
                if not document.has_lines:
                    assert place == (None, None), f"{document.path} has no lines, and a chunk names {place}"
                elif document.line_map is None:
                    expected = (lines.line_of(chunk.span.start), lines.line_of(last))
                    assert place == expected, f"{document.path}: a chunk names lines {place} instead of {expected}"

    def test_an_empty_document_has_no_chunks(self) -> None:
        for text in ("", " \n\t\n "):
            chunks = self._split(a_document(text))
            assert chunks == (), f"{text!r} gave {len(chunks)} chunks"

    # ------------------------------------------------------------------ inside

    def _cut(self) -> list[tuple[Document, tuple[Chunk, ...]]]:
        return [(document, self._split(document)) for document in self.documents()]

    def _split(self, document: Document) -> tuple[Chunk, ...]:
        chunks: object = self.make().split(document, id_of(document))
        assert isinstance(chunks, tuple), f"split returned {type(chunks).__name__}, not a tuple"
        return self.make().split(document, id_of(document))


def sample_texts() -> list[Document]:
    """Return documents of many shapes: short, long, one line, headings, code, front matter, scripts, no lines."""
    prose = "\n\n".join(f"Paragraph {n}. Bees find home by the sun. " * 6 for n in range(30))
    markdown = "# Bees\n\nThey fly.\n\n## Honey\n\nIt is sweet.\n\n" + "More words on honey. " * 200
    code = "def find_home(sun):\n    return sun\n\n\nclass Hive:\n    def open(self):\n        return 35\n"
    matter = "---\ntitle: Bees\n---\n"
    return [
        a_document("Bees."),
        a_document(prose, path="prose.txt"),
        a_document("word " * 4000, path="one-line.txt"),
        a_document("x" * 9000, path="no-blank.txt"),
        a_document(
            markdown,
            path="bees.md",
            media_type="text/markdown",
            headings=(
                Heading(start=0, level=1, title="Bees"),
                Heading(start=markdown.index("## Honey"), level=2, title="Honey"),
            ),
        ),
        a_document(
            code,
            path="hive.py",
            media_type="text/x-python",
            symbols=(
                Symbol(span=Span(0, code.index("\n\n\nclass")), name="find_home", kind="function"),
                Symbol(span=Span(code.index("class"), len(code) - 1), name="Hive", kind="class"),
            ),
        ),
        a_document(matter + "Bees fly.\n", path="matter.md", body_start=len(matter)),
        a_document("\n".join(UNICODE) * 40, path="scripts.txt"),
        a_document(prose, path="scan.pdf", media_type="application/pdf", has_lines=False),
    ]


class FetcherContract(ABC):
    """Checks for a `Fetcher`: it must refuse addresses inside the user's network, and anything but the web."""

    refused = (
        "http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]:9/", "http://10.0.0.1/", "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data/", "http://0.0.0.0/", "http://2130706433/", "file:///etc/hostname",
        "ftp://example.org/x", "gopher://example.org/", "not a url",
    )  # fmt: skip

    @abstractmethod
    def make(self) -> Fetcher:
        """Return a new fetcher."""

    def pages(self) -> Sequence[str]:
        """Return addresses that it can fetch in the test."""
        return ()

    # ------------------------------------------------------------------ the checks

    def test_addresses_inside_are_refused(self) -> None:
        for url in self.refused:
            try:
                self.make().fetch(url, timeout_s=0.5)
            except LilbeeError:
                continue
            except Exception as error:
                raise AssertionError(f"{url} raised {type(error).__name__}, not a LilbeeError") from error
            raise AssertionError(f"it fetched {url}")

    def test_pages_come_with_all_that_is_known(self) -> None:
        for url in self.pages():
            page = self.make().fetch(url, timeout_s=5.0)
            assert isinstance(page, Fetched), f"fetch returned {type(page).__name__}, not Fetched"
            assert 100 <= page.status <= 599, f"{url} has the status {page.status}"
            assert isinstance(page.body, bytes), f"the body of {url} is not bytes"
            plain = "/" in page.media_type and ";" not in page.media_type
            assert plain, f"{page.media_type!r} is not a media type"


class OcrContract(ABC):
    """Checks for an `OcrEngine`: give the engine in `make`, and page images (PNG) in `images`."""

    @abstractmethod
    def make(self) -> OcrEngine:
        """Return a new engine."""

    @abstractmethod
    def images(self) -> Sequence[bytes]:
        """Return at least one page image with text on it."""

    # ------------------------------------------------------------------ the checks

    def test_it_says_what_it_is(self) -> None:
        check_name(self.make().name, "the engine's name")

    def test_it_reads_its_samples(self) -> None:
        assert self.images(), "give at least one image"
        for image in self.images():
            page = self.make().recognize(image, languages=("en",), timeout_s=60.0)
            assert isinstance(page, OcrPage), f"recognize returned {type(page).__name__}, not an OcrPage"
            assert page.text.strip(), "it found no text"
            assert 0.0 <= page.confidence <= 1.0, f"the confidence {page.confidence} is not between 0 and 1"

    def test_no_image_raises(self) -> None:
        for data in (b"", _GARBAGE):
            try:
                self.make().recognize(data, languages=("en",), timeout_s=60.0)
            except LilbeeError:
                continue
            except Exception as error:
                raise AssertionError(f"no image raised {type(error).__name__}, not a LilbeeError") from error
            raise AssertionError("it read something that is no image")
