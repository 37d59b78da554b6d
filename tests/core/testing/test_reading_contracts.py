"""The contracts of extractors, chunkers, fetchers and OCR engines notice every broken one."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from lilbee_core.errors import Cancelled, ExtractError, InvalidArgument, NoText
from lilbee_core.protocols import Fetched, OcrPage
from lilbee_core.testing import a_source
from lilbee_core.testing.contracts import ChunkerContract, ExtractorContract, FetcherContract, OcrContract
from lilbee_core.text import LineIndex
from lilbee_core.types import (
    Chunk,
    Document,
    DocumentId,
    Heading,
    Location,
    Metadata,
    Segment,
    Source,
    Span,
    Symbol,
    chunk_id,
)
from tests.core.testing._breaking import checks_of, fails, rows, run

counter = itertools.count()
SAMPLES = [a_source("# Bees\nThey find home.\n\nBy the sun.\n"), a_source("one line", path="b.txt")]


# --------------------------------------------------------------------------- extractors


@dataclass
class Plain:
    """Reads text as it is; tests change what comes out."""

    change: Callable[[Document], Any] = lambda document: document
    name: Any = "plain"
    version: Any = "1"
    in_process: Any = True

    def extract(self, source: Source, context: Any) -> Any:
        context.check()
        return self.change(self.read(source, context))

    def read(self, source: Source, context: Any) -> Document:
        data = source.read()
        if not data or b"\x00" in data:
            raise NoText(f"{source.path} holds no text", hint="Leave it out.")
        text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")[: context.max_chars]
        return Document(path=source.path, text=text, collection=source.collection)


def plain(change: Callable[[Document], Any] = lambda document: document, **more: Any) -> Callable[[], Plain]:
    return lambda: Plain(change, **more)


class Crashes(Plain):
    """Lets its own errors out."""

    def read(self, source: Source, context: Any) -> Document:
        data = source.read()
        return replace(super().read(replace(source, data=b"x" + data), context), text=data.decode())


class Misplaced(Plain):
    """Puts a heading outside the text of files that are broken, and only of those."""

    def read(self, source: Source, context: Any) -> Document:
        document = super().read(source, context)
        known = any(source.data == sample.data for sample in SAMPLES)
        return document if known else replace(document, headings=(Heading(start=9999, level=1, title="x"),))


class Invents(Plain):
    def read(self, source: Source, context: Any) -> Document:
        if source.data is None:
            return Document(path=source.path, text="made up")
        return super().read(source, context)


class Endless(Plain):
    def read(self, source: Source, context: Any) -> Document:
        return super().read(source, replace(context, max_chars=10_000))


class Swallows(Plain):
    def extract(self, source: Source, context: Any) -> Any:
        with contextlib.suppress(Cancelled):
            context.check()
        return self.read(source, context)


class Unpicklable(Metadata):
    def __reduce__(self) -> Any:
        raise TypeError("no")


class Rewritten(Metadata):
    def __reduce__(self) -> Any:
        return Metadata, ({"changed": True},)


def lined(*numbers: int) -> Callable[[Document], Document]:
    return lambda document: replace(document, line_map=numbers or None)


EXTRACTOR: dict[str, Any] = {
    "test_it_says_what_it_is": [plain(name=" "), plain(version=3), plain(in_process=None)],
    "test_it_reads_its_samples": [plain(lambda document: document.text), plain(lambda one: replace(one, text=" \n"))],
    "test_the_document_says_where_it_comes_from": [
        plain(lambda one: replace(one, path="/tmp/x")),
        plain(lambda one: replace(one, collection="mine")),
    ],
    "test_same_input_same_output": plain(lambda one: replace(one, title=str(next(counter)))),
    "test_places_lie_inside_the_text": [
        plain(lambda one: replace(one, text=one.text.replace("\n", "\r\n"))),
        plain(lambda one: replace(one, body_start=10_000)),
        plain(lambda one: replace(one, segments=(Segment(span=Span(0, 10_000)),))),
        plain(lambda one: replace(one, symbols=(Symbol(span=Span(0, 10_000), name="x", kind="class"),))),
        plain(lambda one: replace(one, headings=(Heading(start=10_000, level=1, title="x"),))),
        plain(lambda one: replace(one, segments=(Segment(span=Span(3, 4)), Segment(span=Span(0, 1))))),
        plain(lambda one: replace(one, headings=tuple(Heading(start=n, level=1, title="x") for n in (3, 1)))),
        plain(lined(1)),
    ],
    "test_lines_are_those_of_the_file": [
        plain(lambda one: replace(one, text="\n" * 20 + one.text)),
        plain(lined(1, 2, 3, 4, 99)),
        plain(lined(3, 2, 1, 1, 1)),
    ],
    "test_the_document_can_travel": [
        plain(lambda one: replace(one, metadata=Unpicklable())),
        plain(lambda one: replace(one, metadata=Rewritten())),
    ],
    "test_broken_files_raise_extract_errors": [Crashes, Misplaced],
    "test_a_missing_file_raises": Invents,
    "test_the_longest_text_is_kept": Endless,
    "test_a_cancelled_read_ends": Swallows,
}


# --------------------------------------------------------------------------- chunkers


@dataclass
class Paragraphs:
    """Cuts at empty lines; tests change the chunks."""

    change: Callable[[Document, list[Chunk]], Any] = lambda document, chunks: tuple(chunks)
    fingerprint: Any = "paragraphs@1"

    def split(self, document: Document, document_id: DocumentId) -> Any:
        lines, chunks, at = LineIndex(document.text), list[Chunk](), document.body_start
        for piece in document.text[at:].split("\n\n"):
            if piece.strip():
                chunks.append(self._chunk(document, document_id, Span(at, at + len(piece)), len(chunks), lines))
            at += len(piece) + 2
        return self.change(document, chunks)

    def _chunk(self, document: Document, owner: DocumentId, span: Span, ordinal: int, lines: LineIndex) -> Chunk:
        place = Location(line_start=lines.line_of(span.start), line_end=lines.line_of(span.end - 1))
        return Chunk(
            id=chunk_id(owner, span.start, span.cut(document.text)),
            document_id=owner,
            collection=document.collection,
            path=document.path,
            media_type=document.media_type,
            ordinal=ordinal,
            text=span.cut(document.text),
            span=span,
            location=place if document.has_lines else Location(),
        )


def cut(change: Callable[[Document, list[Chunk]], Any] = lambda d, chunks: tuple(chunks), **more: Any) -> Any:
    return lambda: Paragraphs(change, **more)


def each(**changes: Any) -> Any:
    return cut(lambda document, chunks: tuple(replace(chunk, **changes) for chunk in chunks))


def early(document: Document, chunks: list[Chunk]) -> tuple[Chunk, ...]:
    if not document.body_start:
        return tuple(chunks)
    span = Span(0, document.body_start)
    return (replace(chunks[0], text=span.cut(document.text), span=span), *chunks)


def blank(document: Document, chunks: list[Chunk]) -> tuple[Chunk, ...]:
    at = document.text.find("\n")
    return (*chunks, replace(chunks[0], text="\n", span=Span(at, at + 1))) if at >= 0 and chunks else tuple(chunks)


CHUNKER: dict[str, Any] = {
    "test_its_fingerprint_names_the_cut": [cut(fingerprint=""), lambda: Paragraphs(fingerprint=str(next(counter)))],
    "test_chunks_are_verbatim_slices": [each(text="Bees"), each(span=Span(1, 4))],
    "test_no_chunk_is_blank": cut(blank),
    "test_nothing_is_lost": cut(lambda document, chunks: tuple(chunks[1:])),
    "test_what_stands_before_the_body_is_left_out": cut(early),
    "test_chunks_stand_in_order": [
        cut(lambda document, chunks: tuple(chunks[::-1])),
        each(ordinal=7),
        cut(lambda document, chunks: tuple(chunk for one in chunks for chunk in (one, one))),
    ],
    "test_ids_are_stable_and_unique": [
        each(id="same"),
        cut(lambda d, chunks: tuple(replace(one, id=f"{next(counter)}") for one in chunks)),  # type: ignore[arg-type]
    ],
    "test_chunks_say_whose_they_are": [
        each(document_id="x"), each(collection="x"), each(path="x"), each(media_type="x"),
    ],
    "test_lines_are_those_of_the_file": [
        each(location=Location(line_start=1, line_end=1)),
        each(location=Location()),
    ],
    "test_an_empty_document_has_no_chunks": [
        cut(lambda document, chunks: list(chunks)),
        cut(lambda document, chunks: tuple(chunks) or ("something",)),
    ],
}  # fmt: skip


# --------------------------------------------------------------------------- fetchers and OCR


@dataclass
class Web:
    """Fetches nothing but what the test says."""

    page: Any = None
    error: Exception | None = None

    def fetch(self, url: str, *, timeout_s: float) -> Any:
        if self.error is not None and "example.org/page" not in url:
            raise self.error
        return self.page


def fetched(**changes: Any) -> Fetched:
    page = Fetched(url="https://example.org/page", status=200, media_type="text/html", body=b"x", headers={})
    return replace(page, **changes)


refused = InvalidArgument("inside", hint="Give another.")
FETCHER: dict[str, Any] = {
    "test_addresses_inside_are_refused": [lambda: Web(page=fetched()), lambda: Web(error=OSError("refused"))],
    "test_pages_come_with_all_that_is_known": [
        lambda: Web(page=b"x"),
        lambda: Web(page=fetched(status=0)),
        lambda: Web(page=fetched(body="x")),
        lambda: Web(page=fetched(media_type="text/html; charset=utf-8")),
        lambda: Web(page=fetched(media_type="")),
    ],
}


@dataclass
class Eyes:
    """Recognizes what the test says."""

    page: Any = OcrPage(text="bees", confidence=0.9)
    error: Exception | None = InvalidArgument("no image", hint="Give one.")
    name: Any = "eyes"

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> Any:
        if image != b"png" and self.error is not None:
            raise self.error
        return self.page


OCR: dict[str, Any] = {
    "test_it_says_what_it_is": lambda: Eyes(name=""),
    "test_it_reads_its_samples": [
        lambda: Eyes(page="bees"),
        lambda: Eyes(page=OcrPage(text=" ", confidence=1.0)),
        lambda: Eyes(page=OcrPage(text="bees", confidence=95.0)),
    ],
    "test_no_image_raises": [lambda: Eyes(error=None), lambda: Eyes(error=ValueError("no image"))],
}

SUITES: list[tuple[type, dict[str, Any], dict[str, Any], Callable[[], Any]]] = [
    (ExtractorContract, EXTRACTOR, {"sources": lambda: SAMPLES}, plain()),
    (ChunkerContract, CHUNKER, {}, cut()),
    (FetcherContract, FETCHER, {"pages": lambda: ["https://example.org/page"]}, lambda: Web(fetched(), refused)),
    (OcrContract, OCR, {"images": lambda: [b"png"]}, Eyes),
]
SAMPLES_OF = {contract: samples for contract, _, samples, _ in SUITES}


@pytest.mark.parametrize(("contract", "cases"), [suite[:2] for suite in SUITES])
def test_every_check_is_broken_once(contract: type, cases: dict[str, Any]) -> None:
    assert set(cases) == checks_of(contract)


@pytest.mark.parametrize(
    ("contract", "check", "make"), [row for contract, cases, _, _ in SUITES for row in rows(contract, cases)]
)
def test_a_broken_one_fails(contract: type, check: str, make: Callable[[], Any]) -> None:
    fails(contract, check, make, **SAMPLES_OF[contract])


@pytest.mark.parametrize(
    ("contract", "check", "make"),
    [pytest.param(contract, check, make, id=f"{contract.__name__}-{check}")
     for contract, cases, _, make in SUITES for check in sorted(cases)],
)  # fmt: skip
def test_a_good_one_passes(contract: type, check: str, make: Callable[[], Any]) -> None:
    run(contract, check, make, **SAMPLES_OF[contract])


@pytest.mark.parametrize(
    ("contract", "check", "samples"),
    [
        (ExtractorContract, "test_it_reads_its_samples", {"sources": list}),
        (OcrContract, "test_it_reads_its_samples", {"images": list}),
    ],
)
def test_samples_are_needed(contract: type, check: str, samples: dict[str, Any]) -> None:
    fails(contract, check, Eyes if contract is OcrContract else plain(), **samples)


def test_an_extractor_may_refuse_what_is_too_long() -> None:
    def refuse(document: Document) -> Document:
        raise ExtractError("too long", hint="Raise the limit.")

    run(ExtractorContract, "test_the_longest_text_is_kept", plain(refuse), sources=lambda: SAMPLES)


def test_an_extractor_may_read_without_asking() -> None:
    class Careless(Plain):
        def extract(self, source: Source, context: Any) -> Any:
            return self.read(source, context)

    run(ExtractorContract, "test_a_cancelled_read_ends", Careless, sources=lambda: SAMPLES)


def test_a_document_without_lines_may_have_more_of_them() -> None:
    make = plain(lambda one: replace(one, text="\n" * 20 + one.text, has_lines=False))
    run(ExtractorContract, "test_lines_are_those_of_the_file", make, sources=lambda: SAMPLES)
