"""What is embedded beside a chunk's text (R069)."""

from __future__ import annotations

from lilbee_core.chunking import context_line, embedding_input, with_context
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Chunk, ChunkId, DocumentId, Span


def a_chunk(**fields: object) -> Chunk:
    values: dict[str, object] = {
        "id": ChunkId("c"), "document_id": DocumentId("d"), "collection": "notes", "path": "a.md", "ordinal": 0,
        "text": "Pip it.", "span": Span(0, 7), **fields,
    }  # fmt: skip
    return Chunk(**values)  # type: ignore[arg-type]


def test_context_stands_above_the_text() -> None:
    chunk = a_chunk(title="Guide", headings=("Setup", "Install"), symbol="main")
    assert embedding_input(chunk, EstimatedTokens()) == "Guide > Setup > Install > main\n\nPip it."


def test_a_title_that_is_also_a_heading_is_said_once() -> None:
    chunk = a_chunk(title="Setup", headings=("Setup", "Install"))
    assert embedding_input(chunk, EstimatedTokens()) == "Setup > Install\n\nPip it."


def test_without_context_the_text_stands_alone() -> None:
    assert embedding_input(a_chunk(), EstimatedTokens()) == "Pip it."
    assert with_context(("  ", "\n"), "Pip it.", EstimatedTokens()) == "Pip it."


def test_outer_headings_go_first_when_there_are_too_many_tokens() -> None:
    parts = ("Guide", *(f"a rather long heading number {number} of many" for number in range(9)), "the last one")
    line = context_line(parts, EstimatedTokens())
    assert EstimatedTokens().count_tokens(line) <= 48
    assert line.startswith("Guide > ")
    assert line.endswith(" > the last one")
    assert "number 0" not in line


def test_a_single_long_title_is_cut() -> None:
    line = context_line(("x" * 1000,), EstimatedTokens(), 10)
    assert EstimatedTokens().count_tokens(line) == 10


def test_line_breaks_do_not_break_the_line() -> None:
    assert context_line(("A\nB", " C "), EstimatedTokens()) == "A B > C"
