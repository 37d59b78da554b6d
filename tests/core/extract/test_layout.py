"""Pages of PDFs: columns one after the other, a box for every piece, pages that are pictures."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lilbee_core.chunking import TokenChunker
from lilbee_core.errors import NoText
from lilbee_core.extract._boxes import box_segments
from lilbee_core.extract._columns import bands, lines_by_column, lines_text, reads_across, rows_of
from lilbee_core.extract._gutters import gutters, taken_apart
from lilbee_core.extract._layout import Run, opened, page_runs
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Box, Document, DocumentId
from tests.core.extract._files import pdf, placed_pdf
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]
LEFT = ("The committee met on the barge and", "agreed that the towpath should be", "closed for the whole of April so")
RIGHT = (
    "that the Pellworth bank can be rebuilt",
    "with oak piles. Visitors are asked to",
    "use the bridge at Sallow Ford, please.",
)
THIRD = (
    "and to keep their dogs on the lead un-",
    "til the geese are gone, which happens",
    "in the first week of May as a rule, if",
)
NOTE = "The clerk of the barge wrote this for all who walk along the water, in the month of March."


def across(*columns: tuple[str, ...], gap: int = 260, size: int = 11) -> list[tuple[float, float, int, str]]:
    """Draw columns row by row."""
    return [
        (40 + gap * at, 700 - 15 * row, size, column[row])
        for row in range(len(columns[0]))
        for at, column in enumerate(columns)
    ]


def test_columns_drawn_row_by_row_are_read_one_after_the_other(document: ReadDocument) -> None:
    page = [(40, 760, 14, "Towpath notice"), *across(LEFT, RIGHT), (40, 640, 11, NOTE)]
    text = document("a.pdf", placed_pdf(page)).text
    assert text == "\n".join(["Towpath notice", *LEFT, *RIGHT, NOTE])


def test_three_columns_and_a_hyphen(document: ReadDocument) -> None:
    text = document("a.pdf", placed_pdf(across(LEFT, RIGHT, THIRD, gap=185, size=9))).text
    joined = THIRD[0].removesuffix("-") + THIRD[1]
    assert text == "\n".join([*LEFT, *RIGHT, joined, THIRD[2]])


PADDED = [f"{left.ljust(56)}{right}" for left, right in zip(LEFT, RIGHT, strict=True)]


@pytest.mark.parametrize("kerned", [False, True], ids=["spaces", "kerning"])
def test_columns_drawn_in_one_piece_are_taken_apart(kerned: bool, document: ReadDocument) -> None:
    """A line of both columns is one object: with spaces in between, or with a big step from one to the other."""
    data = placed_pdf([(40, 700 - 15 * row, 11, line) for row, line in enumerate(PADDED)] + [(40, 640, 11, NOTE)])
    if kerned:
        data = re.sub(rb"\(([^()]+?) {2,}([^()]+)\) Tj", rb"[(\1) -6000 (\2)] TJ", data)
    assert document("a.pdf", data).text == "\n".join([*LEFT, *RIGHT, NOTE])


def test_wide_spaces_of_lines_set_to_one_width_stay(document: ReadDocument) -> None:
    lines = [
        "The committee   met on the barge",
        "and agreed that the    towpath should",
        "be closed    for the whole of April",
    ]
    with opened(placed_pdf([(40, 700 - 15 * row, 11, line) for row, line in enumerate(lines)]), None) as file:
        assert len(page_runs(file, 1)) == 3


sides = st.tuples(st.floats(0, 100), st.floats(0, 100), st.floats(0, 100), st.floats(0, 100))


@given(sides, st.lists(sides, max_size=5))
def test_lines_that_are_taken_apart_lose_nothing_but_gaps(
    line: tuple[float, float, float, float], gaps: list[tuple[float, float, float, float]]
) -> None:
    parts = list(taken_apart(line, gaps))
    assert (parts[0][0], parts[-1][2]) == (line[0], line[2])
    assert all(one[2] < two[0] or any(gap[2] <= one[2] for gap in gaps) for one, two in pairwise(parts))
    assert all(gutters([gap]) == [] for gap in gaps)


def test_columns_drawn_one_after_the_other_stay_as_they_are(document: ReadDocument) -> None:
    page = [(40.0, 700.0 - 15 * row, 11, line) for row, line in enumerate(LEFT)]
    page += [(300.0, 700.0 - 15 * row, 11, line) for row, line in enumerate(RIGHT)]
    assert document("a.pdf", placed_pdf(page)).text.split("\n") == [*LEFT, *RIGHT]


def test_rows_of_a_table_stay_together(document: ReadDocument) -> None:
    names = ("Oak", "Sycamore maple", "Ash", "Hornbeam and hazel")
    costs = ("12.40 per pile, delivered", "9.10", "11.00 without the bark", "7")
    text = document("a.pdf", placed_pdf(across(names, costs))).text
    assert [line for line in text.split("\n") if line.startswith("Oak")] == ["Oak 12.40 per pile, delivered"]


def test_every_chunk_of_a_pdf_has_a_page_and_boxes(document: ReadDocument) -> None:
    pages = [[(11, f"Line {n} of page {page} tells of otters and of the weir.") for n in range(40)] for page in (1, 2)]
    read_document = document("a.pdf", pdf(*pages))
    chunks = TokenChunker(EstimatedTokens(), chunk_size=100, overlap=20).split(read_document, DocumentId("d"))
    assert len(chunks) > 8
    for chunk in chunks:
        place = chunk.location
        assert place.page_start == place.page_end
        assert place.page_start is not None
        assert place.boxes
        for box in place.boxes:
            assert box.page == place.page_start
            assert 0 <= box.left < box.right <= 595
            assert 0 <= box.bottom < box.top <= 842
    first, last = chunks[0].location.boxes[0], chunks[len(chunks) // 2 - 1].location.boxes[-1]
    assert first.top > 780
    assert first.bottom > last.bottom


@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_boxes_lie_on_the_page_as_it_is_shown(document: ReadDocument, rotate: int) -> None:
    found = document("a.pdf", placed_pdf([(60, 780, 12, "A single line near the top")], rotate=rotate))
    (box,) = [box for one in found.segments for box in one.boxes]
    width, height = (595, 842) if rotate in (0, 180) else (842, 595)
    assert 0 <= box.left < box.right <= width
    assert 0 <= box.bottom < box.top <= height
    near_top = {0: box.top > 780, 90: box.right > 780, 180: box.bottom < 62, 270: box.left < 62}
    assert near_top[rotate]


def test_a_page_that_is_a_picture_is_named(document: ReadDocument, read: Read) -> None:
    gray = (10, 10, bytes(100))
    text = (60.0, 700.0, 2, "A line with more than enough letters to be the text of a page of its own, no stamp. " * 5)
    both = document("a.pdf", placed_pdf([text], [(280.0, 20.0, 9, "7")], picture=gray))
    assert both.pages_without_text == (2,)
    assert document("a.pdf", placed_pdf([text], [(280.0, 20.0, 9, "7")])).pages_without_text == ()
    assert isinstance(read("a.pdf", placed_pdf([], picture=gray)), NoText)


STAMP = (
    40.0,
    815.0,
    8,
    "Received on 12 March 2020 by the archive of the harbor office of Sallow Ford, file 4711, page 3",
)


def test_a_line_over_a_picture_is_not_the_text_of_its_page(document: ReadDocument) -> None:
    """Scanners and archives put such lines on pages that are pictures."""
    gray = (10, 10, bytes(100))
    scan = placed_pdf([STAMP], picture=gray)
    assert document("a.pdf", scan).pages_without_text == (1,)
    small = scan.replace(b"q 595 0 0 842 0 0 cm", b"q 300 0 0 400 0 0 cm")
    assert document("a.pdf", small).pages_without_text == ()
    recognized = scan.replace(b"BT /F1 8 Tf", b"BT 3 Tr/F1 8 Tf")
    assert document("a.pdf", recognized).pages_without_text == (), "a layer of recognized text is the page's text"


def runs_of(lines: list[str], left: float, top: float) -> list[Run]:
    return [Run(line, left, top - 15 * at, left + 5 * len(line), top - 15 * at + 10) for at, line in enumerate(lines)]


words = st.text(st.characters(categories=["Ll", "Nd"], max_codepoint=0x17F), min_size=1, max_size=8)
lines = st.lists(words, min_size=4, max_size=7).map(" ".join)


@given(st.lists(st.tuples(lines, lines), min_size=3, max_size=12))
def test_reading_order_keeps_every_run(columns: list[tuple[str, str]]) -> None:
    # Where two lines read the same, the text alone does not tell which one stands where.
    assume(len({one for pair in columns for one in pair}) == 2 * len(columns))
    left, right = runs_of([one for one, _ in columns], 40, 700), runs_of([two for _, two in columns], 400, 700)
    runs = [run for pair in zip(left, right, strict=True) for run in pair]
    rows = rows_of(runs)
    found = bands(rows)
    ordered = [run for line in lines_by_column(rows, found) for run in line]
    assert sorted(map(id, ordered)) == sorted(map(id, runs))
    read_across = lines_text([row.runs for row in rows])
    if found:
        assert not reads_across(lines_text(lines_by_column(rows, found)), rows, found) or reads_across(
            read_across, rows, found
        )


@given(st.lists(lines, max_size=20), st.randoms(use_true_random=False))
def test_boxes_cover_the_text_of_a_page_without_a_gap(written: list[str], random: Random) -> None:
    text = "\n".join(written)
    runs = runs_of(written, 40, 700)
    random.shuffle(runs)
    whole = Box(page=3, left=0, bottom=0, right=1, top=1)
    found = list(box_segments(text, runs, 3, offset=10, whole=whole))
    if not text.strip():
        assert found == []
        return
    assert found[0].span.start == 10
    assert found[-1].span.end == 10 + len(text)
    for one, following in pairwise(found):
        assert one.span.end == following.span.start
    assert all(one.fine and one.page is None and len(one.boxes) == 1 for one in found)
