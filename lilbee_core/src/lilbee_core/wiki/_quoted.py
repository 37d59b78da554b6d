"""Pages of quoted sentences, without a model. Nothing in them is anybody's but the documents'."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from lilbee_core.types import Chunk, ChunkId, Community, Concept
from lilbee_core.wiki._entries import (
    LEAST_CHUNKS,
    LEAST_DOCUMENTS,
    ConceptMap,
    Entry,
    Passages,
    Statement,
    kind_of,
    topic_key,
)
from lilbee_core.wiki._quotes import Quote, best_quotes

_MOST_CHUNKS = 24
_MOST_QUOTES = 8
_MOST_RELATED = 12
LEAST_MEMBERS = 3
"""Things of a topic that need something to be said of them, for the topic to get a page."""


def quoted_entries(
    graph: ConceptMap, passages: Passages, *, most: int, without: Collection[str] = ()
) -> dict[str, Entry]:
    """Return an entry for each thing that several documents speak of, with its best sentences.

    Args:
        graph: What the documents talk about.
        passages: Reads passages.
        most: Most entries, those that most passages speak of.
        without: Things that have a page already; they count, and nothing is looked for.
    """
    chosen = {one.id: (one, chunks) for one, chunks in _chosen(graph, passages, most, without)}
    related = {id_: graph.neighbors(id_, limit=_MOST_RELATED) for id_ in chosen if id_ not in without}
    entries: dict[str, Entry] = {}
    for id_, (concept, chunks) in chosen.items():
        if id_ in without:
            continue
        others = [chosen[one.target][0].label for one in related[id_] if one.target in chosen]
        found = best_quotes(chunks, [concept.label, *concept.aliases], others, most=_MOST_QUOTES)
        if found:
            entries[id_] = Entry(
                key=id_,
                title=concept.label,
                kind=kind_of(concept),
                aliases=concept.aliases,
                statements=tuple(Statement(quote.text, (quote,)) for quote in found),
                near=tuple(one.target for one in related[id_]),
            )
    return entries


def overviews(communities: Sequence[Community], entries: Mapping[str, Entry]) -> Iterator[tuple[Community, Entry]]:
    """Yield for each topic with enough of such things a sentence about each of them."""
    for community in communities:
        known = _told_once([entries[id_] for id_ in community.concepts if id_ in entries])
        if len(known) >= LEAST_MEMBERS:
            names = ", ".join(entries[one.under].title for one in known[:3])
            entry = Entry(
                key=topic_key(community),
                title=f"Topic: {names}",
                kind="synthesis",
                statements=known,
                near=tuple(one.under for one in known),
            )
            yield community, entry


def _chosen(
    graph: ConceptMap, passages: Passages, most: int, without: Collection[str]
) -> Iterator[tuple[Concept, tuple[Chunk, ...]]]:
    """Yield the concepts that get a page, with passages about them."""
    count = 0
    for concept in graph.concepts():
        if concept.chunks < LEAST_CHUNKS or count == most:
            return
        if concept.id in without:
            count += 1
            yield concept, ()
            continue
        chunks = passages.get(graph.chunks_of(concept.id, limit=_MOST_CHUNKS))
        if len({chunk.document_id for chunk in chunks}) >= LEAST_DOCUMENTS:
            count += 1
            yield concept, chunks


def _told_once(members: Sequence[Entry]) -> tuple[Statement, ...]:
    """Return for each thing the first of its statements that none before it has."""
    told: list[Statement] = []
    seen: set[tuple[ChunkId, int]] = set()
    for entry in members:
        for one in entry.statements:
            place = _place(one.quotes[0])
            if place not in seen:
                seen.add(place)
                told.append(replace(one, under=entry.key))
                break
    return tuple(told)


def _place(quote: Quote) -> tuple[ChunkId, int]:
    return quote.chunk.id, quote.span.start
