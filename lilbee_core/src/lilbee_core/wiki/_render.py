"""Entries as pages: numbered citations that keep their numbers, links, one line for each sentence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lilbee_core.text import fold_space, place_in
from lilbee_core.types import Citation, WikiPage
from lilbee_core.wiki._entries import Entry, Statement
from lilbee_core.wiki._folder import link, listed
from lilbee_core.wiki._links import Names, linked
from lilbee_core.wiki._markdown import StoredPage, citation_key, place_of, plain, ref_of
from lilbee_core.wiki._quotes import Quote

_SHORTEST_NAME = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """All pages that there will be: by key their titles and, where one may link to them, their slugs (`open`).

    `names` are the pages that names in texts stand for.
    """

    titles: Mapping[str, str]
    slugs: Mapping[str, str]
    open: Mapping[str, str]
    names: Names


def site_of(
    entries: Mapping[str, Entry], slugs: Mapping[str, str], *, there: Collection[str], rejected: Collection[str]
) -> Site:
    """Return what pages need to know of each other. A name that two of them have leads to neither.

    A page that waits for a person can be linked to, since it lies among the drafts; one that was rejected only if it
    is `there` already.
    """
    linkable = {
        key: slugs[key]
        for key, one in entries.items()
        if one.statements and (not one.waits or slugs[key] in there or slugs[key] not in rejected)
    }
    names = [
        (plain(name), linkable[key])
        for key, entry in entries.items()
        if key in linkable and entry.kind != "synthesis"
        for name in dict.fromkeys((entry.title, *entry.aliases))
        if len(name) >= _SHORTEST_NAME
    ]
    times = Counter(name.casefold() for name, _ in names)
    return Site(
        titles={key: entry.title for key, entry in entries.items()},
        slugs=slugs,
        open=linkable,
        names=Names({name: slug for name, slug in names if times[name.casefold()] == 1}),
    )


def page_of(entry: Entry, site: Site, stored: StoredPage | None) -> WikiPage:
    """Return the page of an entry. Citations of the stored page keep their numbers: what people wrote stays true."""
    slug = site.slugs[entry.key]
    cited = _Marks(stored)
    said = linked("\n".join(_lines(entry, site, cited)), site.names, own=slug)
    lines = [f"# {plain(entry.title)}", ""]
    if entry.aliases:
        lines += [f"Also: {listed(entry.aliases)}", ""]
    lines.append(said)
    others = {site.open[key]: site.titles[key] for key in entry.near if key in site.open and key != entry.key}
    if others and not any(one.under for one in entry.statements):
        lines += ["", "## Goes with", "", ", ".join(link(other, title) for other, title in others.items())]
    citations = cited.citations()
    lines += ["", *(f"[^{one.marker}]: {plain(place_of(one))}" for one in citations)]
    return WikiPage(
        slug=slug,
        title=entry.title,
        kind=entry.kind,
        body="\n".join(lines),
        state="draft" if entry.waits else "published",
        aliases=entry.aliases,
        citations=citations,
        faithfulness=entry.faithfulness,
        sources=tuple(dict.fromkeys(map(ref_of, citations))),
        by=entry.by,
        note=entry.waits,
        dropped=entry.dropped if entry.waits else (),
    )


def _lines(entry: Entry, site: Site, cited: _Marks) -> Iterable[str]:
    """Yield the statements: quotes as a list, sentences of a model as a paragraph for each source."""
    before = ""
    for one in entry.statements:
        told = f"{plain(fold_space(one.text))} {cited.marks(one)}"
        if entry.by == "quotes":
            head = f"{link(site.open[one.under], site.titles[one.under])}: " if one.under in site.open else ""
            yield f"- {head}{told}"
            continue
        source = one.quotes[0].chunk.document_id
        if before and source != before:
            yield ""
        before = source
        yield told


class _Marks:
    """Numbers citations: those of the stored page as they are there, new ones behind."""

    def __init__(self, stored: StoredPage | None) -> None:
        self._known: dict[str, list[int]] = {}
        for one in stored.citations if stored is not None else ():
            self._known.setdefault(one.key, []).append(one.marker)
        self._next = max((marker for markers in self._known.values() for marker in markers), default=0) + 1
        self._used: dict[tuple[str, str], Citation] = {}

    def marks(self, statement: Statement) -> str:
        """Return the marks behind a statement."""
        return "".join(dict.fromkeys(f"[^{self._mark(quote)}]" for quote in statement.quotes))

    def citations(self) -> tuple[Citation, ...]:
        """Return what was cited, by number."""
        return tuple(sorted(self._used.values(), key=lambda one: one.marker))

    def _mark(self, quote: Quote) -> int:
        text = quote.span.cut(quote.chunk.text)
        key = citation_key(text)
        place = (quote.chunk.document_id, key)
        if place not in self._used:
            known = self._known.get(key)
            marker = known.pop(0) if known else self._next
            self._next = max(self._next, marker + 1)
            self._used[place] = _citation(marker, quote, text)
        return self._used[place].marker


def _citation(marker: int, quote: Quote, text: str) -> Citation:
    chunk = quote.chunk
    return Citation(
        marker=marker,
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        collection=chunk.collection,
        path=chunk.path,
        quote=text,
        location=place_in(chunk.location, chunk.text, quote.span),
        quote_span=quote.span,
    )


def arranged(
    statements: Sequence[Statement], ranks: Mapping[str, int], *, most: int, per_source: int
) -> list[Statement]:
    """Return the statements that a page has room for: those of the best passages, by source, the best source first.

    Args:
        statements: In the order of their sources.
        ranks: The place of passages in a search for the page's title.
        most: Most passages.
        per_source: Most passages of one document, where others fill the rest.
    """
    behind = len(ranks)
    rank = {at: min(ranks.get(quote.chunk.id, behind) for quote in one.quotes) for at, one in enumerate(statements)}
    order = sorted(range(len(statements)), key=lambda at: (rank[at], at))
    chunks: set[str] = set()
    times: Counter[str] = Counter()
    kept, spare = list[int](), list[int]()
    for at in order:
        quote = statements[at].quotes[0]
        new = quote.chunk.id not in chunks
        if new and times[quote.chunk.document_id] >= per_source:
            spare.append(at)
        elif not new or len(chunks) < most:
            times[quote.chunk.document_id] += new
            chunks.add(quote.chunk.id)
            kept.append(at)
    for at in spare:
        chunk = statements[at].quotes[0].chunk.id
        if chunk in chunks or len(chunks) < most:
            chunks.add(chunk)
            kept.append(at)
    best: dict[str, int] = {}
    for at in kept:
        best.setdefault(statements[at].quotes[0].chunk.document_id, len(best))
    kept.sort(key=lambda at: (best[statements[at].quotes[0].chunk.document_id], at))
    return [statements[at] for at in kept]
