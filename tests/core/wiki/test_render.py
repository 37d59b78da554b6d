"""Which statements a page has room for, and citations that keep their numbers (R229)."""

from __future__ import annotations

import pytest

from lilbee_core.types import Chunk, ChunkId, DocumentId, Span
from lilbee_core.wiki._entries import Entry, Statement
from lilbee_core.wiki._links import Names
from lilbee_core.wiki._markdown import parsed, rendered
from lilbee_core.wiki._quotes import Quote
from lilbee_core.wiki._render import Site, arranged, page_of


def said(document: str, number: int) -> Statement:
    text = f"Sentence {number} of {document} stands here."
    chunk = Chunk(
        id=ChunkId(f"{document}{number}"), document_id=DocumentId(document), collection="notes", path=f"{document}.md",
        ordinal=number, text=text, span=Span(0, len(text)),
    )  # fmt: skip
    return Statement(text, (Quote(chunk, Span(0, len(text))),))


LOUD = [said("loud", number) for number in range(6)]
QUIET = [said("quiet", number) for number in range(2)]


@pytest.mark.parametrize(
    ("ranked", "most", "kept"),
    [
        (["quiet0", "loud5", "loud1"], 12, ["quiet0", "quiet1", *(f"loud{n}" for n in range(6))]),
        (["quiet0", "loud5", "loud1", "loud3", "loud0"], 4, ["quiet0", "loud1", "loud3", "loud5"]),
        (["loud5", "loud1", "loud3", "loud0", "quiet1"], 4, ["loud1", "loud3", "loud5", "quiet1"]),
        ([], 2, ["loud0", "loud1"]),
    ],
)
def test_the_best_passages_are_taken_and_no_document_drowns_the_others(
    ranked: list[str], most: int, kept: list[str]
) -> None:
    ranks = {name: at for at, name in enumerate(ranked)}
    found = arranged([*LOUD, *QUIET], ranks, most=most, per_source=3)
    assert [one.quotes[0].chunk.id for one in found] == kept


def test_citations_keep_their_numbers_when_others_come_and_go() -> None:
    site = Site(titles={"k": "Kent"}, slugs={"k": "kent"}, open={"k": "kent"}, names=Names({}))

    def page(*statements: Statement, stored: str | None = None) -> str:
        entry = Entry(key="k", title="Kent", kind="concept", statements=statements, by="model")
        return rendered(page_of(entry, site, None if stored is None else parsed("kent", "concept", stored)))

    first = page(LOUD[0], LOUD[1], QUIET[0])
    later = page(LOUD[2], LOUD[1], QUIET[0], stored=first)
    assert (
        "loud stands here. [^1]\nSentence 1 of loud stands here. [^2]\n\nSentence 0 of quiet stands here. [^3]" in first
    )
    assert "Sentence 2 of loud stands here. [^4]\nSentence 1 of loud stands here. [^2]" in later
    assert [line[:5] for line in later.splitlines() if line.startswith("[^")] == ["[^2]:", "[^3]:", "[^4]:"]
    assert page(LOUD[2], LOUD[1], QUIET[0], stored=later) == later
