"""Tables outside of sheets: the names of their columns go beside each piece of a long one, never into its text."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.chunking import TokenChunker
from lilbee_core.extract._grid import page_tables
from lilbee_core.extract._layout import opened, page_runs
from lilbee_core.extract._tables import is_head, marked_tables, written_tables
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Chunk, Document, DocumentId
from tests.core.extract._files import docx, paragraph, placed_pdf, zipped

ReadDocument = Callable[..., Document]
NAMES = ("Species", "Nests", "Cliff")
ROWS = [(f"Bird {number}", f"{number * 7}", f"north {number}") for number in range(60)]


def chunks_of(document: Document) -> tuple[Chunk, ...]:
    chunks = TokenChunker(EstimatedTokens(), chunk_size=80, overlap=10).split(document, DocumentId("d"))
    assert all(one.text == one.span.cut(document.text) for one in chunks)
    return chunks


def word(rows: list[tuple[str, ...]]) -> bytes:
    cells = "".join(f"<w:tr>{''.join(f'<w:tc>{paragraph(one)}</w:tc>' for one in row)}</w:tr>" for row in rows)
    return docx(f"{paragraph('Counted in June')}<w:tbl>{cells}</w:tbl>{paragraph('Counted by Ada')}")


def html(rows: list[tuple[str, ...]]) -> bytes:
    cells = "".join(f"<tr>{''.join(f'<td>{one}</td>' for one in row)}</tr>" for row in rows)
    return f"<p>Counted in June</p><table>{cells}</table><p>Counted by Ada</p>".encode()


def markdown(rows: list[tuple[str, ...]]) -> bytes:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["Counted in June", "", lines[0], "|---|:-:|--:|", *lines[1:], "", "Counted by Ada"]).encode()


def org(rows: list[tuple[str, ...]]) -> bytes:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(["Counted in June", "", lines[0], "|---+---+---|", *lines[1:], "", "Counted by Ada"]).encode()


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.docx", word), ("a.html", html), ("a.md", markdown), ("a.org", org)],
    ids=["word", "html", "markdown", "org"],
)
def test_pieces_of_a_table_carry_the_names_of_its_columns(
    name: str, write: Callable[[list[tuple[str, ...]]], bytes], document: ReadDocument
) -> None:
    found = document(name, write([NAMES, *ROWS]))
    chunks = chunks_of(found)
    assert len(chunks) > 4
    assert "Species | Nests | Cliff" not in chunks[0].context
    pieces = [chunk for chunk in chunks if "Species" not in chunk.text and "Bird" in chunk.text]
    assert len(pieces) > 3
    assert {chunk.context[-1:] for chunk in pieces} == {("Species | Nests | Cliff",)}
    # What follows the table is none of its rows.
    last = found.text.index("Counted by Ada")
    assert all(one.span.end < last for one in found.tables)


def test_a_table_in_an_archive_keeps_its_place(document: ReadDocument) -> None:
    found = document("a.zip", zipped({"a.txt": "Razorbill", "b.docx": word([NAMES, *ROWS]), "c.txt": "words"}))
    (table,) = found.tables
    assert table.span.cut(found.text).startswith("Species | Nests | Cliff\nBird 0")
    assert table.span.cut(found.text).endswith("north 59")


def test_tables_of_a_page_are_told_by_where_their_cells_stand(document: ReadDocument) -> None:
    rows = [NAMES, *ROWS[:40]]
    lines = [
        (60.0 + 150 * column, 760.0 - 16 * number, 10, cell)
        for number, row in enumerate(rows)
        for column, cell in enumerate(row)
    ]
    found = document("a.pdf", placed_pdf([(60.0, 790.0, 12, "Counted in June by the wardens of the island"), *lines]))
    (table,) = found.tables
    assert table.head == "Species | Nests | Cliff"
    assert table.span.cut(found.text).startswith("Species")
    assert any(chunk.context[-1:] == ("Species | Nests | Cliff",) for chunk in chunks_of(found)[1:])


def test_columns_of_prose_are_no_table() -> None:
    prose = "The guillemot breeds on ledges above the sea"
    lines = [(60.0 + 260 * side, 760.0 - 14 * row, 10, prose) for row in range(20) for side in (0, 1)]
    with opened(placed_pdf(lines), None) as file:
        assert list(page_tables("\n".join(20 * [prose]), page_runs(file, 1))) == []


@pytest.mark.parametrize(
    ("cells", "names"),
    [
        (("Name", "Price"), True),
        (("Name", "12.50"), False),
        (("Name",), False),
        (("(iv)", "The toboggan runs"), False),
        (("City:", "Bergen"), False),
        (("", "Total", "Share"), True),
    ],
)
def test_names_of_columns_are_told_from_values(cells: tuple[str, ...], names: bool) -> None:
    assert is_head(cells) is names


def test_pipes_that_are_no_tables() -> None:
    assert list(marked_tables("a | b\n\n--- | ---\n")) == []
    assert list(marked_tables("--- | ---\na | b")) == []
    assert list(written_tables("ps ax | grep bee\nls | wc")) == []


@given(st.text(alphabet="a1 |-:+\n", max_size=200))
def test_tables_lie_in_the_text(text: str) -> None:
    for table in (*marked_tables(text), *written_tables(text)):
        assert 0 <= table.span.start < table.span.end <= len(text)
        assert "|" in table.span.cut(text)
        assert not table.head.startswith(" ")
