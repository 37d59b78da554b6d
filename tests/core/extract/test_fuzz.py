"""Broken files of every format: a document or a plain error comes out, never a bug."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lilbee_core.errors import LilbeeError
from lilbee_core.types import Document
from tests.core.extract._files import (
    docx,
    epub,
    odf,
    paragraph,
    pptx,
    record,
    shape,
    wide,
    with_cells,
    xls,
    xlsb,
    zipped,
)
from tests.core.extract.conftest import Read

BODY = (
    paragraph("Head", '<w:pStyle w:val="h1"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>')
    + f"<w:tbl><w:tr><w:tc>{paragraph('a')}</w:tc><w:tc>{paragraph('b')}</w:tc></w:tr></w:tbl>"
    '<w:p><w:r><w:footnoteReference w:id="1"/><w:sym w:char="41"/></w:r><m:oMath><m:r><m:t>x</m:t></m:r></m:oMath>'
    "</w:p>"
)
NUMBERING = (
    '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
    '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>'
)
MAIL = (
    "Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\nFrom: a@x.example\nContent-Type: multipart/mixed; boundary=b\n\n--b\n"
    "Content-Type: multipart/alternative; boundary=c\n\n--c\nContent-Type: text/plain; charset=latin-1\n\nh\xfc\n--c\n"
    "Content-Type: text/html\n\n<p>h&uuml;</p>\n--c--\n--b\nContent-Type: text/csv; name=a.csv\n"
    "Content-Transfer-Encoding: base64\n\nYSxiCjEsMgo=\n--b\nContent-Type: message/rfc822\n\nSubject: in\n\nx\n--b--\n"
)
NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# T\n", "x"]},
        {
            "cell_type": "code",
            "source": "y",
            "outputs": [{"output_type": "stream", "text": ["z"]}, {"data": {"text/plain": "1"}}],
        },
    ],
    "metadata": {"kernelspec": {"language": "python"}},
}
ENTITIES = '<!DOCTYPE a [<!ENTITY b "c"><!ENTITY d SYSTEM "e">]>'

TEXTS: dict[str, bytes] = {
    "a.md": b"---\ntitle: x\ndate: 2024-01-01\ntags: [a, b]\nm: {}\n---\n# H\n```\n# no\n```\n<!-- c -->\nSet\n--\n",
    "b.md": b'+++\ntitle = "x"\n[a]\nb = 2024-01-01\n+++\n# H\n',
    "a.csv": b'a;b;c\n1;"2\n3";4\n',
    "a.html": b"<html lang=de><title>T</title><table><tr><td>a<td>b</table><ul><li>c</ul><pre>d</pre><p>e",
    "a.xml": f"{ENTITIES}<a>{'<p>text <i>in</i> line</p>' * 20}</a>".encode(),
    "a.svg": b"<svg><text>North <tspan>gate</tspan></text></svg>",
    "a.ipynb": json.dumps(NOTEBOOK).encode(),
    "a.eml": MAIL.encode("latin-1"),
    "a.mht": MAIL.replace("mixed", "related").encode("latin-1"),
    "a.mbox": b"From x\n" + MAIL.encode("latin-1") + b"\nFrom y\nSubject: z\n\nw\n",
    "a.txt": "größer 你好 слово".encode("utf-16"),
    "a.xls": xls([["Name", "Fee"], ["Razorbill", (0.125, "0.0%")]], comment=(1, 1, "Jo", "net?")),
    "a.vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\nwords\n",
}  # fmt: skip
PACKAGES: dict[str, tuple[Callable[[bytes], bytes], bytes]] = {
    "a.docx": (lambda part: docx(part.decode("utf-8", "ignore"), numbering=NUMBERING), BODY.encode()),
    "b.docx": (lambda part: docx(BODY, numbering=part.decode("utf-8", "ignore")), NUMBERING.encode()),
    "a.pptx": (
        lambda part: pptx([part.decode("utf-8", "ignore")]),
        (shape("T", kind="title") + "<p:graphicFrame><a:tbl><a:tr><a:tc/></a:tr></a:tbl></p:graphicFrame>").encode(),
    ),
    "a.odt": (
        lambda part: odf(part.decode("utf-8", "ignore")),
        b"<text:h text:outline-level='1'>H</text:h><text:p>a</text:p>",
    ),
    "a.epub": (
        lambda part: epub(
            {"a.xhtml": part.decode("utf-8", "ignore")}, nav_xhtml=f"<html>{part.decode('utf-8', 'ignore')}"
        ),
        b"<h1>A</h1><p>b</p><nav><a href='a.xhtml'>C</a></nav>",
    ),
    "a.xlsx": (
        lambda part: with_cells(part.decode("utf-8", "ignore")),
        b'<row r="2"><c r="A2"><v>3</v></c><c r="B2" s="1"><f>A1</f></c><c t="inlineStr"><is><t>x</t></is></c></row>',
    ),
    "a.xlsb": (
        lambda part: xlsb({"S": [["a", (0.5, "0%")]]}, comments=part),
        record(632, wide("Jo")) + record(635, bytes(36)) + record(637, b"\0" + wide("net?")),
    ),
    "a.ods": (
        lambda part: odf(part.decode("utf-8", "ignore"), kind="spreadsheet"),
        (
            b'<table:table table:name="S"><table:table-row table:number-rows-repeated="2"><table:table-cell>'
            b"<text:p>a</text:p><office:annotation><text:p>b</text:p></office:annotation></table:table-cell>"
            b"</table:table-row></table:table>"
        ),
    ),
    "a.zip": (lambda part: zipped({"a.html": part, "b.eml": MAIL, "c.zip": zipped({"d.txt": part})}), b"<p>words"),
}

Edits = list[tuple[int, int, bytes]]
EDITS = st.lists(
    st.tuples(
        st.integers(0, 2000),
        st.integers(0, 12),
        st.one_of(
            st.binary(max_size=6),
            st.sampled_from([b"<", b"</", b'"', b"-1", b"99999999999", b"\n", b"{", b"[", b"&#0;"]),
        ),
    ),
    min_size=1,
    max_size=5,
)


def edited(data: bytes, edits: Edits) -> bytes:
    for at, length, replacement in edits:
        start = at % (len(data) + 1)
        data = data[:start] + replacement + data[start + length :]
    return data


def check(result: Document | LilbeeError) -> None:
    if isinstance(result, LilbeeError):
        assert result.code != "extract.failed", result.message
        assert result.message
        return
    result.text.encode()
    assert "\r" not in result.text
    assert 0 <= result.body_start <= len(result.text)
    assert result.line_map is None or len(result.line_map) == result.text.count("\n") + 1 or not result.text
    for segment in result.segments:
        assert segment.span.end <= len(result.text)
    for heading in result.headings:
        assert 0 <= heading.start < len(result.text)
        assert heading.level in range(1, 7)


@pytest.mark.parametrize("name", sorted(TEXTS))
@settings(max_examples=40)
@given(edits=EDITS)
def test_damaged_texts(name: str, read: Read, edits: Edits) -> None:
    check(read(name, edited(TEXTS[name], edits)))


@pytest.mark.parametrize("name", sorted(PACKAGES))
@settings(max_examples=40)
@given(edits=EDITS)
def test_damaged_parts_of_packages(name: str, read: Read, edits: Edits) -> None:
    pack, part = PACKAGES[name]
    check(read(name.replace("b.", "a."), pack(edited(part, edits))))


@pytest.mark.parametrize("name", sorted(PACKAGES))
@settings(max_examples=25)
@given(edits=EDITS)
def test_damaged_packages(name: str, read: Read, edits: Edits) -> None:
    pack, part = PACKAGES[name]
    check(read(name, edited(pack(part), edits)))


@pytest.mark.parametrize("name", sorted([*TEXTS, *PACKAGES]))
def test_the_whole_files_are_read(name: str, read: Read) -> None:
    data = TEXTS[name] if name in TEXTS else PACKAGES[name][0](PACKAGES[name][1])
    assert isinstance(read(name, data), Document)
