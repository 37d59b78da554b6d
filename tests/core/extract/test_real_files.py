"""Awkward files from the world: what must be read is read, and on the right page."""

from __future__ import annotations

import json
import os
import shutil
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.errors import LilbeeError
from lilbee_core.extract import ExtractorRegistry, ExtractPool, Recognizer, builtin_extractors
from lilbee_core.extract._tesseract import Tesseract
from lilbee_core.types import Document, Source

FOLDER = Path(os.environ.get("LILBEE_EVAL_DIR", "")) / "files"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("LILBEE_EVAL_DIR") or not (FOLDER / "expected.json").is_file(),
        reason="LILBEE_EVAL_DIR names no folder with files/expected.json",
    ),
]


def letters(text: str) -> str:
    """Return only letters and digits, so that line breaks, hyphens and marks do not count."""
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


@pytest.fixture(scope="module")
def expected() -> dict[str, dict[str, Any]]:
    return json.loads((FOLDER / "expected.json").read_text("utf-8"))


@pytest.fixture(scope="module")
def results(expected: dict[str, dict[str, Any]]) -> Iterator[dict[str, Document | LilbeeError]]:
    sources = [Source(collection="c", path=name, media_type="", file=str(FOLDER / name)) for name in expected]
    with ExtractPool(ExtractorRegistry(builtin_extractors()), workers=2, timeout_s=120) as pool:
        yield {source.path: result for source, result in pool.extract(sources)}


def trouble(result: Document | LilbeeError, wanted: dict[str, Any]) -> str | None:
    text = letters(result.text) if isinstance(result, Document) else ""
    error = result.message if isinstance(result, LilbeeError) else ""
    missing = [words for words in wanted.get("must", ()) if letters(words) not in text]
    match wanted["expect"]:
        case "error":
            return None if error else "it was read"
        case "empty":
            return None if error or len(text) <= 20 else "text came out of nothing"
        case "text" if wanted.get("ocr"):
            return None if error or not missing else "words are missing"
        case "text":
            return error or (f"missing: {missing}" if missing else None)
        case _:
            return None


def test_what_must_be_read_is_read(
    results: dict[str, Document | LilbeeError], expected: dict[str, dict[str, Any]]
) -> None:
    found = {name: why for name, wanted in expected.items() if (why := trouble(results[name], wanted))}
    assert found == {}


def test_words_stand_on_their_page(
    results: dict[str, Document | LilbeeError], expected: dict[str, dict[str, Any]]
) -> None:
    checked = 0
    wrong: dict[str, object] = {}
    for name, wanted in expected.items():
        document = results[name]
        if not isinstance(document, Document):
            continue
        for words, pages in (wanted.get("pages") or {}).items():
            checked += 1
            found = [one.page for one in document.segments if letters(words) in letters(one.span.cut(document.text))]
            if not set(pages if isinstance(pages, list) else [pages]) & set(found):
                wrong[f"{name}: {words}"] = (found, pages)
    assert checked
    assert wrong == {}


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_scans_are_recognized(expected: dict[str, dict[str, Any]]) -> None:
    scans = {name: wanted for name, wanted in expected.items() if wanted.get("ocr")}
    assert scans
    sources = [Source(collection="c", path=name, media_type="", file=str(FOLDER / name)) for name in scans]
    recognizer = Recognizer(lambda: [Tesseract(shutil.which("tesseract") or "")])
    with ExtractPool(ExtractorRegistry(builtin_extractors()), workers=2, recognizer=recognizer) as pool:
        found = {source.path: result for source, result in pool.extract(sources)}
    wrong = {name: why for name, wanted in scans.items() if (why := unread(found[name], wanted["must"]))}
    assert wrong == {}


def unread(result: Document | LilbeeError, must: list[str]) -> str | None:
    if isinstance(result, LilbeeError):
        return result.message
    missing = [words for words in must if letters(words) not in letters(result.text)]
    return f"missing: {missing}" if missing else None
