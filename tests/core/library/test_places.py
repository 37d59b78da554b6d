"""Every passage of every sample file stands where lilbee says it stands (R020, R026, R311)."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.store import Store
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import Chunk, DocumentRow

LIBRARY = Path(__file__).resolve().parents[3] / "examples" / "library"
VERBATIM = (".md", ".log", ".py", ".js", ".csv", ".json")
LINED = (*VERBATIM, ".html")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[DocumentRow, Chunk, str]]]:
    data = tmp_path_factory.mktemp("data")
    with Lilbee(LIBRARY, data_dir=data, embedder=HashEmbedder()) as bee:
        report = bee.sync()
        assert not report.failed
        rows = list(bee.documents(state="indexed"))
    with Store.open(data) as store:
        found = []
        for row in rows:
            text = store.text(row.id)
            assert text is not None
            found += [(row, chunk, text.text) for chunk in store.chunks_of(row.id)]
        yield found


def test_every_format_is_there(indexed: list[tuple[DocumentRow, Chunk, str]]) -> None:
    suffixes = {Path(row.path).suffix for row, _, _ in indexed}
    assert suffixes >= {".pdf", ".docx", ".epub", ".eml", ".xlsx", ".pptx", *LINED}


def test_chunks_are_slices_of_the_text(indexed: list[tuple[DocumentRow, Chunk, str]]) -> None:
    for _, chunk, text in indexed:
        assert chunk.text == text[chunk.span.start : chunk.span.end]


def test_lines_are_those_of_the_file(indexed: list[tuple[DocumentRow, Chunk, str]]) -> None:
    checked = 0
    for row, chunk, _ in indexed:
        if not row.path.endswith(LINED):
            continue
        first, last = chunk.location.line_start, chunk.location.line_end
        assert first is not None
        assert last is not None
        lines = (LIBRARY / row.path).read_text(encoding="utf-8").split("\n")[first - 1 : last]
        if row.path.endswith(VERBATIM):
            assert chunk.text in "\n".join(lines), chunk
            assert chunk.text.split("\n")[0] in lines[0]
        else:
            words = chunk.text.split()
            assert words[0].strip("#|*-. ")[:4] in " ".join(lines), chunk
        checked += 1
    assert checked > 40


def test_pages_are_those_that_another_tool_reads(indexed: list[tuple[DocumentRow, Chunk, str]]) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("pdftotext (poppler-utils) is not installed")
    pages: dict[int, str] = {}
    checked = 0
    for row, chunk, _ in indexed:
        if not row.path.endswith(".pdf"):
            continue
        first, last = chunk.location.page_start, chunk.location.page_end
        assert first is not None
        assert last is not None
        for number in range(first, last + 1):
            if number not in pages:
                pages[number] = _squeezed(_pdftotext(LIBRARY / row.path, number))
        whole = "".join(pages[number] for number in range(first, last + 1))
        # A chunk over two pages has the folio of the first one in its middle; its ends name the pages.
        assert _squeezed(chunk.text[:60]) in pages[first], chunk
        assert _squeezed(chunk.text[-60:]) in pages[last], chunk
        if first == last:
            assert _squeezed(chunk.text) in whole, chunk
        checked += 1
    assert checked >= 6


def _pdftotext(path: Path, page: int) -> str:
    command = ["pdftotext", "-f", str(page), "-l", str(page), "-layout", str(path), "-"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def _squeezed(text: str) -> str:
    return "".join(text.split())
