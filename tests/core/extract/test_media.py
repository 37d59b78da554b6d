"""What kind of file it is."""

from __future__ import annotations

import random

import pytest

from lilbee_core.extract import ExtractorRegistry, builtin_extractors, detect_media_type
from tests.core.extract._files import docx, odf, paragraph, pptx, shape, xlsx, zipped

OOXML = "application/vnd.openxmlformats-officedocument."
TEXT = b"Some words of prose.\n"
RANDOM = random.Random(7).randbytes(2048)
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)


@pytest.mark.parametrize(
    ("path", "media_type"),
    [
        ("a/b.txt", "text/plain"),
        ("b.TXT", "text/plain"),
        ("app.log", "text/plain"),
        ("film.srt", "text/plain"),
        ("film.vtt", "text/vtt"),
        ("README", "text/plain"),
        ("README.Debian", "text/plain"),
        ("LICENSE", "text/plain"),
        ("LICENSE-MIT", "text/plain"),
        (".gitignore", "text/plain"),
        ("notes.weird", "text/plain"),
        ("no-ending", "text/plain"),
        ("a.md", "text/markdown"),
        ("README.md", "text/markdown"),
        ("a.rst", "text/x-rst"),
        ("a.tex", "text/x-tex"),
        ("a.csv", "text/csv"),
        ("a.tsv", "text/tab-separated-values"),
        ("a.json", "application/json"),
        ("a.jsonl", "application/jsonl"),
        ("a.yml", "application/yaml"),
        ("a.toml", "application/toml"),
        ("a.xml", "application/xml"),
        ("a.svg", "image/svg+xml"),
        ("a.htm", "text/html"),
        ("a.eml", "message/rfc822"),
        ("a.ipynb", "application/x-ipynb+json"),
        ("a.py", "text/x-python"),
        ("Makefile", "text/x-make"),
        ("src/CMakeLists.txt", "text/x-cmake"),
        ("Dockerfile", "text/x-dockerfile"),
        ("a.pdf", "application/pdf"),
        ("a.docx", f"{OOXML}wordprocessingml.document"),
        ("a.odp", "application/vnd.oasis.opendocument.presentation"),
    ],
)
def test_names_tell(path: str, media_type: str) -> None:
    assert detect_media_type(path, TEXT) == media_type


@pytest.mark.parametrize(
    ("path", "head", "media_type"),
    [
        ("run", b"#!/usr/bin/env python3\nprint(1)\n", "text/x-python"),
        ("page", b"<!DOCTYPE html><html><body>x", "text/html"),
        ("page.weird", b"\xef\xbb\xbf<?xml version='1.0'?><a/>", "application/xml"),
        ("report", b"%PDF-1.7\n", "application/pdf"),
        ("report.txt", b"%PDF-1.7\n", "application/pdf"),
        ("letter", b"{\\rtf1 x}", "application/rtf"),
        ("letter.doc", b"{\\rtf1 x}", "application/rtf"),
        ("table.xls", b"<html><table><tr><td>1", "text/html"),
        ("table.xls", b"a\tb\n1\t2\n", "text/plain"),
        ("old.doc", OLE, "application/msword"),
        ("locked.docx", OLE, f"{OOXML}wordprocessingml.document"),
        ("picture", b"\x89PNG\r\n\x1a\n\x00", "image/png"),
        ("picture.txt", b"\xff\xd8\xff\xe0", "image/jpeg"),
        ("picture", b"RIFF\x00\x00\x00\x00WEBP", "image/webp"),
        ("a", docx(paragraph("x")), f"{OOXML}wordprocessingml.document"),
        ("a.doc", docx(paragraph("x")), f"{OOXML}wordprocessingml.document"),
        ("a", pptx([shape("x")]), "application/zip"),
        ("a", xlsx({"S": [["x"]]}), f"{OOXML}spreadsheetml.sheet"),
        ("a", odf("<text:p>x</text:p>"), "application/vnd.oasis.opendocument.text"),
        ("a", zipped({"a.txt": "x"}), "application/zip"),
        ("data.txt", RANDOM, "application/octet-stream"),
        ("a.md", RANDOM, "application/octet-stream"),
        ("a.py", RANDOM, "application/octet-stream"),
        ("blob", RANDOM, "application/octet-stream"),
        ("core", b"\x7fELF" + bytes(100), "application/octet-stream"),
        ("a.txt", "größer".encode("utf-16"), "text/plain"),
        ("a.txt", "plain words\r\n".encode("utf-16-le"), "text/plain"),
        ("a.txt", "слово за словом\n".encode("cp1251"), "text/plain"),
        ("a.txt", b"", "text/plain"),
        ("a.pdf", b"", "application/pdf"),
        ("a.pdf", RANDOM, "application/pdf"),
        ("colors.log", b"\x1b[31mred\x1b[0m text\n" * 3, "text/plain"),
        ("title.log", b"\x1b]0;hive\x07$ ls\nfile\n", "text/plain"),
    ],
)
def test_first_bytes_tell(path: str, head: bytes, media_type: str) -> None:
    assert detect_media_type(path, head) == media_type


def test_random_bytes_are_no_text_whatever_their_length() -> None:
    for seed in range(200):
        head = random.Random(seed).randbytes(64 + seed * 20)
        assert detect_media_type("a.txt", head) == "application/octet-stream", seed


def test_every_known_type_but_a_few_has_a_reader() -> None:
    from lilbee_core.extract import _media

    registry = ExtractorRegistry(builtin_extractors())
    without = {media for media in {*_media._TEXT.values(), *_media._PACKED.values()} if not registry.choose("a", media)}
    assert without == set()
