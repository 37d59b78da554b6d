"""Data in text form, XML and notebooks (R023)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable

import pytest

from lilbee_core.errors import ExtractError, NoText, UnsafeContent, UnsupportedFormat
from lilbee_core.types import Document
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]

LAUGHS = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10 if n else "quagga "}">' for n in range(10))


@pytest.mark.parametrize(
    "name", ["a.json", "a.jsonl", "a.yaml", "a.toml", "a.txt", "a.log", "a.srt", "a.rst", "README"]
)
def test_texts_are_the_file(name: str, document: ReadDocument) -> None:
    found = document(name, b'{"a":\r\n  1}\n')
    assert (found.text, found.has_lines, found.line_map, found.body_start) == ('{"a":\n  1}\n', True, None, 0)


def test_other_encodings_are_told(document: ReadDocument) -> None:
    assert document("a.json", '{"a": "Größe"}'.encode("cp1252")).metadata["encoding"] == "cp1252"


def test_an_empty_text_is_an_empty_document(document: ReadDocument) -> None:
    assert document("__init__.txt", b"").text == ""


def test_binary_named_as_text_is_refused(read: Read) -> None:
    # The head is text, the rest is not: known only once the file is read.
    error = read("a.txt", b"text " * 2000 + bytes(range(1, 9)) * 9000)
    assert isinstance(error, UnsupportedFormat)
    assert "binary data" in error.message


@pytest.mark.parametrize(
    ("data", "delimiter", "columns"),
    [
        ("Kennung;Betrag;Ort\nWX-1;12,50;Köln\n", ";", ("Kennung", "Betrag", "Ort")),
        ('name,"a, b"\n1,2\n', ",", ("name", "a, b")),
        ("a\tb\n1\t2\n", "\t", ("a", "b")),
        ("\n\na|b\n1|2\n", "|", ("a", "b")),
        ('a,"b\nc"\n1,2\n', ",", ("a", "b c")),
    ],
)
def test_column_names_are_metadata(data: str, delimiter: str, columns: tuple[str, ...], document: ReadDocument) -> None:
    found = document("a.csv", data.encode())
    assert found.text == data
    assert (found.metadata["columns"], found.metadata["delimiter"]) == (columns, delimiter)
    assert [(one.start, one.title) for one in found.headings] == [(len(data) - len(data.lstrip()), " | ".join(columns))]


@pytest.mark.parametrize("data", ["1,2\n3,4\n", "words\nmore\n", "a,,c\n", ""])
def test_tables_without_names_have_none(data: str, document: ReadDocument) -> None:
    assert "columns" not in document("a.csv", data.encode()).metadata


# --------------------------------------------------------------------------- XML


def test_xml_data_stays_as_it_is(document: ReadDocument) -> None:
    data = '<?xml version="1.0" encoding="ISO-8859-1"?>\n<menu><dish price="3">crème brûlée</dish></menu>\n'
    found = document("old.xml", data.encode("cp1252"))
    assert found.text == data
    assert found.line_map is None


def test_xml_prose_loses_its_tags_and_keeps_its_lines(document: ReadDocument) -> None:
    data = (
        "<article>\n<front><article-title>On <i>Bees</i></article-title></front>\n<sec><title>Wax</title>\n"
        f"<p>The <b>comb</b> is {'very ' * 50}\nsmall &amp; <i>neat</i>.</p></sec>\n<sec><title>Honey</title><p>Sweet"
        " <b>and</b> dark.</p></sec></article>"
    )
    found = document("a.xml", data.encode())
    assert (
        found.text
        == f"On Bees\n\nWax\n\nThe comb is {'very ' * 50}".rstrip() + "\nsmall & neat.\n\nHoney\n\nSweet and dark."
    )
    assert found.title == "On Bees"
    assert [(one.level, one.title) for one in found.headings] == [(1, "On Bees"), (2, "Wax"), (2, "Honey")]
    assert found.line_map == (2, 2, 3, 3, 4, 5, 5, 6, 6, 6)


def test_broken_xml_is_read_as_text_with_a_warning(document: ReadDocument) -> None:
    found = document("a.xml", b"<a>\n<b></a>")
    assert found.text == "<a>\n<b></a>"
    assert found.warnings == ("read as plain text: not well-formed, line 2",)


@pytest.mark.parametrize("name", ["a.xml", "a.svg"])
def test_entities_that_blow_up_are_refused(name: str, read: Read) -> None:
    error = read(name, f"<!DOCTYPE l [{LAUGHS}]><l>&a9;</l>".encode())
    assert isinstance(error, UnsafeContent)
    loop = '<!DOCTYPE l [<!ENTITY a "&b;"><!ENTITY b "&a;">]><l>&a;</l>'
    assert isinstance(read(name, loop.encode()), UnsafeContent)


def test_many_document_types_take_no_time(document: ReadDocument) -> None:
    data = b"<!DOCTYPE [" * 100_000
    started = time.process_time()
    assert document("a.xml", data).text == data.decode()
    assert time.process_time() - started < 2


def test_outside_entities_are_not_followed(document: ReadDocument) -> None:
    data = '<!DOCTYPE r [<!ENTITY x SYSTEM "/etc/hostname">]>\n<r>visible &x;</r>'
    assert document("a.xml", data.encode()).text == data


def test_drawings_give_their_words(document: ReadDocument, read: Read) -> None:
    found = document("a.svg", b'<svg><title>Map</title><path d="M0 0"/><text>North <tspan>gate</tspan></text></svg>')
    assert found.text == "Map\n\nNorth gate"
    assert isinstance(read("a.svg", b'<svg><path d="M0 0"/></svg>'), NoText)


# --------------------------------------------------------------------------- notebooks


def notebook(*cells: object) -> bytes:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}}).encode()


def code(source: object, *outputs: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_notebook_cells_are_segments_without_pictures(document: ReadDocument) -> None:
    found = document(
        "a.ipynb",
        notebook(
            {"cell_type": "markdown", "source": ["# Tides\n", "The factor is 0.62."]},
            code(
                ["def f(x):\n", "    # not a heading\n", "    return x"],
                {"output_type": "stream", "text": ["peak \x1b[31m4.1\x1b[0m m\n"]},
                {"output_type": "display_data", "data": {"image/png": "iVBOR", "text/plain": "<Figure size 640x480>"}},
                {"output_type": "execute_result", "data": {"text/plain": ["4.1"]}},
                {"output_type": "error", "ename": "ValueError", "evalue": "bad"},
            ),
            {"cell_type": "raw", "source": "# raw"},
            code(""),
        ),
    )
    assert found.text == (
        "# Tides\nThe factor is 0.62.\n\ndef f(x):\n    # not a heading\n    return x\n\npeak 4.1 m\n\n4.1\n\n"
        "ValueError: bad\n\n# raw"
    )
    assert [one.label for one in found.segments] == ["cell 1", "cell 2", "cell 3"]
    assert [one.title for one in found.headings] == ["Tides"]
    assert (found.title, found.metadata["code"]) == ("Tides", "python")


def test_old_notebooks_are_read(document: ReadDocument) -> None:
    cells = [
        {"cell_type": "heading", "level": 2, "source": "Old"},
        {"cell_type": "code", "input": "x = 1", "outputs": []},
    ]
    found = document("a.ipynb", json.dumps({"worksheets": [{"cells": cells}]}).encode())
    assert found.text == "## Old\n\nx = 1"
    assert [(one.level, one.title) for one in found.headings] == [(2, "Old")]


@pytest.mark.parametrize("data", [b"{", b"[]", b"{}", b"not json", b'{"cells": 3}', b'{"cells": [1, null, {}]}', b""])
def test_broken_notebooks_are_errors(data: bytes, read: Read) -> None:
    error = read("a.ipynb", data)
    assert isinstance(error, ExtractError)
    assert error.code in {"extract.damaged", "extract.no_text"}


def test_half_letters_in_json_do_no_harm(document: ReadDocument) -> None:
    found = document("a.ipynb", b'{"cells": [{"cell_type": "markdown", "source": "# half \\ud83d letter"}]}')
    found.text.encode()
    assert found.text == "# half \ufffd letter"
    assert found.headings[0].title == "half \ufffd letter"
