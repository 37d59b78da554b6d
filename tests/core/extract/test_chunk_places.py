"""Every chunk of every awkward file stands where it says: as a slice, in its lines, on its page (S04).

Pages are read by pdftotext of poppler, lines by nothing but the file's own line breaks: neither shares code with the
readers.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from lilbee_core.chunking import TokenChunker
from lilbee_core.extract import ExtractorRegistry, ExtractPool, builtin_extractors
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Chunk, Document, DocumentId, Source

FOLDER = Path(os.environ.get("LILBEE_EVAL_DIR", "")) / "files"
MARKUP = ("html", "xml")
# What attributes hold is read too where a browser shows it.
SHOWN = re.compile(r"(?:alt|placeholder|title|value)=\"([^\"]*)\"")
# Letters of Arabic are stored in the order and the forms in which they are drawn; the two programs join and part words
# differently. See `test_real_files` for what must be found in them.
DRAWN = ("rtl_",)
WORD = re.compile(r"\w+")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not os.environ.get("LILBEE_EVAL_DIR") or not (FOLDER / "expected.json").is_file(),
        reason="LILBEE_EVAL_DIR names no folder with files/expected.json",
    ),
]

Cut = tuple[Document, tuple[Chunk, ...]]


@pytest.fixture(scope="module")
def cut() -> Iterator[Mapping[str, Cut]]:
    """All files that can be read, cut into small chunks."""
    names = sorted(str(one.relative_to(FOLDER)) for one in FOLDER.rglob("*") if one.is_file())
    sources = [Source(collection="c", path=name, media_type="", file=str(FOLDER / name)) for name in names]
    chunker = TokenChunker(EstimatedTokens(), chunk_size=60, overlap=10)
    with ExtractPool(ExtractorRegistry(builtin_extractors()), workers=2, timeout_s=120) as pool:
        yield {
            source.path: (result, chunker.split(result, DocumentId(source.path)))
            for source, result in pool.extract(sources)
            if isinstance(result, Document)
        }


def letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char.isalnum())


def words(text: str) -> list[str]:
    return [letters(word) for word in WORD.findall(unicodedata.normalize("NFKC", text)) if letters(word)]


def share_in(text: str, place: str) -> float:
    """Return how many of a text's words a place holds; spaces and hyphens of the place do not count."""
    held, found = letters(place), words(text)
    return sum(word in held for word in found) / len(found) if found else 1.0


def test_every_chunk_is_a_slice(cut: Mapping[str, Cut]) -> None:
    assert len(cut) > 55
    for name, (document, chunks) in cut.items():
        assert chunks or not document.text.strip(), name
        assert all(one.text == one.span.cut(document.text) for one in chunks), name


def test_every_chunk_stands_in_its_lines(cut: Mapping[str, Cut]) -> None:
    checked = 0
    for name, (document, chunks) in cut.items():
        if not chunks or chunks[0].location.line_start is None:
            continue
        lines = file_lines(name, str(document.metadata.get("encoding", "utf-8")))
        for chunk in chunks:
            first, last = chunk.location.line_start, chunk.location.line_end
            assert first is not None
            assert last is not None
            assert 1 <= first <= last <= len(lines), name
            place = "\n".join(lines[first - 1 : last])
            said = chunk.text
            if name.split("/")[0] in MARKUP:
                # Numbers of lists are counted, not written.
                said = re.sub(r"^ *\d+\. ", "", said, flags=re.MULTILINE)
                place = html.unescape(re.sub(r"<[^>]*>", lambda tag: f" {' '.join(SHOWN.findall(tag[0]))} ", place))
            assert share_in(said, place) > 0.99, (name, chunk.location, chunk.text)
            checked += 1
    assert checked > 300


def file_lines(name: str, encoding: str) -> list[str]:
    data = (FOLDER / name).read_bytes()
    for codec in ("utf-32" if data[:4] == b"\xff\xfe\0\0" else encoding, "utf-8", "utf-16", "cp1252"):
        try:
            return re.split(r"\r\n|\r|\n", data.decode(codec))
        except UnicodeDecodeError:
            continue
    raise AssertionError(name)


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext (poppler-utils) is not installed")
def test_every_chunk_stands_on_its_page(cut: Mapping[str, Cut]) -> None:
    @cache
    def page(name: str, number: int) -> str:
        command = ["pdftotext", "-f", str(number), "-l", str(number), str(FOLDER / name), "-"]
        return subprocess.run(command, capture_output=True, check=True).stdout.decode("utf-8", "replace")

    checked = 0
    for name, (_, chunks) in cut.items():
        if not name.endswith(".pdf") or name.split("/")[-1].startswith(DRAWN):
            continue
        for chunk in chunks:
            first, last = chunk.location.page_start, chunk.location.page_end
            assert first is not None
            assert last is not None
            place = "\n".join(page(name, number) for number in range(first, last + 1))
            assert share_in(chunk.text, place) > 0.9, (name, chunk.location, chunk.text)
            assert all(first <= box.page <= last for box in chunk.location.boxes), name
            assert chunk.location.boxes, name
            checked += 1
    assert checked > 100
