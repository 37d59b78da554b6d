"""Citations of hits that several chunks were joined to: each names the chunk that holds the words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lilbee_core.analysis import Analyzer
from lilbee_core.answer import ExtractiveAnswerer
from lilbee_core.answer._sentences import cite_span, sentences_of
from lilbee_core.testing import a_chunk
from lilbee_core.types import Hit, Location, Query, SearchResult, Span

TEXT = "Bees find home by the sun.\nThe queen lives four years.\nWorkers live six weeks in summer.\n"


def joined() -> Hit:
    """Return a hit of two chunks that share the middle line."""
    cuts = ((0, TEXT.index("\nWorkers")), (TEXT.index("The queen"), len(TEXT) - 1))
    parts = [
        a_chunk(
            TEXT[start:end],
            id=f"chunk-{at}",
            document_id="hive",
            span=Span(start, end),
            ordinal=at,
            location=Location(line_start=11 + at, line_end=12 + at),
            headings=(f"Part {at}",),
        )
        for at, (start, end) in enumerate(cuts)
    ]
    whole = replace(
        parts[0], text=TEXT[:-1], span=Span(0, len(TEXT) - 1), location=Location(line_start=11, line_end=13)
    )
    return Hit(chunk=whole, score=1.0, parts=tuple(parts))


@pytest.mark.parametrize(
    ("question", "quote", "chunk", "line"),
    [
        ("What is the way home?", "Bees find home by the sun.", "chunk-0", 11),
        ("How old is the queen?", "The queen lives four years.", "chunk-0", 12),
        ("How long do workers live in summer?", "Workers live six weeks in summer.", "chunk-1", 13),
    ],
)
def test_the_chunk_that_holds_the_sentence_is_cited(question, quote, chunk, line):
    hit = joined()
    result = SearchResult(query=Query(text=question), hits=(hit,), found=True)
    (cited, *_) = ExtractiveAnswerer(Analyzer()).answer(question, result).citations
    owner = next(part for part in hit.parts if part.id == cited.chunk_id)

    assert (cited.quote, cited.chunk_id) == (quote, chunk)
    assert cited.quote_span.cut(owner.text) == quote
    assert (cited.line_start, cited.line_end) == (line, line)


def test_a_quote_over_both_has_its_place_in_the_file_alone():
    hit = joined()
    cited = cite_span(hit, Span(0, len(hit.text)), marker=1)

    assert cited.quote == hit.text
    assert cited.quote_span is None
    assert (cited.line_start, cited.line_end) == (11, 13)


def test_headings_of_all_chunks_are_no_sentences():
    hit = joined()
    text = "Part 1\nThe queen is old and wise."
    titled = replace(hit, chunk=replace(hit.chunk, text=text))

    assert [one.text for one in sentences_of(titled, order=0, max_chars=100)] == ["The queen is old and wise."]
