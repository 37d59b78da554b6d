"""Hyphens at the ends of lines: what belongs to a word stays, what divides it goes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lilbee_core.extract._columns import join_lines
from lilbee_core.extract._hyphens import Hyphens
from lilbee_core.extract._tesseract import read_table
from lilbee_core.types import Document
from tests.core.extract._files import pdf, placed_pdf

ReadDocument = Callable[..., Document]
KEPT = (
    "COVID-|19", "Jean-|Paul", "DNA-|binding", "e-|mail", "self-|employed", "well-|known", "non-|profit", "twenty-|one",
    "state-of-|the-art", "half-|hearted",
)  # fmt: skip
GONE = (
    "infor-|mation", "inter-|national", "self-|ish", "Wel-|lington", "well-|ness", "non-|sense", "INFOR-|MATION",
    "ex-|ample", "all-|owed", "cross-|ing", "under-|stand", "self-employ-|ment",
)  # fmt: skip


@pytest.mark.parametrize("word", KEPT)
def test_a_hyphen_of_the_word_stays(word: str) -> None:
    first, second = word.split("|")
    assert Hyphens().keeps(f"the {first[:-1]}", f"{second} here")


@pytest.mark.parametrize("word", GONE)
def test_a_hyphen_that_divides_a_word_goes(word: str) -> None:
    first, second = word.split("|")
    assert not Hyphens(["The employment of one."]).keeps(f"the {first[:-1]}", f"{second} here")


@pytest.mark.parametrize(
    ("elsewhere", "kept"),
    [
        ("We re-elect nobody.", True),
        ("We reelect nobody.", False),
        ("Both: re-elect, re-elect and reelect.", True),
        ("Re elect.", False),
        ("A re-\nelect at the end of a line, and re\x02elect, prove nothing.", False),
    ],
)
def test_the_document_itself_tells(elsewhere: str, kept: bool) -> None:
    assert Hyphens([elsewhere]).keeps("to re", "elect her") is kept


def test_two_words_of_the_document_keep_the_hyphen_between_them() -> None:
    """A word with a hyphen is found by its joined form as well; its parts are not found in a joined one."""
    known = Hyphens(["A decision is in the making; the evidence is thin."])
    assert known.keeps("slow decision", "making. Then")
    assert known.keeps("an evidence", "based view")
    assert not known.keeps("slow deci", "sion making")


LINES = (
    "The infor-", "mation on self-", "employed beekeepers is a well-", "known problem of the long-", "term kind, says",
    "the Long-term Office. A gov-", "ernment would know.",
)  # fmt: skip
READ = (
    "The information on self-employed beekeepers is a well-known problem of the long-term kind, says\n"
    "the Long-term Office. A government would know."
)


def test_lines_of_a_pdf_of_columns_and_of_a_picture_are_joined_alike(document: ReadDocument) -> None:
    assert document("a.pdf", pdf([(11, line) for line in LINES])).text == READ
    assert join_lines(LINES) == READ
    head = "level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext"
    rows = [
        f"5\t1\t1\t1\t{number}\t{at}\t0\t0\t9\t9\t96\t{word}"
        for number, line in enumerate(LINES)
        for at, word in enumerate(line.split())
    ]
    assert read_table("\n".join([head, *rows])).text == READ


def test_a_word_on_another_page_tells_of_columns(document: ReadDocument) -> None:
    left = ("The committee met on the barge for a re-", "elect of its chair and agreed that the", "towpath is closed")
    right = (
        "that the Pellworth bank can be rebuilt",
        "with oak piles. Visitors are asked to",
        "use the bridge at Sallow",
    )
    page = [(40 + 260 * at, 700 - 15 * row, 10, side[row]) for row in range(3) for at, side in enumerate((left, right))]
    found = document("a.pdf", placed_pdf(page, [(40, 700, 11, "Members may re-elect their chair once.")])).text
    assert "for a re-elect of its chair" in found
