"""`WikiBuilder`: what the wiki should be, from notes and quotes, beside what it is."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lilbee_core.types import ChunkId, WikiPage, WikiPlan
from lilbee_core.wiki._decide import Change, Decision, Folder, decide, pending, renamed, without_source
from lilbee_core.wiki._entries import ConceptMap, Entry, Passages, Statement
from lilbee_core.wiki._markdown import StoredPage, citation_key
from lilbee_core.wiki._memory import Choice
from lilbee_core.wiki._noted import Quotes, Source, noted_entries, overview_of
from lilbee_core.wiki._notes import NoteBook, SourceNotes
from lilbee_core.wiki._quoted import overviews, quoted_entries
from lilbee_core.wiki._render import Site, arranged, page_of, site_of
from lilbee_core.wiki._slugs import slug_of, slugs_of

Rank = Callable[[str], Sequence[ChunkId]]
"""Returns the passages that the library's search finds for a title, the best first."""
Measure = Callable[[str, Sequence[ChunkId]], float | None]
"""Says how near in meaning a text is to its passages; None where nobody can tell."""


def nothing_found(title: str) -> Sequence[ChunkId]:
    """Find nothing."""
    return ()


def not_measured(text: str, chunks: Sequence[ChunkId]) -> float | None:
    """Say nothing."""
    return None


class Choices:
    """How pages were put together: what is `known` from before, and what was found out since (`fresh`)."""

    def __init__(self, known: Callable[[str], Choice | None] = lambda _: None) -> None:
        self._known = known
        self.fresh: dict[str, Choice] = {}

    def choice(self, key: str) -> Choice | None:
        """Return how a page was put together."""
        return self.fresh[key] if key in self.fresh else self._known(key)

    def keep(self, key: str, choice: Choice) -> None:
        """Keep it for now."""
        self.fresh[key] = choice


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Sizes. `faithfulness` is the least with which a page is published."""

    pages: int = 300
    chunks: int = 12
    per_source: int = 3
    faithfulness: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    entries: Mapping[str, Entry]
    changes: tuple[Change, ...]
    removed: tuple[str, ...]
    outdated: tuple[str, ...]


class WikiBuilder:
    """Says which pages to write and which to retire; saving them is the caller's.

    Pages are made of what a chat model said about each source, where that was asked, else of quoted sentences of things
    that the concept graph knows. No model is asked here.

    Args:
        passages: Reads passages.
        folder: The wiki as it is.
        graph: What the documents talk about; None without one.
        sources: The documents and what was said about them.
        topics: What was said about topics.
        waiting: Documents that the model has still to be asked about: pages about them stay as they are.
        rank: Searches for a title; its best passages say what a page has room for.
        measure: Measures how faithful a text is.
        choices: Remembers what `rank` and `measure` led to.
        limits: Sizes.
    """

    def __init__(
        self,
        passages: Passages,
        folder: Folder,
        *,
        graph: ConceptMap | None = None,
        sources: Sequence[tuple[Source, SourceNotes]] = (),
        topics: NoteBook | None = None,
        waiting: Collection[str] = (),
        rank: Rank = nothing_found,
        measure: Measure = not_measured,
        choices: Choices | None = None,
        limits: Limits = Limits(),
    ) -> None:
        self._passages = passages
        self._folder = folder
        self._graph = graph
        self._sources = sources
        self._topics = topics
        self._waiting = frozenset(waiting)
        self._rank = rank
        self._measure = measure
        self._choices = choices if choices is not None else Choices()
        self._limits = limits
        self._quotes = Quotes(passages)
        self._made: _Made | None = None

    def plan(self) -> WikiPlan:
        """Return what a build would do. Nothing is planned for a page that would stay as it is."""
        return WikiPlan(pages=tuple(one.planned() for one in self.changes()), removed=self.removed())

    def build(self, plan: WikiPlan) -> Iterator[WikiPage]:
        """Yield the planned pages; those that would overwrite what somebody edited are drafts."""
        wanted = {page.slug for page in plan.pages}
        for change in self.changes():
            if change.page.slug in wanted:
                yield change.page

    def changes(self) -> tuple[Change, ...]:
        """Return the files to write."""
        return self._all().changes

    def removed(self) -> tuple[str, ...]:
        """Return the pages to retire."""
        return self._all().removed

    def outdated(self) -> tuple[str, ...]:
        """Return the drafts that nobody edited and that no page needs any more."""
        return self._all().outdated

    def entries(self) -> Mapping[str, Entry]:
        """Return all pages that there should be, by key."""
        return self._all().entries

    def quoted_topics(self) -> Mapping[str, Entry]:
        """Return the overviews of topics as they are without a model, by key."""
        speaking = {key: one for key, one in self.entries().items() if one.statements and one.kind != "synthesis"}
        communities = () if self._graph is None else self._graph.communities()
        return {entry.key: entry for _, entry in overviews(communities, speaking)}

    # ------------------------------------------------------------------ inside

    def _all(self) -> _Made:
        if self._made is None:
            self._made = self._decided()
        return self._made

    def _decided(self) -> _Made:
        entries, folder = self._entries(), self._folder
        moved = renamed(folder)
        bare = slugs_of({key: one.title for key, one in entries.items()})
        slugs = {key: moved.get(slug, slug) for key, slug in bare.items()}
        site = site_of(entries, slugs, there=folder.pages, rejected=folder.rejected)
        decided: dict[str, Decision] = {}
        for key, entry in entries.items():
            slug = site.slugs[key]
            if self._is_waiting(folder.pages.get(slug)):
                decided[slug] = Decision(None, drafted=True)  # its draft stays as well
            else:
                decided[slug] = self._decide(entry, site, bare[key])
        speaking = {site.slugs[key] for key, one in entries.items() if one.statements}
        gone = [(slug, stored) for slug, stored in self._without_entry(speaking)]
        kept = [without_source(stored, folder) for _, stored in gone if stored.is_edited]
        decided |= dict(self._pending())
        return _Made(
            entries=entries,
            changes=tuple(one for one in (*(it.change for it in decided.values()), *kept) if one is not None),
            removed=tuple(sorted(slug for slug, stored in gone if not stored.is_edited)),
            outdated=tuple(
                slug
                for slug, draft in folder.drafts.items()
                if not draft.is_edited and draft.made and not decided.get(slug, Decision(None)).drafted
            ),
        )

    def _decide(self, entry: Entry, site: Site, origin: str) -> Decision:
        if entry.statements:
            stored = self._folder.pages.get(site.slugs[entry.key])
            return decide(page_of(entry, site, stored), self._folder, origin=origin)
        why = entry.waits or "nothing is borne out by the documents"
        return pending(site.slugs[entry.key], entry.title, why, "\n".join(entry.dropped), self._folder)

    def _is_waiting(self, stored: StoredPage | None) -> bool:
        """Whether a page is about a document that the model has still to be asked about."""
        return stored is not None and not self._waiting.isdisjoint(stored.sources)

    def _without_entry(self, slugs: Collection[str]) -> Iterator[tuple[str, StoredPage]]:
        """Yield the pages that a build wrote and that nothing speaks of any more."""
        for slug, stored in self._folder.pages.items():
            copied = stored.origin != slug and stored.origin in self._folder.pages
            if stored.made and slug not in slugs and not copied and not self._is_waiting(stored):
                yield slug, stored

    def _pending(self) -> Iterator[tuple[str, Decision]]:
        """Yield a draft for each source whose reply could not be read."""
        for source, notes in self._sources:
            if notes.problem:
                title = f"About {source.ref}"
                yield slug_of(title), pending(slug_of(title), title, notes.problem, notes.reply, self._folder)

    # ------------------------------------------------------------------ entries

    def _entries(self) -> dict[str, Entry]:
        noted = noted_entries(self._sources, self._quotes, self._graph)
        spoken = {key for key, one in noted.items() if one.statements}
        quoted = (
            {}
            if self._graph is None
            else quoted_entries(self._graph, self._passages, most=self._limits.pages, without=spoken)
        )
        # Things of which nothing is borne out keep the page of quotes that they have.
        told = {key: one for key, one in noted.items() if one.statements or key not in quoted}
        entries = {**quoted, **{key: self._placed(one) for key, one in told.items()}}
        if self._graph is not None:
            speaking = {key: one for key, one in entries.items() if one.statements}
            for community, entry in overviews(self._graph.communities(), speaking):
                notes = None if self._topics is None else self._topics.get(str(community.id))
                written = None if notes is None else overview_of(entry, notes, self._quotes)
                entries[entry.key] = entry if written is None else self._placed(written)
        return entries

    def _placed(self, entry: Entry) -> Entry:
        """Return an entry with the statements that its page has room for, and how faithful they are."""
        if not entry.statements:
            return entry
        inputs = _inputs(entry, self._limits)
        by_key = {_key(one): one for one in entry.statements}
        choice = self._choices.choice(entry.key)
        if choice is None or choice.inputs != inputs or not set(choice.order) <= by_key.keys():
            choice = self._chosen(entry, inputs)
            self._choices.keep(entry.key, choice)
        faithful = choice.faithfulness
        waits = entry.waits
        if faithful is not None and faithful < self._limits.faithfulness and not waits:
            waits = f"its faithfulness is {faithful:.2f}, below {self._limits.faithfulness:.2f}"
        statements = tuple(by_key[key] for key in choice.order)
        return replace(entry, statements=statements, faithfulness=faithful, waits=waits)

    def _chosen(self, entry: Entry, inputs: str) -> Choice:
        kept: Sequence[Statement] = entry.statements
        if entry.kind != "synthesis":
            ranks = {str(id_): at for at, id_ in enumerate(self._rank(entry.title))}
            kept = arranged(kept, ranks, most=self._limits.chunks, per_source=self._limits.per_source)
        chunks = tuple(dict.fromkeys(quote.chunk.id for one in kept for quote in one.quotes))
        score = self._measure(" ".join(one.text for one in kept), chunks)
        return Choice(inputs, tuple(map(_key, kept)), None if score is None else round(score, 3))


def _key(statement: Statement) -> str:
    """Name a statement with what bears it out."""
    told = [statement.text, *(citation_key(quote.span.cut(quote.chunk.text)) for quote in statement.quotes)]
    return hashlib.blake2b("\0".join(told).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def _inputs(entry: Entry, limits: Limits) -> str:
    told = [entry.title, str(limits.chunks), str(limits.per_source), *map(_key, entry.statements)]
    return hashlib.blake2b("\0".join(told).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
