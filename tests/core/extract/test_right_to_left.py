"""Hebrew and Arabic in PDFs come out in reading order, whichever way the file holds them."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from lilbee_core.extract._bidi import Seen, in_reading_order
from lilbee_core.extract._columns import bands, in_mirror, lines_by_column, lines_text, reads_across, rows_of
from lilbee_core.extract._layout import Run
from lilbee_core.types import Document
from tests.core.extract._pdf_files import mapped_pdf

ReadDocument = Callable[..., Document]
WIDTH, RIGHT = 7.2, 560.0
HEBREW = (
    "שלום לכולם אנחנו כאן היום",
    "הפגישה ב-15 במאי 2024 עם Google Maps בתל אביב",
    "נא להביא 3 עותקים (חתומים) לפגישה.",
    "הטלפון 03-1234567, המחיר 50% מחר",
    "כותרת קצרה",
)
ARABIC = (
    "مرحبا بكم في مدينة القاهرة اليوم",
    "الاجتماع في 15 مايو 2024 مع Google Maps هنا",
    "المادة [12] من القانون (الجديد)، يوم 15/05/2024",
    "كلمة أخيرة",
)
MIXED = ("The word שלום עולם is a greeting", "and השלום 24 שבועות lasted long")
SHAPES = str.maketrans("()[]", ")(][")


def drawn(line: str) -> str:
    """Return a line as it stands on paper, from left to right; it is read from the right."""
    runs = re.findall(r"[A-Za-z0-9]+(?:[ .,:/-]+[A-Za-z0-9]+)*%?|.", line)
    return "".join(run if len(run) > 1 else run.translate(SHAPES) for run in reversed(runs))


def drawn_within(line: str) -> str:
    """The same for a line that is read from the left."""
    return re.sub("[א-ת][א-ת0-9 ]*[א-ת]", lambda found: drawn(found[0]), line)


def page(lines: tuple[str, ...], how: str) -> bytes:
    """Return a page of lines that end at its right edge."""
    texts: list[tuple[float, float, str]] = []
    for number, line in enumerate(lines):
        shown, baseline = drawn(line), 780 - 20 * number
        left = RIGHT - WIDTH * len(shown)
        words = [(left + WIDTH * found.start(), baseline, found[0]) for found in re.finditer(r"\S+", shown)]
        match how:
            case "whole":
                texts.append((left, baseline, shown))
            case "words":
                texts += words
            case "words from the right":
                texts += reversed(words)
            case "from the left":
                texts.append((40, baseline, line))
            case _:
                texts.append((RIGHT, baseline, line))
    return mapped_pdf(texts, mirrored=how == "mirrored")


@pytest.mark.parametrize("lines", [HEBREW, ARABIC], ids=["hebrew", "arabic"])
@pytest.mark.parametrize("how", ["whole", "words", "words from the right", "from the left", "mirrored"])
def test_a_page_comes_out_in_reading_order(lines: tuple[str, ...], how: str, document: ReadDocument) -> None:
    found = document("a.pdf", page(lines, how)).text
    # The engine drops the space beside a number in some of them.
    assert re.sub(r"\s", "", found) == re.sub(r"\s", "", "".join(lines))
    if how == "whole":
        assert found == "\n".join(lines)


def test_a_short_line_alone_needs_no_marks(document: ReadDocument) -> None:
    assert document("a.pdf", page(("דוח שנתי 2024",), "whole")).text == "דוח שנתי 2024"


def test_phrases_within_lines_of_latin_letters(document: ReadDocument) -> None:
    texts = [(40.0, 780.0 - 20 * number, drawn_within(line)) for number, line in enumerate(MIXED)]
    assert document("a.pdf", mapped_pdf(texts)).text == "\n".join(MIXED)


def test_columns_are_read_from_the_right() -> None:
    right = ("הוועדה התכנסה על הדוברה כי", "השביל יהיה סגור במשך חודש", "שאפשר יהיה לבנות את הגדה")
    left = ("המבקרים מתבקשים להשתמש בה", "המעבר ולהחזיק את הכלבים אט", "האווזים יעזבו בשבוע הראשון")
    runs = [
        Run(line, edge - WIDTH * len(line), 700.0 - 15 * row, edge, 709.0 - 15 * row)
        for row in range(3)
        for edge, line in ((RIGHT, right[row]), (270.0, left[row]))
    ]
    rows = rows_of(map(in_mirror, runs))
    found = bands(rows)
    across = "\n".join(f"{one} {other}" for one, other in zip(right, left, strict=True))
    assert reads_across(across, rows, found)
    assert lines_text(lines_by_column(rows, found)) == "\n".join([*right, *left])


def test_lines_that_are_in_reading_order_stay() -> None:
    """Where the letters stand decides, not how the line looks."""
    for line in (*HEBREW, *ARABIC, *MIXED):
        letters = "".join(char for char in line if char.isalnum() or char == " ")
        row = (drawn_within(letters) if line in MIXED else drawn(letters)).replace(" ", "").casefold()
        assert in_reading_order(line, Seen((row,))) == line


def test_a_sentence_of_another_language_on_such_a_page() -> None:
    english = "The committee met on the barge."
    assert in_reading_order(f"{english}\nעולם שלום היום").split("\n") == [english, "היום שלום עולם"]
    assert in_reading_order("See שלום in the list.\nעולם שלום היום כולם").split("\n")[0] == "See שלום in the list."
