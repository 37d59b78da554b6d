"""Spreadsheets as their readers see them: formats of numbers, formulas, comments, far cells, in all four formats."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.errors import ExtractError
from lilbee_core.extract._cells import cell_name, place_of, ranges
from lilbee_core.extract._numbers import shown_number, shown_text
from lilbee_core.types import Document
from tests.core.extract._files import odf, record, relations, wide, with_cells, with_parts, xls, xlsb, xlsx
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]
_EURO = '_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-;_-@_-'

# What a spreadsheet program shows for each, checked by hand against the rules of ECMA-376, part 1, 18.8.30 and 18.8.31.
SHOWN = [
    (0.1 + 0.2, "General", "0.3"),
    (1 / 3, "General", "0.333333333"),
    (100 / 3, "General", "33.33333333"),
    (1e-7, "General", "1E-07"),
    (4006381333931.0, "General", "4006381333931"),
    (1e22, "General", "1E+22"),
    (-0.0, "General", "0"),
    (0.256, "0.0%", "25.6%"),
    (2.005, "0.00", "2.01"),
    (99.999, "0.0", "100.0"),
    (1234567.891, "#,##0", "1,234,568"),
    (-1234.5, '"$"#,##0.00_);[Red]("$"#,##0.00)', "($1,234.50)"),
    (1234.5, _EURO, "1,234.50 €"),
    (-1234.5, "#,##0.00\\ [$€-407]", "-1,234.50 €"),
    (0.0, '0;-0;"none"', "none"),
    (3.0, ";;;", ""),
    (712.0, "00000", "00712"),
    (5551234567.0, "(000) 000-0000", "(555) 123-4567"),
    (123.0, "000-0000", "000-0123"),
    (1.5, "# ?/?", "1 1/2"),
    (0.375, "# ?/8", "3/8"),
    (0.96875, "# ??/??", "31/32"),
    (2.0, "# ?/?", "2"),
    (12345.0, "0.00E+00", "1.23E+04"),
    (0.00012345, "##0.0E+0", "123.5E-6"),
    (1234567.0, '0.0,,"M"', "1.2M"),
    (1500.0, '[<1000]0;[>=1000]0.0,"k"', "1.5k"),
    (999.0, '[<1000]0;[>=1000]0.0,"k"', "999"),
    (12.0, '0 "pcs"', "12 pcs"),
    (0.5, "#.##", ".5"),
    (1234.5, "0.0##", "1234.5"),
    (45000.5, "dd.mm.yyyy hh:mm", "15.03.2023 12:00"),
    (45000.0, "[$-409]d\\-mmm\\-yy;@", "15-Mar-23"),
    (45000.0, "dddd, mmmm d, yyyy", "Wednesday, March 15, 2023"),
    (45000.0, "[$-F800]dddd, mmmm dd, yyyy", "2023-03-15"),
    (60.0, "yyyy-mm-dd", "1900-02-29"),
    (0.572916666666667, "h:mm AM/PM", "1:45 PM"),
    (1.25, "[h]:mm:ss", "30:00:00"),
    (0.5 / 86400, "mm:ss.0", "00:00.5"),
    (-1.0, "yyyy-mm-dd", "-1"),
]


@pytest.mark.parametrize(("value", "code", "shown"), SHOWN)
def test_numbers_are_shown_by_the_code_of_their_cell(value: float, code: str, shown: str) -> None:
    assert shown_number(value, code) == shown


def test_texts_are_shown_by_the_code_of_their_cell() -> None:
    assert shown_text("A1", '"No. "@') == "No. A1"
    assert shown_text("A1", ";;;") == ""
    assert shown_text("A1", "#,##0.00") == shown_text("A1", "General") == "A1"


@given(st.floats(), st.text(alphabet='0#?.,%Ee+-/ ymdhsAP@;"\\_*[]<>=$€GenralMp', max_size=24))
def test_no_code_is_too_odd(value: float, code: str) -> None:
    assert isinstance(shown_number(value, code), str)
    assert isinstance(shown_text("x", code), str)


@given(st.integers(0, 1_048_575), st.integers(0, 16_383))
def test_cells_are_found_by_their_names(row: int, column: int) -> None:
    assert place_of(cell_name((row, column))) == (row, column)


def test_ranges_are_few() -> None:
    assert ranges([(1, 1), (2, 1), (3, 1), (3, 3)]) == "B2:B4, D4"
    assert ranges([(0, 2 * column) for column in range(9)]) == "A1, C1, E1, G1, I1 and 4 more"


# --------------------------------------------------------------------------- Excel


def test_a_sheet_reads_as_it_looks(document: ReadDocument) -> None:
    book = xlsx(
        {
            "Fees": [
                ["Berth", "Fee", "Share", "Since", "Key"],
                ["Razorbill", (1234.5, _EURO), (0.125, "0.0%"), (45000.0, "dd/mm/yyyy"), (712.0, "00000")],
                ["Fulmar", (0.1 + 0.2, "General"), (0.5, "# ?/?"), (45000.25, "yyyy-mm-dd hh:mm"), (0.0, ";;;")],
            ]
        }
    )
    assert document("a.xlsx", book).text == (
        "Fees\n\nBerth | Fee | Share | Since | Key\nRazorbill | 1,234.50 € | 12.5% | 15/03/2023 | 00712\n"
        "Fulmar | 0.3 | 1/2 | 2023-03-15 06:00"
    )


def test_a_row_of_shown_numbers_is_no_head(document: ReadDocument) -> None:
    found = document("a.xlsx", xlsx({"S": [["Fulmar", (65.0, '"$"0')], ["Razorbill", (12.0, '"$"0')]]}))
    assert [heading.title for heading in found.headings] == ["S"]


def test_formulas_without_a_value_are_shown_and_told(document: ReadDocument) -> None:
    cells = (
        '<row r="2"><c r="A2"><v>3</v></c><c r="B2"><f>SUM(A1:A2)*2</f></c><c r="C2"><f>A2</f><v>3</v></c></row>'
        '<row r="3"><c r="B3"><f t="shared" si="0"/></c><c r="D3" t="str"><f>""</f><v/></c>'
        '<c r="E3" t="str"><f>"a"&amp;"b"</f><v>ab</v></c></row>'
        '<row r="9"><c r="B9"><f>NOW()</f></c></row>'
    )
    found = document("a.xlsx", with_cells(cells))
    assert found.text.endswith("\n3 | =SUM(A1:A2)*2 | 3\n |  |  | ab\n | =NOW()")
    (warning,) = found.warnings
    assert warning == "3 formulas have no value in the file and can only be shown as written: Fees!B2:B3, B9"


def test_values_of_every_kind(document: ReadDocument) -> None:
    cells = (
        '<row r="2"><c r="A2" t="b"><v>1</v></c><c r="B2" t="e"><v>#DIV/0!</v></c><c r="C2" t="d">'
        '<v>2024-05-01T00:00:00</v></c><c t="s"><v>1</v></c><c r="F2" t="inlineStr"><is><r><t>Da</t></r><r><t>ta</t>'
        "</r><rPh><t>x</t></rPh></is></c></row>"
    )
    shared = "<sst><si><t>no</t></si><si><r><t>line_x000D_</t></r><r><t> feed</t></r></si></sst>"
    book = with_parts(
        with_cells(cells),
        {
            "xl/_rels/workbook.xml.rels": lambda part: part.replace(
                "</Relationships>", '<Relationship Id="t" Type="x/sharedStrings" Target="texts.xml"/></Relationships>'
            )
        },
        **{"xl__texts.xml": shared},
    )
    assert document("a.xlsx", book).text.endswith("\nTRUE | #DIV/0! | 2024-05-01 | line feed | Data")


def test_days_are_counted_from_1904_where_the_file_says_so(document: ReadDocument) -> None:
    book = with_parts(
        xlsx({"S": [["Day", (0.0, "yyyy-mm-dd")]]}),
        {"xl/workbook.xml": lambda part: part.replace("<sheets>", '<workbookPr date1904="1"/><sheets>')},
    )
    assert document("a.xlsx", book).text == "S\n\nDay | 1904-01-01"


def test_comments_threads_and_text_boxes_stand_below_the_cells(document: ReadDocument) -> None:
    legacy = (
        "<comments><authors><author>Jo</author></authors><commentList>"
        '<comment ref="A1" authorId="0"><text><r><t>Jo:</t></r><r><t>\nis it &lt;net&gt;?</t></r></text></comment>'
        '<comment ref="B1" authorId="0"><text><t>[Threaded comment] Your version…</t></text></comment>'
        "</commentList></comments>"
    )
    book = with_parts(
        xlsx({"Fees": [["Name", (1.0, "0")]]}),
        {
            "xl/_rels/workbook.xml.rels": lambda part: part.replace(
                "</Relationships>", '<Relationship Id="p" Type="x/person" Target="persons.xml"/></Relationships>'
            )
        },
        **{
            "xl__worksheets___rels/sheet1.xml.rels": relations(
                {
                    "a": ("comments", "../comments1.xml"),
                    "b": ("threadedComment", "../threaded1.xml"),
                    "c": ("drawing", "../drawing1.xml"),
                }
            ),
            "xl__comments1.xml": legacy,
            "xl__persons.xml": '<personList><person id="{7}" displayName="Ada"/></personList>',
            "xl__threaded1.xml": (
                '<ThreadedComments><threadedComment ref="B1" personId="{7}"><text>raise it</text></threadedComment>'
                '<threadedComment ref="B1" personId="{8}"><text>done</text></threadedComment></ThreadedComments>'
            ),
            "xl__drawing1.xml": (
                '<d xmlns:a="urn:a"><sp><txBody><a:p><a:r><a:t>Valid from </a:t></a:r><a:r><a:t>May</a:t></a:r></a:p>'
                "</txBody></sp></d>"
            ),
        },
    )
    found = document("a.xlsx", book)
    assert found.text == (
        "Fees\n\nName | 1\n\nValid from May\n\nComment on B1 by Ada: raise it\nComment on B1: done\n"
        "Comment on A1 by Jo: is it <net>?"
    )
    assert {one.label for one in found.segments if "Comment" in one.span.cut(found.text) and one.fine} == {
        "Fees!A1:A1",
        "Fees!B1:B1",
    }


def test_cells_far_apart_cost_nothing(document: ReadDocument) -> None:
    rows = "".join(f'<row r="{n}"><c r="{cell_name((n - 1, n))}"><v>{n}</v></c></row>' for n in range(2, 2_000))
    found = document("a.xlsx", with_cells(rows + '<row r="1048576"><c r="XFD1048576"><v>7</v></c></row>'))
    assert len(found.text) < 20_000
    assert found.segments[-1].label == "Fees!XFD1048576:XFD1048576"


def test_a_binary_workbook_reads_as_it_looks(document: ReadDocument) -> None:
    comments = (
        record(628) + record(630) + record(632, wide("Jo")) + record(631)
        + record(635, struct.pack("<IIIII16x", 0, 2, 2, 2, 2)) + record(637, b"\0" + wide("Jo:\nnet?"))
    )  # fmt: skip
    book = xlsb({"Fees": [["Name", (0.125, "0.0%")], [(45000.0, "dd.mm.yyyy"), 0.1 + 0.2]]}, comments=comments)
    found = document("a.xlsb", book)
    assert found.text == "Fees\n\nName | 12.5%\n15.03.2023 | 0.3\n\nComment on C3 by Jo: net?"


def test_an_older_workbook_reads_as_it_looks(document: ReadDocument, read: Read) -> None:
    rows: list[list[str | tuple[float, str]]] = [
        ["Name", "Price", "Day"],
        ["Razorbill", (1234.5, _EURO), (45000.0, "dd.mm.yyyy")],
        ["Fulmar", (0.1 + 0.2, "General"), (0.5, "# ?/?")],
    ]
    book = xls(rows, comment=(1, 1, "Jo", "Jo:\nreally?"))
    found = document("a.xls", book)
    assert found.text == (
        "Fees\n\nName | Price | Day\nRazorbill | 1,234.50 € | 15.03.2023\nFulmar | 0.3 | 1/2\n\n"
        "Comment on B2 by Jo: really?"
    )
    assert [one.label for one in found.segments if one.fine][-2:] == ["Fees!A3:C3", "Fees!B2:B2"]
    error = read("a.xls", book[:1536])
    assert isinstance(error, ExtractError)
    assert error.code == "extract.damaged"


def test_an_older_workbook_whose_formats_are_broken_is_read_without_them(document: ReadDocument) -> None:
    rows: list[list[str | tuple[float, str]]] = [["Price", "Day"], [(0.1 + 0.2, '0.00" €"'), (45000.5, "dd.mm.yyyy")]]
    assert document("a.xls", xls(rows, palette=b"\5\0")).text == "Fees\n\nPrice | Day\n0.3 | 2023-03-15 12:00"


# --------------------------------------------------------------------------- OpenDocument


def ods(rows: str, beside: str = "") -> bytes:
    """Return a spreadsheet with one sheet, Fees."""
    return odf(f'<table:table table:name="Fees">{beside}{rows}</table:table>', kind="spreadsheet")


def open_cell(text: str = "", inner: str = "", **attributes: str) -> str:
    """Return a cell with what it shows."""
    told = "".join(f' {name.replace("__", ":").replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f"<table:table-cell{told}>{inner}{f'<text:p>{text}</text:p>' if text else ''}</table:table-cell>"


def test_an_open_sheet_reads_as_it_looks(document: ReadDocument) -> None:
    note = "<office:annotation><dc:creator xmlns:dc='urn:dc'>Jo</dc:creator><text:p>net?</text:p></office:annotation>"
    rows = (
        f"<table:table-row>{open_cell('Name')}{open_cell('Fee')}</table:table-row>"
        f"<table:table-row>{open_cell('Razorbill')}"
        + open_cell("1.234,50 €", note, office__value_type="currency", office__value="1234.5")
        + open_cell(office__value_type="percentage", office__value="0.125")
        + open_cell(table__formula="of:=SUM([.A1:.B2])")
        + "</table:table-row>"
        f'<table:table-row table:number-rows-repeated="2">{open_cell("same", table__number_columns_repeated="2")}'
        "</table:table-row>"
        f'<table:table-row table:number-rows-repeated="1048570">{open_cell(table__number_columns_repeated="16384")}'
        f"</table:table-row><table:table-row>{open_cell(table__number_columns_repeated='16383')}{open_cell('far')}"
        "</table:table-row>"
    )
    box = "<table:shapes><draw:frame><text:p>Valid from May</text:p></draw:frame></table:shapes>"
    found = document("a.ods", ods(rows, box))
    assert found.text == (
        "Fees\n\nName | Fee\nRazorbill | 1.234,50 € | 12.5% | =SUM(A1:B2)\nsame | same\nsame | same\n"
        " |  |  |  | far\n\nValid from May\n\nComment on B2 by Jo: net?"
    )
    labels = [one.label for one in found.segments if one.fine]
    assert labels[2:] == ["Fees!A3:B3", "Fees!A4:B4", "Fees!XFD1048575:XFD1048575", "Fees!B2:B2"]
    assert found.warnings == ("a formula has no value in the file and can only be shown as written: Fees!D2",)


def test_a_row_that_repeats_without_end_is_read_once(document: ReadDocument) -> None:
    cell = open_cell("bomb", table__number_columns_repeated="16384")
    found = document("a.ods", ods(f'<table:table-row table:number-rows-repeated="1048576">{cell}</table:table-row>'))
    assert found.text == "Fees\n\nbomb"
    assert found.warnings == ("Fees: row 1 stands 1048576 times below itself and was read once",)
