"""Formats of other days and places: FictionBook, binary workbooks, Word 6 and 95."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lilbee_core.errors import EncryptedDocument, ExtractError, NoText, UnsafeContent
from lilbee_core.extract._compound import Storage, compound_file
from lilbee_core.types import Document
from tests.core.extract._files import xlsb, zipped
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]

# --------------------------------------------------------------------------- FictionBook

BOOK = """<?xml version="1.0" encoding="{encoding}"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><genre>drama</genre><genre>classic</genre>
<author><first-name>Антон</first-name><last-name>Чехов</last-name></author><book-title>Чайка</book-title>
<annotation><p>Комедия.</p></annotation><date value="1896-10-17">1896</date><lang>RU</lang></title-info></description>
<body><title><p>Чайка</p></title><epigraph><p>Эпиграф</p></epigraph>
<section><title><p>Действие</p><p>первое</p></title><p>Часть парка в <emphasis>имении</emphasis> Сорина.</p>
<section><title><p>Сцена</p></title><p>Отчего вы в черном?<a l:href="#n1" type="note">[1]</a></p>
<poem><stanza><v>Первая строка</v><v>Вторая</v></stanza></poem><section><p>Без имени.</p></section>
<table><tr><th>Имя</th><th>Роль</th></tr><tr><td>Нина</td><td>актриса</td></tr></table></section></section></body>
<body name="notes"><section id="n1"><title><p>1</p></title><p>Сноска.</p></section></body>
<binary id="c.png" content-type="image/png">iVBORw0KGgo=</binary></FictionBook>"""


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "koi8-r", "utf-16"])
def test_fiction_is_read_by_chapter_in_its_encoding(encoding: str, document: ReadDocument) -> None:
    data = BOOK.format(encoding=encoding).encode(encoding)
    found = document("a.fb2", data)
    assert {one.label: one.span.cut(found.text) for one in found.segments} == {
        "Annotation": "Комедия.",
        None: "Чайка\n\nЭпиграф",
        "Действие первое": "Действие\nпервое\n\nЧасть парка в имении Сорина.",
        "Сцена": "Сцена\n\nОтчего вы в черном?[1]\n\nПервая строка\nВторая\n\nБез имени.\n\nИмя | Роль\nНина | актриса",
        "Notes": "1 Сноска.",
    }
    assert [(one.level, one.title) for one in found.headings] == [(1, "Чайка"), (2, "Действие первое"), (3, "Сцена")]
    assert (found.title, found.language, found.date) == ("Чайка", "ru", "1896-10-17")
    assert (found.metadata["author"], found.metadata["subject"]) == ("Антон Чехов", ("drama", "classic"))
    packed = document("a.fb2.zip", zipped({"a.fb2": data}))
    assert "a.fb2" in {one.member for one in packed.segments}


def test_broken_and_hostile_fiction_is_refused(read: Read) -> None:
    whole = BOOK.format(encoding="utf-8")
    assert isinstance(read("a.fb2", whole[:-40].encode()), ExtractError)
    assert isinstance(read("a.fb2", b"<FictionBook><body/></FictionBook>"), NoText)
    bomb = whole.replace("<FictionBook", '<!DOCTYPE a [<!ENTITY b "c">]>\n<FictionBook', 1)
    assert isinstance(read("a.fb2", bomb.encode()), UnsafeContent)


# --------------------------------------------------------------------------- binary workbooks


def test_binary_workbooks_are_read_with_the_places_of_cells(document: ReadDocument) -> None:
    found = document("a.xlsb", xlsb({"Fees": [["Name", "Price"], ["Razorbill", 12.5]], "Two": [["a", "b", "c"]]}))
    assert found.text == "Fees\n\nName | Price\nRazorbill | 12.5\n\nTwo\n\na | b | c"
    fine = [(one.label, one.span.cut(found.text)) for one in found.segments if one.fine]
    assert fine == [
        ("Fees!B3:C3", "Name | Price"),
        ("Fees!B4:C4", "Razorbill | 12.5"),
        ("Two!B3:D3", "a | b | c"),
    ]


# --------------------------------------------------------------------------- Word 6 and 95


def word95(
    body: bytes, *, language: int = 0x0409, version: int = 104, flags: int = 0, notes: bytes = b"", pieces: int = 0
) -> bytes:
    """Return a document as Word 95 wrote it, or in so many pieces as after a fast save."""
    start = 0x300
    header = b"header\r"
    letters = body + notes + header
    stream = bytearray(start)
    struct.pack_into("<HHHHHH", stream, 0, 0xA5DC, version, 0, language, 0, flags | (0x0004 if pieces else 0))
    struct.pack_into("<II", stream, 0x18, start, start + len(letters))
    struct.pack_into("<7I", stream, 0x34, len(body), len(notes), len(header), 0, 0, 0, 0)
    if not pieces:
        stream += letters
    else:
        step = -(-len(letters) // pieces)
        cuts = [letters[at : at + step] for at in range(0, len(letters), step)]
        places: dict[int, int] = {}
        for number in reversed(range(len(cuts))):
            places[number] = len(stream)
            stream += cuts[number]
        ends = [0, *(min(len(letters), step * (number + 1)) for number in range(len(cuts)))]
        table = struct.pack(f"<{len(ends)}I", *ends)
        table += b"".join(struct.pack("<HIH", 0, places[number], 0) for number in range(len(cuts)))
        clx = b"\x01" + struct.pack("<H", 3) + b"abc" + b"\x02" + struct.pack("<I", len(table)) + table
        struct.pack_into("<II", stream, 0x160, len(stream), len(clx))
        stream += clx
    return compound_file(Storage({"WordDocument": bytes(stream)}))


BODY = (
    b"The caf\xe9\rSee \x13REF a\x14chapter \x13PAGE\x142\x15\x15.\rName\x07Nests\x07\x07Auk\x077\x07\x07end\x0cnext\r"
)
SHOWN = "The café\nSee chapter 2.\nName | Nests\nAuk | 7\nend\n\nnext"


@pytest.mark.parametrize("pieces", [0, 1, 7])
@pytest.mark.parametrize("version", [101, 104])
def test_word_6_and_95_are_read(pieces: int, version: int, document: ReadDocument) -> None:
    found = document("a.doc", word95(BODY, version=version, notes=b"\x02 A note.\r", pieces=pieces))
    assert found.text == f"{SHOWN}\n\n A note."
    assert "header" not in found.text


@pytest.mark.parametrize(
    ("language", "encoding", "text"),
    [(0x0419, "cp1251", "Чайка"), (0x0408, "cp1253", "Γλάρος"), (0x0415, "cp1250", "Żuraw")],
)
def test_letters_of_word_95_follow_its_language(
    language: int, encoding: str, text: str, document: ReadDocument
) -> None:
    assert document("a.doc", word95(text.encode(encoding) + b"\r", language=language)).text == text


def test_word_95_under_a_password_says_so(read: Read) -> None:
    assert isinstance(read("a.doc", word95(BODY, flags=0x0100)), EncryptedDocument)
    assert isinstance(read("a.doc", word95(b"")), NoText)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0x160, 0x167), st.integers(0, 255))
def test_damaged_pieces_are_damaged(read: Read, at: int, value: int) -> None:
    data = bytearray(word95(BODY, pieces=3))
    data[data.index(struct.pack("<HH", 0xA5DC, 104)) + at] = value
    result = read("a.doc", bytes(data))
    assert isinstance(result, Document | ExtractError)
