"""What holds for every document: nothing is lost or changed, sizes and places are right (R068, R311)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from lilbee_core.chunking import TokenChunker
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Chunk, Document, DocumentId, Heading, Segment, Span, Symbol

ID = DocumentId("d")
WORDS = st.sampled_from(
    [
        "bee",
        "hive",
        "honey.",
        "Wax!",
        "queen,",
        "x" * 40,
        "ä",
        "蜂蜜。",
        "蜜蜂",
        "e\u0301",
        "👩\u200d🚀",
        "a.b_c",
        "1.5",
    ]
)
GAPS = st.sampled_from([" ", " ", "  ", "\n", "\n\n", "\n \n", "\t", "\u3000", ""])
PROSE = st.lists(st.tuples(WORDS, GAPS), max_size=120).map(lambda pairs: "".join(word + gap for word, gap in pairs))
TEXT = st.one_of(PROSE, st.text(max_size=300))


class WordTokens:
    """A token for every word, so that sizes can be checked exactly."""

    kind = "words"

    def count_tokens(self, text: str) -> int:
        return len(self.token_starts(text))

    def token_starts(self, text: str) -> Sequence[int]:
        return [match.start() for match in re.finditer(r"\S+", text)]


@st.composite
def sizes(draw: st.DrawFn) -> tuple[int, int]:
    size = draw(st.integers(1, 60))
    return size, draw(st.integers(0, size - 1))


def assert_whole(document: Document, chunks: Sequence[Chunk]) -> None:
    """Every chunk is a verbatim slice, and no sign of the body is left out."""
    covered = bytearray(len(document.text))
    for number, chunk in enumerate(chunks):
        start, end = chunk.span.start, chunk.span.end
        assert chunk.text == document.text[start:end]
        assert chunk.text.strip()
        assert start >= document.body_start
        assert chunk.ordinal == number
        covered[start:end] = b"\x01" * (end - start)
    lost = [
        at
        for at, sign in enumerate(document.text)
        if at >= document.body_start and not sign.isspace() and not covered[at]
    ]
    assert lost == []
    assert [one.span.start for one in chunks] == sorted({one.span.start for one in chunks})
    assert len({one.id for one in chunks}) == len(chunks)


@given(text=TEXT, size=sizes(), body=st.integers(0, 20))
def test_nothing_is_lost_and_lines_are_right(text: str, size: tuple[int, int], body: int) -> None:
    document = Document(path="a.txt", text=text, body_start=min(body, len(text)))
    chunks = TokenChunker(EstimatedTokens(), chunk_size=size[0], overlap=size[1]).split(document, ID)
    assert_whole(document, chunks)
    for chunk in chunks:
        assert chunk.location.line_start == text.count("\n", 0, chunk.span.start) + 1
        assert chunk.location.line_end == text.count("\n", 0, chunk.span.end - 1) + 1


@given(text=PROSE, size=sizes())
def test_sizes_and_overlaps_hold(text: str, size: tuple[int, int]) -> None:
    tokens, overlap = size
    document = Document(path="a.txt", text=text)
    counter = WordTokens()
    chunks = TokenChunker(counter, chunk_size=tokens, overlap=overlap).split(document, ID)
    for chunk in chunks:
        assert counter.count_tokens(chunk.text) <= tokens
    for before, after in pairwise(chunks):
        assert after.span.end > before.span.end
        shared = max(0, before.span.end - after.span.start)
        assert counter.count_tokens(text[after.span.start : after.span.start + shared]) <= overlap + 1


@given(text=PROSE, cuts=st.lists(st.integers(0, 400), max_size=8), size=sizes())
def test_no_chunk_crosses_a_sheet_or_a_member(text: str, cuts: list[int], size: tuple[int, int]) -> None:
    edges = sorted({0, len(text), *(min(cut, len(text)) for cut in cuts)})
    segments = tuple(
        Segment(span=Span(first, last), label=f"Sheet{number}") for number, (first, last) in enumerate(pairwise(edges))
    )
    document = Document(path="a.xlsx", text=text, segments=segments, has_lines=False)
    chunks = TokenChunker(EstimatedTokens(), chunk_size=size[0], overlap=size[1]).split(document, ID)
    assert_whole(document, chunks)
    for chunk in chunks:
        home = [one for one in segments if one.span.start <= chunk.span.start and chunk.span.end <= one.span.end]
        assert [one.label for one in home] == [chunk.location.label]
        assert chunk.location.line_start is None


@given(pages=st.lists(PROSE, min_size=1, max_size=8), size=sizes())
def test_pages_are_those_that_the_text_stands_on(pages: list[str], size: tuple[int, int]) -> None:
    text, segments = "", []
    for number, page in enumerate(pages, start=1):
        segments.append(Segment(span=Span(len(text), len(text) + len(page)), page=number))
        text += page + "\n\n"
    document = Document(path="a.pdf", text=text, segments=tuple(segments), has_lines=False)
    chunks = TokenChunker(EstimatedTokens(), chunk_size=size[0], overlap=size[1]).split(document, ID)
    assert_whole(document, chunks)
    for chunk in chunks:
        touched = [one.page for one in segments if one.span.overlaps(chunk.span)]
        assert (chunk.location.page_start, chunk.location.page_end) == (touched[0], touched[-1])


@st.composite
def markdown(draw: st.DrawFn) -> Document:
    text = draw(PROSE) + "\n"
    headings = []
    for number in range(draw(st.integers(0, 8))):
        level = draw(st.integers(1, 4))
        headings.append(Heading(start=len(text), level=level, title=f"T{number}"))
        text += f"{'#' * level} T{number}\n\n{draw(PROSE)}\n"
    return Document(path="a.md", text=text, media_type="text/markdown", headings=tuple(headings))


def naive_paths(document: Document, span: Span) -> list[tuple[str, ...]]:
    """The heading path of every sign in the span that is not part of a heading itself."""
    paths: list[tuple[str, ...]] = []
    for at in range(span.start, span.end):
        line_start = document.text.rfind("\n", 0, at) + 1
        if document.text[at].isspace() or any(one.start == line_start for one in document.headings):
            continue
        stack: list[Heading] = []
        for heading in document.headings:
            if heading.start <= at:
                stack = [one for one in stack if one.level < heading.level]
                stack.append(heading)
        paths.append(tuple(one.title for one in stack))
    return list(dict.fromkeys(paths))


@given(document=markdown(), size=st.integers(4, 60))
def test_headings_are_those_of_the_section(document: Document, size: int) -> None:
    chunks = TokenChunker(EstimatedTokens(), chunk_size=size, overlap=size // 5).split(document, ID)
    assert_whole(document, chunks)
    for chunk in chunks:
        paths = naive_paths(document, chunk.span)
        if len(paths) == 1:
            assert chunk.headings == paths[0]
        for path in paths:
            assert path[: len(chunk.headings)] == chunk.headings


@st.composite
def code(draw: st.DrawFn) -> Document:
    lines, symbols = ["import this\n"], []

    def add(depth: int, prefix: str) -> None:
        start, name = sum(map(len, lines)), f"{prefix}f{len(lines)}"
        lines.append("    " * depth + f"def {name}():\n")
        for _ in range(draw(st.integers(0, 8))):
            if depth < 3 and draw(st.booleans()):
                add(depth + 1, name + ".")
            else:
                lines.append(
                    "    " * (depth + 1) + draw(st.sampled_from(["pass\n", "call(1, 2)\n", "\n", "x = [3]\n"]))
                )
        end = len("".join(lines).rstrip())
        symbols.append(Symbol(span=Span(start, end), name=name, kind="function"))

    for _ in range(draw(st.integers(0, 4))):
        add(0, "")
        lines.append(draw(st.sampled_from(["", "\n", "X = 1\n", "if __name__: main()\n"])))
    return Document(path="a.py", text="".join(lines), media_type="text/x-python", symbols=tuple(symbols))


@settings(max_examples=60)
@given(document=code(), size=st.integers(8, 80))
def test_a_symbol_holds_or_fills_its_chunk(document: Document, size: int) -> None:
    chunks = TokenChunker(EstimatedTokens(), chunk_size=size, overlap=size // 5).split(document, ID)
    assert_whole(document, chunks)
    spans = {one.name: one.span for one in document.symbols}
    for chunk in chunks:
        if chunk.symbol is not None:
            assert spans[chunk.symbol].overlaps(chunk.span)
            assert chunk.symbol_kind == "function"
        whole = [one for one in document.symbols if holds(chunk.span, one.span)]
        outermost = [one for one in whole if not any(other != one and holds(other.span, one.span) for other in whole)]
        if len(outermost) == 1:
            assert chunk.symbol is not None


def holds(outer: Span, inner: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end
