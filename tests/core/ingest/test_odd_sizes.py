"""Very many files, a very long log, a very long line, colors of a terminal: read whole and found, over a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core.types import Chunk
from tests.core.ingest.conftest import a_library


def chunks_of(bee: object, path: str) -> tuple[Chunk, ...]:
    store = bee._parts.store  # type: ignore[attr-defined]
    (row,) = (row for row in store.rows() if row.path == path)
    chunks: tuple[Chunk, ...] = store.chunks_of(row.id)
    assert row.chunks == len(chunks)
    return chunks


def cover(chunks: tuple[Chunk, ...], text: str) -> bool:
    """Say whether the chunks are slices of the text and leave out nothing but white space."""
    end = 0
    for chunk in chunks:
        if chunk.text != text[chunk.span.start : chunk.span.end] or text[end : chunk.span.start].strip():
            return False
        end = max(end, chunk.span.end)
    return not text[end:].strip()


@pytest.mark.slow
def test_three_thousand_tiny_files(tmp_path: Path) -> None:
    for number in range(3_000):
        path = tmp_path / f"{number // 100}" / f"{number}.txt"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"berth {number} holds boat{number * 7919 % 10_007}")
    with a_library(tmp_path) as bee:
        report = bee.sync()
        assert (report.added, report.chunks, report.owed) == (3_000, 3_000, 0)
        assert bee.search(f"term:boat{1234 * 7919 % 10_007}")[0].path == "12/1234.txt"
        assert bee.sync().unchanged == 3_000
        assert bee._parts.store.check() == ()


@pytest.mark.slow
def test_a_log_of_five_megabytes(tmp_path: Path) -> None:
    lines = [f"2026-03-01 harbor[{n}] buoy{n * 7919 % 1_000_003} was lit" for n in range(120_000)]
    text = "\n".join(lines)
    assert len(text) > 5_000_000
    (tmp_path / "harbor.log").write_text(text)
    with a_library(tmp_path) as bee:
        assert bee.sync().added == 1
        chunks = chunks_of(bee, "harbor.log")
        assert len(chunks) > 2_048, "it was not written in parts"
        assert cover(chunks, text)
        hit = bee.search(f"term:buoy{77_777 * 7919 % 1_000_003}")[0]
        assert hit.chunk.location.line_start is not None
        assert hit.chunk.location.line_end is not None
        assert hit.chunk.location.line_start <= 77_778 <= hit.chunk.location.line_end
        assert bee.get_text("harbor.log", "120000").text == lines[-1]


@pytest.mark.slow
def test_a_line_of_two_megabytes(tmp_path: Path) -> None:
    text = ", ".join(f"buoy{n * 7919 % 1_000_003} lit" for n in range(130_000))
    assert len(text) > 1_900_000
    (tmp_path / "one.txt").write_text(text)
    with a_library(tmp_path) as bee:
        assert bee.sync().added == 1
        chunks = chunks_of(bee, "one.txt")
        assert cover(chunks, text)
        assert max(len(chunk.text) for chunk in chunks) < 10_000
        assert {(chunk.location.line_start, chunk.location.line_end) for chunk in chunks} == {(1, 1)}
        for number in (0, 65_000, 129_999):
            word = f"buoy{number * 7919 % 1_000_003}"
            assert word in bee.search(f"term:{word}")[0].chunk.text


@pytest.mark.slow
def test_a_word_of_two_megabytes(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("heron " + "x" * 2_000_000 + " godwit")
    with a_library(tmp_path) as bee:
        assert bee.sync().added == 1
        assert bee.search("term:godwit")[0].path == "one.txt"


def test_words_in_the_colors_of_a_terminal_are_found_and_places_stay(tmp_path: Path) -> None:
    text = "\x1b]0;hive\x07\x1b[1;32mINFO\x1b[0m started\n\x1b[31mERROR\x1b[0m the \x1b[4mheron\x1b[24m left\n"
    (tmp_path / "colors.log").write_text(text)
    with a_library(tmp_path) as bee:
        assert bee.sync().added == 1
        assert bee.get_text("colors.log").text == text
        for query in ("term:ERROR", "term:heron", '"the heron left"'):
            chunk = bee.search(query)[0].chunk
            assert chunk.text == text[chunk.span.start : chunk.span.end]
        assert not bee.search("term:31m").hits
