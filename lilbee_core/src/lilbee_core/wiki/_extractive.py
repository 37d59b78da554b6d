"""`ExtractiveWiki`: pages of quoted sentences, without a model. Nothing in them is anybody's but the documents'."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from lilbee_core.text import fold_space
from lilbee_core.types import (
    Chunk,
    ChunkId,
    Citation,
    Community,
    Concept,
    PlannedPage,
    Relation,
    WikiPage,
    WikiPlan,
)
from lilbee_core.wiki._folder import link, listed
from lilbee_core.wiki._markdown import StoredPage, digest, place_of, plain
from lilbee_core.wiki._quotes import Quote, best_quotes
from lilbee_core.wiki._slugs import slugs_of

LEAST_CHUNKS, LEAST_DOCUMENTS = 3, 2
"""What a page needs: a thing that fewer passages or a single document speak of is found by a search as well."""
_MOST_CHUNKS = 24
_MOST_QUOTES = 8
_MOST_RELATED = 12
_LEAST_MEMBERS = 3


class ConceptMap(Protocol):
    """The graph that pages are made from."""

    def concepts(self) -> tuple[Concept, ...]: ...
    def communities(self) -> tuple[Community, ...]: ...
    def neighbors(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]: ...
    def chunks_of(self, concept: str, *, limit: int = 10) -> tuple[ChunkId, ...]: ...


class Passages(Protocol):
    """Where passages are read."""

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]: ...


class ExtractiveWiki:
    """Makes a page per concept and per entity from their best sentences, and one per community over those.

    Args:
        graph: What the documents talk about.
        passages: Reads passages.
        stored: The pages that are there, by name; one that somebody edited is not overwritten.
        drafts: The drafts that are there, by name.
        most: Most pages about concepts and entities, those with most passages.
    """

    def __init__(
        self,
        graph: ConceptMap,
        passages: Passages,
        *,
        stored: Mapping[str, StoredPage],
        drafts: Mapping[str, StoredPage],
        most: int = 300,
    ) -> None:
        self._graph = graph
        self._passages = passages
        self._stored = stored
        self._drafts = drafts
        self._most = most
        self._pages: dict[str, WikiPage] | None = None

    def plan(self) -> WikiPlan:
        """Return what a build would do. Nothing is planned for a page that would stay as it is."""
        pages = self._all()
        planned = [
            PlannedPage(
                slug=page.slug,
                title=page.title,
                kind=page.kind,
                reason=reason,
                chunks=tuple(dict.fromkeys(one.chunk_id for one in page.citations)),
            )
            for page in pages.values()
            if (reason := self._reason(page)) is not None
        ]
        gone = sorted(
            slug for slug, one in self._stored.items() if slug not in pages and one.made and not one.is_edited
        )
        return WikiPlan(pages=tuple(planned), removed=tuple(gone))

    def build(self, plan: WikiPlan) -> Iterator[WikiPage]:
        """Yield the planned pages; those that would overwrite what somebody edited are drafts."""
        pages = self._all()
        for planned in plan.pages:
            page = pages.get(planned.slug)
            if page is not None:
                yield page

    # ------------------------------------------------------------------ inside

    def _reason(self, page: WikiPage) -> str | None:
        stored = self._stored.get(page.slug)
        if stored is None:
            return "new"
        made = digest(page.body)
        draft = self._drafts.get(page.slug)
        if made == stored.made or (stored.is_edited and draft is not None and draft.made == made):
            return None
        return "edited by hand, so the new text is a draft" if stored.is_edited else "its sources changed"

    def _all(self) -> dict[str, WikiPage]:
        if self._pages is None:
            self._pages = {page.slug: page for page in self._made()}
        return self._pages

    def _made(self) -> Iterator[WikiPage]:
        chosen = {one.id: (one, chunks) for one, chunks in self._chosen()}
        related = {id_: self._graph.neighbors(id_, limit=_MOST_RELATED) for id_ in chosen}
        quotes: dict[str, list[Quote]] = {}
        for id_, (concept, chunks) in chosen.items():
            others = [chosen[one.target][0].label for one in related[id_] if one.target in chosen]
            found = best_quotes(chunks, [concept.label, *concept.aliases], others, most=_MOST_QUOTES)
            if found:
                quotes[id_] = found
        concepts = {id_: chosen[id_][0] for id_ in quotes}
        slugs = slugs_of({id_: one.label for id_, one in concepts.items()})
        for id_, concept in concepts.items():
            near = [one.target for one in related[id_] if one.target in slugs]
            linked = [link(slugs[other], concepts[other].label) for other in near]
            yield self._page(slugs[id_], concept.label, _kind(concept), quotes[id_], concept.aliases, linked)
        yield from self._overviews(concepts, slugs, quotes)

    def _chosen(self) -> Iterator[tuple[Concept, tuple[Chunk, ...]]]:
        """Yield the concepts that get a page, with passages about them."""
        count = 0
        for concept in self._graph.concepts():
            if concept.chunks < LEAST_CHUNKS or count == self._most:
                return
            chunks = self._passages.get(self._graph.chunks_of(concept.id, limit=_MOST_CHUNKS))
            if len({chunk.document_id for chunk in chunks}) >= LEAST_DOCUMENTS:
                count += 1
                yield concept, chunks

    def _overviews(
        self, concepts: Mapping[str, Concept], slugs: Mapping[str, str], quotes: Mapping[str, Sequence[Quote]]
    ) -> Iterator[WikiPage]:
        titles: dict[str, str] = {}
        members: dict[str, dict[str, Quote]] = {}
        for community in self._graph.communities():
            key = f"topic {community.id}"
            known = _told_once([id_ for id_ in community.concepts if id_ in quotes], quotes)
            if len(known) >= _LEAST_MEMBERS:
                members[key] = known
                titles[key] = f"Topic: {', '.join(concepts[id_].label for id_ in list(known)[:3])}"
        for key, slug in slugs_of(titles).items():
            heads = [f"{link(slugs[id_], concepts[id_].label)}: " for id_ in members[key]]
            yield self._page(slug, titles[key], "synthesis", list(members[key].values()), (), (), heads=heads)

    def _page(
        self,
        slug: str,
        title: str,
        kind: str,
        quotes: Sequence[Quote],
        aliases: Sequence[str],
        linked: Iterable[str],
        *,
        heads: Sequence[str] = (),
    ) -> WikiPage:
        cited = [_citation(marker, quote) for marker, quote in enumerate(quotes, start=1)]
        lines = [f"# {plain(title)}", ""]
        if aliases:
            lines += [f"Also: {listed(aliases)}", ""]
        for at, one in enumerate(cited):
            head = heads[at] if heads else ""
            lines.append(f"- {head}{plain(fold_space(one.quote))} [^{one.marker}]")
        if rest := list(linked):
            lines += ["", "## Goes with", "", ", ".join(rest)]
        lines += ["", *(f"[^{one.marker}]: {plain(place_of(one))}" for one in cited)]
        stored = self._stored.get(slug)
        return WikiPage(
            slug=slug,
            title=title,
            kind=kind,
            body="\n".join(lines),
            state="draft" if stored is not None and stored.is_edited else "published",
            aliases=tuple(aliases),
            citations=tuple(cited),
            faithfulness=1.0,
            sources=tuple(dict.fromkeys(one.document_id for one in cited)),
        )


def _told_once(ids: Sequence[str], quotes: Mapping[str, Sequence[Quote]]) -> dict[str, Quote]:
    """Return for each concept the first of its quotes that no concept before it has."""
    told: dict[str, Quote] = {}
    seen: set[tuple[ChunkId, int]] = set()
    for id_ in ids:
        for quote in quotes[id_]:
            place = (quote.chunk.id, quote.span.start)
            if place not in seen:
                seen.add(place)
                told[id_] = quote
                break
    return told


def _kind(concept: Concept) -> str:
    return "entity" if concept.kind == "entity" else "concept"


def _citation(marker: int, quote: Quote) -> Citation:
    chunk = quote.chunk
    return Citation(
        marker=marker,
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        collection=chunk.collection,
        path=chunk.path,
        quote=quote.span.cut(chunk.text),
        location=chunk.location,
        quote_span=quote.span,
    )
