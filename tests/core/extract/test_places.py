"""Every chunk is a slice of its text and stands where it says: lines in the file, pages by an independent reader."""

from __future__ import annotations

import os
import shutil
import subprocess
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from lilbee_core.chunking import TokenChunker
from lilbee_core.errors import LilbeeError
from lilbee_core.extract import ExtractorRegistry, ExtractPool, builtin_extractors
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Chunk, Document, DocumentId, Source

SAMPLES = Path(__file__).resolve().parents[3] / "examples" / "library"
EVALUATION = Path(os.environ.get("LILBEE_EVAL_DIR", "")) / "files"
PDF = "application/pdf"
_VERBATIM = 0.9
"""Share of a chunk's words that the other reader must find on its pages; the two join hyphens and marks differently."""
_ODD = {"rtl_arabic_1.pdf", "rtl_arabic_2.pdf", "rtl_habibi_rotated.pdf"}
"""The other reader gives these letters in another form or order."""


def folders() -> list[object]:
    here = os.environ.get("LILBEE_EVAL_DIR") and EVALUATION.is_dir()
    absent = pytest.mark.skipif(not here, reason="LILBEE_EVAL_DIR names no folder with files/")
    return [
        pytest.param(SAMPLES, id="samples"),
        pytest.param(EVALUATION, id="evaluation", marks=[absent, pytest.mark.slow]),
    ]


@lru_cache(maxsize=2)
def read(folder: Path) -> tuple[tuple[Path, Document, tuple[Chunk, ...]], ...]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and ".lilbee" not in path.parts)
    sources = [
        Source(collection="c", path=str(path.relative_to(folder)), media_type="", file=str(path)) for path in files
    ]
    chunker = TokenChunker(EstimatedTokens(), chunk_size=200, overlap=40)
    found: list[tuple[Path, Document, tuple[Chunk, ...]]] = []
    with ExtractPool(ExtractorRegistry(builtin_extractors()), workers=2, timeout_s=120) as pool:
        for source, result in pool.extract(sources):
            if not isinstance(result, LilbeeError):
                found.append((folder / source.path, result, chunker.split(result, DocumentId(source.path))))
    return tuple(found)


def chunks_of(folder: Path, media_type: str = "") -> Iterator[tuple[Path, Document, Chunk]]:
    for path, document, chunks in read(folder):
        if media_type in ("", document.media_type):
            for chunk in chunks:
                yield path, document, chunk


@pytest.mark.parametrize("folder", folders())
def test_every_chunk_is_the_slice_that_it_names(folder: Path) -> None:
    count = 0
    for path, document, chunk in chunks_of(folder):
        count += 1
        assert chunk.text == document.text[chunk.span.start : chunk.span.end], path
    assert count > 20


@pytest.mark.parametrize("folder", folders())
def test_the_lines_of_a_chunk_hold_its_words_in_the_file(folder: Path) -> None:
    """Texts that stand as they are: each line of the chunk is found in the named lines of the file."""
    count = 0
    for path, document, chunk in chunks_of(folder):
        place = chunk.location
        if not document.has_lines or place.line_start is None or place.line_end is None:
            continue
        if document.metadata.get("encoding", "utf-8") != "utf-8" or document.line_map is not None:
            continue
        count += 1
        lines = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n").split("\n")
        named = "\n".join(lines[place.line_start - 1 : place.line_end])
        assert chunk.text in named, (path, place)
    assert count > 10


@pytest.mark.parametrize("folder", folders())
def test_chunks_of_mapped_texts_name_lines_of_the_file(folder: Path) -> None:
    """Texts whose marks are left out: the words of the chunk stand in the named lines, in whatever marks."""
    wrong: list[object] = []
    for path, document, chunk in chunks_of(folder):
        place = chunk.location
        if (
            document.line_map is None
            or place.line_start is None
            or document.media_type.startswith("application/x-ipynb")
        ):
            continue
        if document.metadata.get("encoding", "utf-8") != "utf-8" or not path.read_bytes().isascii():
            continue
        named = "\n".join(path.read_text("utf-8").split("\n")[place.line_start - 1 : place.line_end])
        words = [word for word in chunk.text.split() if word.isalpha() and word.isascii() and len(word) > 3]
        missing = [word for word in words if word not in named]
        if len(missing) > len(words) // 10:
            wrong.append((path.name, place.line_start, place.line_end, missing[:5]))
    assert wrong == []


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not installed")
@pytest.mark.parametrize("folder", folders())
def test_the_page_of_a_chunk_holds_its_words_for_an_independent_reader(folder: Path) -> None:
    count = 0
    wrong: list[object] = []
    for path, _, chunk in chunks_of(folder, PDF):
        place = chunk.location
        assert place.page_start is not None, path
        assert place.page_end is not None, path
        assert place.boxes, path
        assert all(place.page_start <= box.page <= place.page_end for box in place.boxes)
        if path.name in _ODD:
            continue
        count += 1
        page = letters(page_text(path, place.page_start, place.page_end))
        words = [letters(word) for word in chunk.text.split()]
        words = [word for word in words if len(word) > 2]
        found = sum(word in page for word in words)
        if found < _VERBATIM * len(words):
            wrong.append((path.name, place.page_start, found, len(words), [w for w in words if w not in page][:8]))
    assert count > 5
    assert wrong == []


@pytest.mark.skipif(shutil.which("pdftotext") is None, reason="pdftotext is not installed")
@pytest.mark.parametrize("folder", folders())
def test_the_box_of_a_chunk_holds_its_words_for_an_independent_reader(folder: Path) -> None:
    """The other reader, shown the boxes alone, finds the words."""
    checked = good = 0
    for path, _, chunk in chunks_of(folder, PDF):
        if path.name in _ODD or chunk.location.page_start != chunk.location.page_end:
            continue
        words = [letters(word) for word in chunk.text.split() if len(letters(word)) > 3]
        if len(words) < 5:
            continue
        height = page_height(path, chunk.location.page_start or 1)
        seen = letters(
            " ".join(
                box_text(path, box.page, box.left, height - box.top, box.right - box.left, box.top - box.bottom)
                for box in chunk.location.boxes
            )
        )
        checked += 1
        good += sum(word in seen for word in words) >= 0.8 * len(words)
    assert checked > 5
    assert good >= 0.95 * checked, (good, checked)


def letters(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def pdftotext(*arguments: str) -> str:
    done = subprocess.run(["pdftotext", "-enc", "UTF-8", *arguments, "-"], capture_output=True, check=True, timeout=60)
    return done.stdout.decode("utf-8", "replace")


@lru_cache(maxsize=400)
def page_text(path: Path, first: int, last: int) -> str:
    return pdftotext("-f", str(first), "-l", str(last), str(path))


@lru_cache(maxsize=400)
def page_height(path: Path, page: int) -> float:
    from lilbee_core.extract._layout import opened, page_size

    with opened(path.read_bytes(), None) as document:
        return page_size(document, page)[1]


def box_text(path: Path, page: int, left: float, top: float, width: float, height: float) -> str:
    margin = 3
    area = ("-x", left - margin, "-y", top - margin, "-W", width + 2 * margin, "-H", height + 2 * margin)
    shown = [str(max(0, round(one))) if isinstance(one, float) else one for one in area]
    return pdftotext("-f", str(page), "-l", str(page), "-r", "72", *map(str, shown), str(path))
