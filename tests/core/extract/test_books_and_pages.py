"""E-books, PDF and spreadsheets: chapters, pages and sheets are exact (R022, R379)."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable

import kreuzberg
import pytest

from lilbee_core.chunking import TokenChunker
from lilbee_core.errors import EncryptedDocument, ExtractError, LimitExceeded, NoText, UnsupportedFormat
from lilbee_core.extract import _sheets
from lilbee_core.extract._bidi import in_reading_order
from lilbee_core.extract._columns import join_lines
from lilbee_core.extract._engine import Extraction, Node, cleaned, plain_error
from lilbee_core.extract._hyphens import Hyphens
from lilbee_core.extract._paged import flow, old_word
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Document, DocumentId, Heading, Source
from tests.core.extract._files import epub, pdf, xlsx, zipped
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]

PROSE = (
    "The sea wall is inspected by rope.",
    "Cracks wider than a coin are sealed with Brackendale lime before winter comes.",
    "Sandbags are kept under the stage, and nobody moves them without asking first.",
    "All keys hang in the porch.",
    "The siren is tested at noon on the first Monday of every month, and then again",
    "whenever the wind turns north.",
)


def test_epub_chapters_are_segments_named_by_the_contents(document: ReadDocument) -> None:
    nav = '<html><nav><ol><li><a href="one.xhtml#x">The  First</a></li></ol></nav></html>'
    book = epub(
        {"one.xhtml": "<h1>I</h1><p>Bees &amp; wax.</p>", "two.xhtml": "<h2>Second</h2><p>End.</p>"}, nav_xhtml=nav
    )
    found = document("a.epub", book)
    assert found.text == "I\n\nBees & wax.\n\nSecond\n\nEnd."
    assert [(one.label, one.span.cut(found.text)) for one in found.segments] == [
        ("The First", "I\n\nBees & wax."),
        ("The First", "Second\n\nEnd."),
    ]
    assert [(one.level, found.text[one.start :].split("\n")[0]) for one in found.headings] == [(1, "I"), (2, "Second")]
    assert (found.title, found.language, found.date, found.metadata["author"]) == ("Bees", "en", "1913", "Ada")


def labels(found: Document) -> list[tuple[str | None, str]]:
    return [(one.label, one.span.cut(found.text).replace("\n\n", " ")) for one in found.segments]


CHAPTERS = {
    "cover.xhtml": "<img src='c.png' alt='Bees, a book'>",
    "one.xhtml": "<h2 id='p1'>Part I</h2><h3 id='c1'>Chapter 1</h3><p>Wax.</p><h3>An aside</h3><p>Honey.</p>"
    "<p>End of it.<a id='c2'></a></p><h3>Chapter 2</h3><p>Combs.</p>",
    "split.xhtml": "<p>More combs.</p>",
    "after.xhtml": "<h1>Afterword</h1><p>Thanks.</p>",
    "notes.xhtml": "<p>A note.</p>",
}
LABELS = [
    ("part 1", "Bees, a book"),
    ("Part I", "Part I"),
    ("Chapter 1", "Chapter 1 Wax. An aside Honey."),
    ("Chapter 2", "End of it. Chapter 2 Combs."),
    ("Chapter 2", "More combs."),
    ("Afterword", "Afterword Thanks."),
    ("Afterword", "A note."),
]


def test_titles_of_the_contents_reach_to_the_next_one(document: ReadDocument) -> None:
    """Several in one part, one over several parts; page numbers and landmarks name nothing."""
    nav = (
        '<html xmlns:epub="urn:e"><nav epub:type="page-list"><a href="one.xhtml">57</a></nav>'
        '<nav epub:type="landmarks"><a href="one.xhtml">Start of Content</a></nav><nav epub:type="toc"><ol>'
        '<li><a href="one.xhtml#p1">Part I</a><ol><li><a href="one.xhtml#c1">Chapter 1</a></li>'
        '<li><a href="one.xhtml#c2">Chapter&#160;<i>2</i></a></li></ol></li></ol></nav></html>'
    )
    assert labels(document("a.epub", epub(CHAPTERS, nav_xhtml=nav))) == LABELS


def test_titles_of_older_contents_reach_to_the_next_one(document: ReadDocument) -> None:
    def point(title: str, target: str, inner: str = "") -> str:
        label = f"<navLabel><text>{title}</text></navLabel>"
        return f'<navPoint>{label}<content src="{target}"/>{inner}</navPoint>'

    chapters = point("Chapter 1", "one.xhtml#c1") + point("Chapter 2", "one.xhtml#c2")
    pages = (
        '<pageList><pageTarget><navLabel><text>57</text></navLabel><content src="one.xhtml"/></pageTarget></pageList>'
    )
    book = epub(
        CHAPTERS,
        nav_xhtml="<html/>",
        toc_ncx=f"<ncx><navMap>{point('Part I', 'one.xhtml#p1', chapters)}</navMap>{pages}</ncx>",
    )
    listed = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
    with zipfile.ZipFile(io.BytesIO(book)) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    parts["OPS/book.opf"] = parts["OPS/book.opf"].replace(b"</manifest>", listed.encode())
    assert labels(document("a.epub", zipped(parts))) == LABELS


def test_epub_with_a_missing_chapter_is_read_with_a_warning(document: ReadDocument) -> None:
    book = epub({"one.xhtml": "<p>Here.</p>", "two.xhtml": "<p>There.</p>"}, nav_xhtml="<html/>")
    found = document("a.epub", book.replace(b"OPS/two.xhtml", b"OPS/owt.xhtml"))
    assert found.text == "Here."
    assert found.warnings == ("the chapter OPS/two.xhtml is missing",)


def test_pdf_pages_are_exact_and_headings_are_found_on_them(document: ReadDocument) -> None:
    body = [(11, line) for line in PROSE]
    found = document("a.pdf", pdf([(24, "Tides (and & gates)"), *body], [(24, "Harbor"), *body], [(11, "last page")]))
    pages = [one for one in found.segments if not one.fine]
    assert [one.page for one in pages] == [1, 2, 3]
    cut = [one.span.cut(found.text) for one in pages]
    assert "\n\n".join(cut) == found.text
    assert cut[0].startswith("Tides (and & gates)\nThe sea wall is inspected by rope.")
    assert cut[2] == "last page"
    assert [(heading.title, found.text[heading.start :].split("\n")[0]) for heading in found.headings] == [
        ("Tides (and & gates)", "Tides (and & gates)"),
        ("Harbor", "Harbor"),
    ]
    assert found.metadata["pages"] == 3
    assert found.has_lines is False


@pytest.mark.parametrize(
    ("error", "password", "kind", "words"),
    [
        (kreuzberg.ParsingError("PDF is password-protected"), None, EncryptedDocument, "protected by a password"),
        (kreuzberg.ParsingError("PDF is password-protected"), "x", EncryptedDocument, "does not open it"),
        (kreuzberg.ParsingError("Security limit exceeded: 9 bytes"), None, LimitExceeded, "unpacks to more"),
        (kreuzberg.ValidationError("application/pdf"), None, UnsupportedFormat, "no extractor reads"),
        (kreuzberg.MissingDependencyError("x"), None, UnsupportedFormat, "not installed"),
        (kreuzberg.ParsingError("PdfiumLibraryInternalError"), None, ExtractError, "is damaged"),
    ],
)
def test_errors_of_the_engine_are_told_in_plain_words(
    error: Exception, password: str | None, kind: type[ExtractError], words: str
) -> None:
    source = Source(collection="c", path="a.pdf", media_type="application/pdf", data=b"")
    found = plain_error(source, error, password)
    assert type(found) is kind
    assert words in found.message
    assert str(error) not in found.message or str(error) == "x"


def test_rtf_has_headings_and_tables_by_row(document: ReadDocument) -> None:
    found = document("a.rtf", rb"{\rtf1\ansi {\b Bold} words & <signs>, caf\'e9\par second\par}")
    assert found.text == "Bold words & <signs>, café\n\nsecond"


def test_old_word_texts_lose_field_codes_and_gain_rows() -> None:
    text = "Figure  SEQ Figure \\* ARABIC 1: duck\n\tFood\tKcal\t\tLeaves\t50\t\tBerries\t150\t\t\nplain\ttab"
    assert old_word(text) == "Figure  1: duck\nFood | Kcal\nLeaves | 50\nBerries | 150\nplain\ttab"


def test_headings_and_rows_are_found_in_flowing_text() -> None:
    nodes = (Node(kind="heading", text="The  First", level=2), Node(kind="paragraph", text="a b"))
    extraction = Extraction(
        text="\nThe First\nName Fee\nGannet 40\nend",
        tables=((0, [["Name", "Fee"], ["Gannet", "40"]]),),
        nodes=nodes,
        metadata={},
    )
    placed = flow(extraction)
    assert placed.text == "The First\nName | Fee\nGannet | 40\nend"
    assert placed.headings == (Heading(start=0, level=2, title="The First"),)


def test_pdf_without_text_says_so(read: Read) -> None:
    assert isinstance(read("a.pdf", pdf([])), NoText)


CUT = ("The cure for COVID-", "19 came to Jean-", "Paul in an F-", "16, of inter-", "national make.")


def test_a_hyphen_before_a_digit_or_a_capital_letter_stays(document: ReadDocument) -> None:
    found = document("a.pdf", pdf([(11, line) for line in CUT]))
    assert found.text == "The cure for COVID-19 came to Jean-Paul in an F-16, of international make."
    assert join_lines(CUT) == found.text


def test_other_characters_without_a_shape_are_left_out_beside_digits() -> None:
    assert cleaned("a \x025 b 7\x028 c\x02\x039", Hyphens()) == "a 5 b 78 c9"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.4 nothing", bytes(range(256)) * 4])
def test_broken_pdf_is_damaged(read: Read, data: bytes) -> None:
    error = read("a.pdf", data)
    assert isinstance(error, ExtractError)
    assert error.code == "extract.damaged"
    assert "Pdfium" not in error.message


def test_sheets_are_segments_with_plain_cells(document: ReadDocument) -> None:
    book = xlsx({"Berths & fees": [["Name", "R&D <x>"], ["", "5 > 3"]], "Empty": [], "Two": [["a_b*c"]]})
    found = document("a.xlsx", book)
    assert [(one.label, one.span.cut(found.text), one.fine) for one in found.segments] == [
        ("Berths & fees", "Berths & fees\n\nName | R&D <x>\n | 5 > 3", False),
        ("Berths & fees!A1:B1", "Name | R&D <x>", True),
        ("Berths & fees!B2:B2", " | 5 > 3", True),
        ("Two", "Two\n\na_b*c", False),
        ("Two!A1:A1", "a_b*c", True),
    ]
    assert found.title is None


def test_chunks_of_a_sheet_name_its_columns_and_their_cells(document: ReadDocument) -> None:
    rows = [["", "", ""], ["", "Berth", "Fee"], *(["", f"Pier {n}", f"{n}.50"] for n in range(200))]
    found = document("a.xlsx", xlsx({"Fees": rows}))
    chunks = TokenChunker(EstimatedTokens(), chunk_size=100, overlap=0).split(found, DocumentId("d"))
    assert len(chunks) > 5
    assert {one.headings for one in chunks} == {("Fees", "Berth | Fee")}
    for chunk in chunks:
        numbers = [int(number) for number in re.findall(r"Pier (\d+)", chunk.text)]
        assert chunk.location.label == f"Fees!B{2 if 'Berth' in chunk.text else numbers[0] + 3}:C{numbers[-1] + 3}"


def test_rows_of_a_huge_sheet_share_places(document: ReadDocument, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sheets, "_MOST_PLACES", 2)
    found = document("a.xlsx", xlsx({"S": [[str(n)] for n in range(5)]}))
    assert [one.label for one in found.segments if one.fine] == ["S!A1:A3", "S!A1:A3", "S!A1:A3", "S!A4:A6", "S!A4:A6"]


def test_times_of_day_and_durations_are_no_dates(document: ReadDocument) -> None:
    """All are numbers of days in the file."""
    quarter_to_two = 0.572916666666667
    rows: list[list[str | tuple[float, str]]] = [
        ["Shift", "Begins", "Lasted", "Day"],
        ["early", (quarter_to_two, "h:mm"), (1.25 + 7 / 86400, "[h]:mm:ss"), (45000, "yyyy-mm-dd")],
        ["late", (0.0, "h:mm AM/PM"), (8.5, "[h]:mm"), (45000 + quarter_to_two, "yyyy-mm-dd h:mm")],
        ["never", (0.75 + 30 / 86400, "hh:mm:ss"), (-0.5, "[h]:mm"), (5, "yyyy-mm-dd")],
    ]
    found = document("a.xlsx", xlsx({"Notes": [["none"]], "Shifts": rows}, first=3))
    assert found.text.split("\n\n")[-1].split("\n") == [
        "Shift | Begins | Lasted | Day",
        "early | 13:45 | 30:00:07 | 2023-03-15",
        "late | 12:00 AM | 204:00 | 2023-03-15 13:45",
        "never | 18:00:30 | -12:00 | 1900-01-05",
    ]
    assert [one.label for one in found.segments if one.fine][-1] == "Shifts!C6:F6"


def test_a_day_of_1900_written_as_text_stays(document: ReadDocument) -> None:
    found = document("a.xlsx", xlsx({"S": [["1900-01-05 13:45:00", (0.5, "h:mm")]]}))
    assert found.text == "S\n\n1900-01-05 13:45:00 | 12:00"


@pytest.mark.parametrize(("index", "name"), [(0, "A"), (25, "Z"), (26, "AA"), (701, "ZZ"), (16383, "XFD")])
def test_column_names(index: int, name: str) -> None:
    assert _sheets.column_name(index) == name


def test_workbook_without_cells_holds_no_text(read: Read) -> None:
    assert isinstance(read("a.xlsx", xlsx({"Sheet1": []})), NoText)


def test_words_of_visual_lines_are_put_in_order() -> None:
    visual = ".للمشكالت ،البيانات Python 3 بلغة"
    assert in_reading_order(visual) == "بلغة Python 3 البيانات، للمشكالت."


@pytest.mark.parametrize("text", ["plain text.", "وعليه، فإن الحكومة.", "שלום, עולם."])
def test_lines_in_order_stay(text: str) -> None:
    assert in_reading_order(text) == text
