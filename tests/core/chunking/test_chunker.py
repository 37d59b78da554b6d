"""Cutting documents: sizes, sections, definitions, places (R068-R070)."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from lilbee_core.chunking import TokenChunker
from lilbee_core.errors import InvalidArgument
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Chunk, Document, DocumentId, Heading, Segment, Span, Symbol

ID = DocumentId("d")


class WordTokens:
    kind = "words"

    def __init__(self) -> None:
        self.read = 0

    def count_tokens(self, text: str) -> int:
        return len(self.token_starts(text))

    def token_starts(self, text: str) -> Sequence[int]:
        self.read += len(text)
        return [match.start() for match in re.finditer(r"\S+", text)]


def cut(document: Document, size: int = 64, overlap: int = 0) -> tuple[Chunk, ...]:
    return TokenChunker(WordTokens(), chunk_size=size, overlap=overlap).split(document, ID)


def words(count: int, name: str = "word") -> str:
    return " ".join(f"{name}{number}" for number in range(count))


def markdown(text: str) -> Document:
    headings = tuple(
        Heading(start=match.start(), level=len(match[1]), title=match[2])
        for match in re.finditer(r"^(#+) (.*)$", text, re.MULTILINE)
    )
    return Document(path="a.md", text=text, media_type="text/markdown", headings=headings)


def python(text: str) -> Document:
    """A document whose symbols are its `def` and `class` lines with what is indented below them."""
    symbols: list[Symbol] = []
    for match in re.finditer(r"^( *)(def|class) (\w+).*\n(?:(?:\1 .*)?\n)*", text, re.MULTILINE):
        span = Span(match.start(), match.start() + len(match[0].rstrip()) + 1)
        outer = [one.name for one in symbols if one.span.start <= span.start and span.end <= one.span.end]
        symbols.append(Symbol(span=span, name=".".join([*outer[-1:], match[3]]), kind=match[2]))
    inner = [
        Symbol(span=Span(match.start(), match.end()), name=f"{one.name}.{match[1]}", kind="def")
        for one in symbols
        if one.kind == "class"
        for match in re.finditer(r"^    def (\w+).*\n(?:        .*\n)*", text, re.MULTILINE)
        if one.span.start < match.start() < one.span.end
    ]
    return Document(path="a.py", text=text, media_type="text/x-python", symbols=(*symbols, *inner))


# --------------------------------------------------------------------------- sizes


def test_a_short_document_is_one_chunk() -> None:
    (chunk,) = cut(Document(path="a.txt", text="\n\n  Bees fly.\n\n", title="Bees", language="en", date="2026-01-02"))
    assert chunk.text == "  Bees fly."
    assert chunk.span == Span(2, 13)
    assert (chunk.location.line_start, chunk.location.line_end) == (3, 3)
    assert (chunk.title, chunk.language, chunk.date) == ("Bees", "en", "2026-01-02")


@pytest.mark.parametrize("text", ["~", "---", "* * *"])
def test_a_document_of_rules_alone_is_kept(text: str) -> None:
    assert [one.text for one in cut(Document(path="a.txt", text=text))] == [text]


@pytest.mark.parametrize("text", ["", "   \n\t\n", "\u3000\u00a0"])
def test_a_document_without_signs_has_no_chunk(text: str) -> None:
    assert cut(Document(path="a.txt", text=text)) == ()


def test_the_size_leaves_room_for_context_in_what_the_embedder_reads() -> None:
    chunker = TokenChunker(WordTokens(), chunk_size=512, overlap=100, max_tokens=256)
    assert (chunker.size, chunker.overlap) == (206, 40)
    assert chunker.fingerprint == "tokens-v1:size=206:overlap=40:counter=words"
    assert TokenChunker(WordTokens(), max_tokens=8192).size == 512


@pytest.mark.parametrize(
    ("size", "overlap", "limit"), [(0, 0, None), (10, 10, None), (10, -1, None), (512, 100, 50), (512, 100, 0)]
)
def test_sizes_that_cannot_be_are_refused(size: int, overlap: int, limit: int | None) -> None:
    with pytest.raises(InvalidArgument) as caught:
        TokenChunker(WordTokens(), chunk_size=size, overlap=overlap, max_tokens=limit)
    assert caught.value.hint


def test_neighbors_share_the_overlap() -> None:
    text = words(100)
    first, second, *_ = cut(Document(path="a.txt", text=text), size=30, overlap=10)
    assert len(first.text.split()) <= 30
    assert second.text.split()[:10] == first.text.split()[-10:]


def test_what_is_left_is_shared_by_two_chunks_so_that_none_is_tiny() -> None:
    chunks = cut(Document(path="a.txt", text=words(66)), size=64, overlap=8)
    assert [len(one.text.split()) >= 30 for one in chunks] == [True, True]


def test_the_text_is_tokenized_once() -> None:
    counter = WordTokens()
    text = "\n\n".join(words(50, f"w{number}_") for number in range(2000))
    TokenChunker(counter, chunk_size=64, overlap=12).split(Document(path="a.txt", text=text), ID)
    assert counter.read <= 1.1 * len(text)


# --------------------------------------------------------------------------- where cuts fall


def test_paragraphs_come_before_sentences() -> None:
    text = f"{words(28)}.\n\n{words(10)}. {words(40)}."
    assert cut(Document(path="a.txt", text=text), size=40)[0].text == f"{words(28)}."


def test_sentences_come_before_lines_in_prose_and_after_them_in_tables() -> None:
    text = f"{words(30)}. {words(6)}\n{words(60)}"
    assert cut(Document(path="a.txt", text=text), size=40)[0].text == f"{words(30)}."
    assert cut(Document(path="a.csv", text=text, media_type="text/csv"), size=40)[0].text.endswith("word5")


def test_a_sentence_that_ends_its_line_is_preferred() -> None:
    text = f"{words(30)}.\n{words(6)}. {words(60)}"
    assert cut(Document(path="a.txt", text=text), size=40)[0].text == f"{words(30)}."


def test_code_keeps_the_indentation_of_its_first_line() -> None:
    text = "".join(f"    call({number}, {number})\n" for number in range(60))
    chunks = cut(Document(path="a.py", text=text, media_type="text/x-python"), size=30)
    assert all(re.fullmatch(r"(    call\(\d+, \d+\)\n?)+", one.text) for one in chunks)


def test_a_line_without_blanks_is_cut_at_characters() -> None:
    text = "x" * 20_000
    chunks = cut(Document(path="a.txt", text=text), size=64, overlap=8)
    assert max(len(one.text) for one in chunks) <= 64 * 12
    assert chunks[-1].span.end == len(text)


def test_a_letter_keeps_its_marks() -> None:
    text = "e\u0301" * 500
    chunks = TokenChunker(EstimatedTokens(), chunk_size=15, overlap=3).split(Document(path="a.txt", text=text), ID)
    assert all(one.text.startswith("e") and one.text.endswith("\u0301") for one in chunks)


def test_chinese_is_cut_at_its_sentences() -> None:
    sentence = "蜜蜂在春天采集花蜜并把它带回蜂巢。"
    document = Document(path="a.txt", text=sentence * 20)
    chunks = TokenChunker(EstimatedTokens(), chunk_size=60, overlap=0).split(document, ID)
    assert all(one.text.endswith("。") and len(one.text) <= 60 for one in chunks)


def test_front_matter_is_left_out_and_lines_are_the_files() -> None:
    text = "---\ntitle: T\n---\nBody text.\n"
    (chunk,) = cut(Document(path="a.md", text=text, body_start=17))
    assert (chunk.text, chunk.location.line_start) == ("Body text.", 4)


def test_a_line_map_gives_the_lines_of_the_file() -> None:
    document = Document(path="a.ipynb", text="one\ntwo\nthree\n", line_map=(5, 9, 12, 13))
    (chunk,) = cut(document)
    assert (chunk.location.line_start, chunk.location.line_end) == (5, 12)


# --------------------------------------------------------------------------- headings


def test_every_chunk_has_the_headings_of_its_own_section() -> None:
    text = "".join(
        f"# Section {one}\n\n"
        + "".join(f"## Topic {one}.{two}\n\nBody {one}.{two}. {words(20)}\n\n" for two in range(3))
        for one in range(3)
    )
    chunks = cut(markdown(text), size=200)
    assert len(chunks) == 9
    for chunk in chunks:
        number = re.search(r"Body (\d)\.(\d)", chunk.text)
        assert number is not None
        assert chunk.headings == (f"Section {number[1]}", f"Topic {number[1]}.{number[2]}")


def test_a_long_section_keeps_its_headings_in_every_chunk() -> None:
    chunks = cut(markdown(f"# A\n\n{words(30)}\n\n## B\n\n{words(300)}\n"), size=64, overlap=10)
    assert [one.headings for one in chunks] == [("A",)] + [("A", "B")] * (len(chunks) - 1)
    assert len(chunks) > 4


def test_a_heading_without_text_goes_with_what_follows() -> None:
    first, second = cut(markdown(f"# Guide\n\n## Setup\n\n### Linux\n\n{words(30)}\n\n### Mac\n\n{words(30)}\n"))
    assert first.text.startswith("# Guide")
    assert first.headings == ("Guide", "Setup", "Linux")
    assert second.headings == ("Guide", "Setup", "Mac")


def test_a_heading_with_nothing_behind_it_ends_the_chunk_before() -> None:
    (chunk,) = cut(markdown(f"# Guide\n\n## Setup\n\n{words(30)}\n\n# See also\n"))
    assert chunk.text.endswith("# See also")
    assert chunk.headings == ("Guide", "Setup")


def test_tiny_neighbors_of_one_parent_share_a_chunk_under_the_parent() -> None:
    text = f"# Log\n\n{words(30)}\n\n## May\n\nSwarmed.\n\n## June\n\nRequeened.\n\n# Other\n\n{words(30)}\n"
    chunks = cut(markdown(text), size=128)
    assert [one.headings for one in chunks] == [("Log",), ("Log",), ("Other",)]
    assert "Swarmed" in chunks[1].text
    assert "Requeened" in chunks[1].text


def test_underlined_headings_are_part_of_their_section() -> None:
    text = f"Title\n=====\n\nSub\n---\n\n{words(30)}\n"
    headings = (Heading(start=0, level=1, title="Title"), Heading(start=13, level=2, title="Sub"))
    (chunk,) = cut(Document(path="a.md", text=text, headings=headings))
    assert chunk.headings == ("Title", "Sub")


def test_headings_of_one_member_do_not_reach_into_the_next() -> None:
    one, two = f"# A\n\n{words(30)}\n", f"{words(30)}\n"
    document = Document(
        path="a.zip",
        text=one + two,
        headings=(Heading(start=0, level=1, title="A"),),
        segments=(
            Segment(span=Span(0, len(one)), member="one.md"),
            Segment(span=Span(len(one), len(one + two)), member="two.md"),
        ),
    )
    chunks = cut(document)
    assert [(one.location.member, one.headings) for one in chunks] == [("one.md", ("A",)), ("two.md", ())]


# --------------------------------------------------------------------------- pages, sheets


def paged(*pages: str) -> Document:
    text, segments = "", []
    for number, page in enumerate(pages, start=1):
        segments.append(Segment(span=Span(len(text), len(text + page)), page=number))
        text += page + "\n\n"
    return Document(path="a.pdf", text=text, segments=tuple(segments), has_lines=False)


def test_full_pages_are_not_mixed() -> None:
    chunks = cut(paged(words(40), words(40), words(40)), size=128)
    assert [(one.location.page_start, one.location.page_end) for one in chunks] == [(1, 1), (2, 2), (3, 3)]
    assert chunks[0].location.line_start is None


def test_pages_with_little_text_share_a_chunk() -> None:
    chunks = cut(paged("Title", "Contents", words(60), words(60)), size=128)
    assert [(one.location.page_start, one.location.page_end) for one in chunks] == [(1, 3), (4, 4)]


def test_cells_are_never_mixed() -> None:
    document = Document(
        path="a.ipynb",
        text="x = 1\n\ny = 2\n",
        segments=(Segment(span=Span(0, 5), label="cell 1"), Segment(span=Span(7, 12), label="cell 2")),
    )
    assert [(one.text, one.location.label) for one in cut(document)] == [("x = 1", "cell 1"), ("y = 2", "cell 2")]


# --------------------------------------------------------------------------- code


def test_functions_are_chunks_with_their_symbol() -> None:
    body = "".join(f"    step({number}, {number})\n" for number in range(10))
    chunks = cut(python(f"import os\nimport sys\n\nLIMIT = 5\n\n\ndef one():\n{body}\n\ndef two():\n{body}"), size=64)
    assert [(one.symbol, one.symbol_kind) for one in chunks] == [("one", "def"), ("two", "def")]
    assert chunks[0].text.startswith("import os")
    assert chunks[1].location.line_start == 20


def test_imports_stand_together() -> None:
    imports = "".join(f"import module_{number}\n" for number in range(20))
    body = "".join(f"    step({number}, {number})\n" for number in range(10))
    chunks = cut(python(f"{imports}\n\ndef one():\n{body}"), size=64)
    assert [one.symbol for one in chunks] == [None, "one"]
    assert chunks[0].text == imports.strip()


def test_a_class_that_fits_is_one_chunk_and_a_large_one_is_cut_at_its_methods() -> None:
    body = "".join(f"        step({number}, {number})\n" for number in range(12))
    methods = f"    def one(self):\n{body}\n    def two(self):\n{body}"
    document = python(f"class Hive:\n{methods}")
    (whole,) = cut(document, size=200)
    assert (whole.symbol, whole.symbol_kind) == ("Hive", "class")
    parts = cut(document, size=40)
    assert [one.symbol for one in parts] == ["Hive.one", "Hive.two"]
    assert parts[0].text.startswith("class Hive:")
    assert parts[1].text.startswith("    def two")


def test_a_method_keeps_its_indentation_when_its_symbol_starts_behind_it() -> None:
    body = "".join(f"        step({number}, {number})\n" for number in range(12))
    text = f"class Hive:\n    def one(self):\n{body}\n    def two(self):\n{body}"
    symbols = (
        Symbol(span=Span(0, len(text)), name="Hive", kind="class"),
        Symbol(span=Span(text.index("def one"), text.index("\n\n")), name="Hive.one", kind="method"),
        Symbol(span=Span(text.index("def two"), len(text)), name="Hive.two", kind="method"),
    )
    chunks = cut(Document(path="a.py", text=text, media_type="text/x-python", symbols=symbols), size=40)
    assert [one.symbol for one in chunks] == ["Hive.one", "Hive.two"]
    assert chunks[1].text.startswith("    def two")


def test_what_follows_a_large_definition_goes_with_its_last_piece() -> None:
    body = "".join(f"    step({number}, {number})\n" for number in range(200))
    *_, last = cut(python(f"def big():\n{body}\n\ndel types\n"), size=64, overlap=8)
    assert last.symbol == "big"
    assert last.text.endswith("del types")


def test_a_large_function_is_cut_inside_and_keeps_its_symbol() -> None:
    body = "".join(f"    step({number}, {number})\n" for number in range(200))
    chunks = cut(python(f"def big():\n{body}"), size=64, overlap=8)
    assert len(chunks) > 4
    assert {one.symbol for one in chunks} == {"big"}


def test_tiny_definitions_share_a_chunk_under_what_encloses_them() -> None:
    getters = "".join(f"    def get_{number}(self):\n        return {number}\n\n" for number in range(60))
    chunks = cut(python(f"class Table:\n{getters}"), size=128)
    assert {one.symbol for one in chunks} == {"Table"}
    assert all(len(one.text.split()) > 8 for one in chunks)


def test_what_follows_the_last_definition_goes_with_it() -> None:
    body = "".join(f"    step({number}, {number})\n" for number in range(20))
    (chunk,) = cut(python(f"def one():\n{body}\n\ndel types\n"), size=64)
    assert chunk.symbol == "one"
    assert chunk.text.endswith("del types")
