"""Files that are made to do harm: each costs a reason in the ledger, little memory and little time (S29)."""

from __future__ import annotations

import gzip
import io
import time
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from lilbee_core.errors import ExtractError, LilbeeError
from lilbee_core.extract import ExtractorRegistry, ExtractPool, builtin_extractors
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.types import Document, Source
from tests.core.extract._files import pdf, xlsx, zipped

pytestmark = pytest.mark.slow

PATIENCE_S = 20.0
MEGABYTE = 1024 * 1024


@pytest.fixture(scope="module")
def pool() -> Iterator[ExtractPool]:
    limits = MemberLimits(members=50, unpacked_bytes=20_000_000, depth=2)
    registry = ExtractorRegistry(builtin_extractors())
    with ExtractPool(registry, workers=1, timeout_s=PATIENCE_S, memory_mb=1024, limits=limits) as pool:
        yield pool


def read(pool: ExtractPool, name: str, data: bytes) -> Document | LilbeeError:
    """Read a file; the parent neither waits long nor grows."""
    before, started = psutil.Process().memory_info().rss, time.monotonic()
    ((_, result),) = pool.extract([Source(collection="c", path=name, media_type="", data=data, size=len(data))])
    assert time.monotonic() - started < PATIENCE_S + 60
    assert psutil.Process().memory_info().rss - before < 200 * MEGABYTE
    if isinstance(result, LilbeeError):
        assert result.message
        assert result.code != "extract.failed"
    return result


def test_sheet_of_a_billion_cells(pool: ExtractPool) -> None:
    book = xlsx({"S": [["first"]]})
    with zipfile.ZipFile(io.BytesIO(book)) as package:
        parts = {name: package.read(name) for name in package.namelist()}
    sheet = parts["xl/worksheets/sheet1.xml"].decode()
    far = '<row r="1048576"><c r="XFD1048576" t="inlineStr"><is><t>last</t></is></c></row></sheetData>'
    parts["xl/worksheets/sheet1.xml"] = sheet.replace("</sheetData>", far).encode()
    found = read(pool, "a.xlsx", zipped(parts))
    assert isinstance(found, Document)
    assert found.text == "S\n\nfirst\n | last"
    assert found.segments[-1].label == "S!XFD1048576:XFD1048576"


def stream_pdf(body: bytes, *, rest: str = "") -> bytes:
    """Return a PDF whose page is drawn by a packed stream."""
    data = pdf([(11, "words")])
    packed = zlib.compress(body, 9)
    head, _, tail = data.partition(b"<</Length ")
    _, _, tail = tail.partition(b"endstream")
    return head + f"<</Filter/FlateDecode/Length {len(packed)}>>\nstream\n".encode() + packed + b"\nendstream" + tail


def test_pdf_whose_page_unpacks_to_gigabytes(pool: ExtractPool) -> None:
    bomb = stream_pdf(b"BT /F1 11 Tf 60 700 Td (x) Tj ET\n" * (30 * MEGABYTE // 33))
    packed = zlib.compress(zlib.compress(bytes(1500 * MEGABYTE), 1), 1)
    nested = bomb.replace(b"/Filter/FlateDecode", b"/Filter[/FlateDecode/FlateDecode]", 1)
    assert len(packed) < 2 * MEGABYTE
    for data in (bomb, nested):
        read(pool, "a.pdf", data)


def test_pdf_whose_pages_hold_each_other(pool: ExtractPool) -> None:
    loop = pdf([(11, "words")]).replace(b"/Kids[5 0 R]", b"/Kids[2 0 R]")
    assert isinstance(read(pool, "a.pdf", loop), ExtractError)


def test_pdf_that_claims_a_million_pages(pool: ExtractPool) -> None:
    many = pdf([(11, "words")]).replace(b"/Count 1/", b"/Count 999999/")
    read(pool, "a.pdf", many)


def test_archives_within_archives(pool: ExtractPool) -> None:
    inner = zipped({"deep.txt": b"too deep"})
    for _ in range(3):
        inner = zipped({"inner.zip": inner, "here.txt": b"words"})
    result = read(pool, "a.zip", inner)
    assert isinstance(result, Document)
    assert "too deep" not in result.text
    assert any("too deep inside" in warning for warning in result.warnings)


@pytest.mark.parametrize("how", ["sizes", "count", "lies", "gzip"])
def test_archives_that_unpack_to_too_much(pool: ExtractPool, how: str) -> None:
    match how:
        case "sizes":
            data, name = zipped({f"{n}.txt": b"a" * MEGABYTE * 5 for n in range(5)}), "a.zip"
        case "count":
            data, name = zipped({f"{n}.txt": b"a" for n in range(60)}), "a.zip"
        case "lies":
            bomb = bytearray(zipped({"a.txt": b"a" * MEGABYTE * 150}))
            at = bomb.rindex(b"PK\x01\x02") + 24
            bomb[at : at + 4] = (10).to_bytes(4, "little")
            data, name = bytes(bomb), "a.zip"
        case _:
            data, name = gzip.compress(bytes(MEGABYTE * 200)), "a.txt.gz"
    assert isinstance(read(pool, name, data), ExtractError)


def test_members_cannot_leave_their_archive(pool: ExtractPool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = ["../evil.md", "/abs.md", "..\\..\\win.md", "a/../../b.md", "C:\\c.md"]
    result = read(pool, "a.zip", zipped(dict.fromkeys(names, b"# words")))
    assert isinstance(result, Document)
    members = [one.member or "" for one in result.segments]
    assert len(members) == len(names)
    assert not any(member.startswith("/") or ".." in member.split("/") for member in members)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.html", "a.xml", "a.json", "a.yaml", "a.md", "a.rtf", "a.eml", "a.org"])
def test_deep_nesting(pool: ExtractPool, name: str) -> None:
    deep = {
        "a.html": b"<div>" * 200_000 + b"words",
        "a.xml": b"<a>" * 200_000 + b"words" + b"</a>" * 200_000,
        "a.json": b"[" * 500_000 + b"]" * 500_000,
        "a.yaml": b"".join(b" " * n + b"a:\n" for n in range(1500)),
        "a.md": b">" * 200_000 + b" words",
        "a.rtf": b"{\\rtf1 " + b"{" * 200_000 + b"words" + b"}" * 200_001,
        "a.eml": b"Content-Type: message/rfc822\n\n" * 5000 + b"Subject: x\n\nwords",
        "a.org": b"".join(b"*" * n + b" head\n" for n in range(1, 1500)),
    }
    read(pool, name, deep[name])


@pytest.mark.parametrize("name", ["a.pdf", "a.zip", "a.png", "a.docx", "a.html", "a.txt", "a.jpg"])
def test_files_that_are_two_things_at_once(pool: ExtractPool, name: str) -> None:
    polyglot = pdf([(11, "words of the page")]) + zipped({"a.txt": b"words of the member"})
    read(pool, name, polyglot)
    read(pool, name, b"GIF89a/*" + polyglot)


@pytest.mark.parametrize("name", ["a.xml", "a.svg", "a.fb2", "a.html"])
def test_entities_from_elsewhere_stay_elsewhere(pool: ExtractPool, name: str, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("entitysecretword")
    data = f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{secret}">]><a><p>{"words " * 50}&x;</p></a>'.encode()
    result = read(pool, name, data)
    assert isinstance(result, LilbeeError) or "entitysecretword" not in result.text


def test_endless_lines_and_rows(pool: ExtractPool) -> None:
    for name, data in (
        ("a.csv", b'"' + b"a," * 2_000_000),
        ("a.md", b"a " * 5_000_000),
        ("a.html", b"<p " + b"a=b " * 1_000_000 + b">words"),
        ("a.py", b"x = " + b"(" * 100_000),
        ("a.ics", b"A" * 5_000_000),
    ):
        read(pool, name, data)
