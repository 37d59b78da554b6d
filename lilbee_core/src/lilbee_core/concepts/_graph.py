"""`ConceptGraph`: what chunks talk about, what goes with what, and which of it belongs together."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lilbee_core.concepts._communities import can_cluster, require_leiden, with_communities
from lilbee_core.concepts._counting import count
from lilbee_core.concepts._decisions import Decisions, DecisionStore, load, save
from lilbee_core.concepts._export import Format, exported, to_networkx
from lilbee_core.concepts._memory import MemoryConcepts, MemoryState
from lilbee_core.concepts._rules import RuleExtractor
from lilbee_core.concepts._view import GraphView
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.protocols import ConceptExtractor, ConceptStore
from lilbee_core.types import Chunk, ChunkId, Community, Concept, DocumentId, GraphTable, Mention, Relation

if TYPE_CHECKING:
    from networkx import Graph


class ConceptGraph:
    """A graph of the concepts of chunks: ``graph = ConceptGraph(); graph.update(chunks); graph.related("honey")``.

    Without a `store` it lives in memory. It asks no model that writes, neither for an update nor for a question.
    Changes made through it are counted when it is next read. Threads may share it.

    Args:
        extractor: Finds the concepts of a chunk; by rules if none is given.
        store: Keeps mentions and the counted graph.
        decisions: Keeps what was merged and forbidden by hand.
        languages: Returns the languages of the chunks, for reading questions.
    """

    def __init__(
        self,
        extractor: ConceptExtractor | None = None,
        *,
        store: ConceptStore | None = None,
        decisions: DecisionStore | None = None,
        languages: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._extractor = extractor or RuleExtractor()
        self._store: ConceptStore = store if store is not None else MemoryConcepts()
        self._state: DecisionStore = decisions if decisions is not None else MemoryState()
        self._languages = languages
        self._view: tuple[int, GraphView] | None = None
        self._changed = False
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ changing

    def update(self, chunks: Sequence[Chunk]) -> None:
        """Take in chunks. Those of a document replace all that was known of it."""
        with self._lock:
            found = self._extractor.extract(chunks)
            by_document: dict[DocumentId, dict[ChunkId, tuple[Mention, ...]]] = defaultdict(dict)
            for chunk, mentions in zip(chunks, found, strict=True):
                by_document[chunk.document_id][chunk.id] = mentions
            self._store.put(by_document)
            self._changed = True

    def remove(self, ids: Sequence[DocumentId]) -> None:
        """Forget documents; what only they spoke of is no concept any more."""
        with self._lock:
            self._store.remove(ids)
            self._changed = True

    def merge(self, alias: str, concept: str) -> None:
        """Let `alias` count as `concept` from now on. Said twice it changes nothing.

        Raises:
            NotFound: If there is no such concept.
            InvalidArgument: If both are the same without that.
        """
        with self._lock:
            key, into = self._key(alias), self.require(concept).id
            decided = self._decisions()
            if key != into:
                self._decide(decided.merge(key, into))
            elif not any(form in decided.merged for form in self._forms(alias)):
                raise InvalidArgument(
                    f"{alias!r} and {concept!r} are one concept already", hint="Name two different concepts."
                )

    def forbid(self, concept: str) -> None:
        """Leave a concept out of the graph, whatever documents say. Said twice it changes nothing.

        Raises:
            NotFound: If there is no such concept.
        """
        with self._lock:
            decided = self._decisions()
            if not any(form in decided.forbidden for form in self._forms(concept)):
                self._decide(decided.forbid(self.require(concept).id))

    def restore(self, concept: str) -> None:
        """Take back what `merge` or `forbid` decided about a concept.

        Raises:
            NotFound: If nothing was decided about it.
        """
        with self._lock:
            decided = self._decisions()
            keys = [key for key in self._forms(concept) if key in decided.merged or key in decided.forbidden]
            if not keys:
                raise NotFound(
                    f"nothing was decided about {concept!r}", hint="Look at `decisions` to see what was merged."
                )
            for key in keys:
                decided = decided.restore(key)
            self._decide(decided)

    def decisions(self) -> Mapping[str, str | None]:
        """Return what was decided by hand: the concept that each form counts as, None for those that are forbidden."""
        decided = self._decisions()
        return {**decided.merged, **dict.fromkeys(sorted(decided.forbidden))}

    def refresh(self) -> bool:
        """Count the graph anew from all mentions; return whether anything changed in it.

        The communities of a graph that is the same stay as they are.
        """
        with self._lock:
            previous = self._store.load()
            counted = count(self._store.table(), self._decisions())
            same = previous is not None and _is_same(counted.graph, previous)
            settled = same and previous is not None and bool(previous.communities or not can_cluster())
            if settled:
                self._store.confirm()
            else:
                self._store.save(with_communities(counted, previous) if can_cluster() else counted.graph)
            self._changed = False
            return not settled

    # ------------------------------------------------------------------ reading

    @property
    def view(self) -> GraphView:
        """The graph as it was counted last, for looking things up."""
        with self._lock:
            if self._changed:
                self.refresh()
            version = self._store.version
            if self._view is None or self._view[0] != version:
                table = self._store.load()
                self._view = (version, GraphView(table or _empty(), languages=self._languages()))
            return self._view[1]

    def concepts(self) -> tuple[Concept, ...]:
        """Return all concepts, the most frequent first."""
        return tuple(sorted(self.view.table.concepts, key=lambda one: (-one.chunks, one.id)))

    def get(self, name: str) -> Concept | None:
        """Return the concept of this id, label or alias."""
        return self.view.get(name)

    def require(self, name: str) -> Concept:
        """Return the concept of this id, label or alias.

        Raises:
            NotFound: If there is none.
        """
        found = self.get(name)
        if found is None:
            raise NotFound(
                f"there is no concept {name!r}",
                hint="Look at `lilbee topics`, or name one that more than one passage speaks of.",
            )
        return found

    def related(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]:
        """Return what goes most with a concept, the most certain first.

        Raises:
            NotFound: If there is no such concept.
        """
        _check(limit)
        return self.neighbors(self.require(concept).id, limit=limit)

    def neighbors(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]:
        """Return what goes most with a concept; nothing for one that is not known."""
        view = self.view
        at = view.place(concept)
        return () if at is None else view.neighbors(at, limit=limit)

    def entities(self, text: str) -> tuple[str, ...]:
        """Return the ids of the concepts that a text names."""
        view = self.view
        return tuple(view.table.concepts[at].id for at in view.named_in(text))

    def concepts_of(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, tuple[Concept, ...]]:
        """Return the concepts of those of the chunks that have any."""
        view = self.view
        found: dict[ChunkId, tuple[Concept, ...]] = {}
        for id_, mentions in self._store.mentions(ids).items():
            concepts = (view.get(one.concept) for one in mentions)
            known = tuple(dict.fromkeys(one for one in concepts if one is not None))
            if known:
                found[id_] = known
        return found

    def chunks_of(self, concept: str, *, limit: int = 10) -> tuple[ChunkId, ...]:
        """Return the chunks that speak most of a concept.

        Raises:
            NotFound: If there is no such concept.
        """
        _check(limit)
        known = self.require(concept)
        counts = self._store.chunks_with([known.id, *known.keys])
        return tuple(sorted(counts, key=lambda id_: (-counts[id_], id_))[:limit])

    def communities(self) -> tuple[Community, ...]:
        """Return the communities, largest first.

        Raises:
            ExtraMissing: If there are none because the extra ``graph`` is not installed.
        """
        found = self.view.table.communities
        if not found:
            require_leiden()
        return found

    def topics(
        self, text: str | None = None, *, hits: Sequence[ChunkId] = (), limit: int = 20
    ) -> tuple[Community, ...]:
        """Return communities: all of them, largest first, or those that `text` and the `hits` for it belong to.

        Raises:
            ExtraMissing: If the extra ``graph`` is not installed.
        """
        _check(limit)
        everything = self.communities()
        if text is None:
            return everything[:limit]
        view = self.view
        seen = [at for of in self.concepts_of(hits).values() for one in of if (at := view.place(one.id)) is not None]
        return view.topics(view.named_in(text), seen, limit=limit)

    # ------------------------------------------------------------------ outside

    def to_networkx(self) -> Graph[str]:
        """Return a networkx graph: nodes by id with label, kind, chunks and community; edges with weight and count.

        Raises:
            ExtraMissing: If networkx is not installed.
        """
        return to_networkx(self.view)

    def export(self, format: Format | str = "json", *, limit: int | None = None) -> str:  # noqa: A002 - what it is
        """Return the graph as ``json``, ``graphml``, or ``html``: one page to look at, which needs nothing else.

        Args:
            format: One of the three.
            limit: Most concepts, the most frequent ones; an HTML page shows 300 if nothing is said.

        Raises:
            InvalidArgument: If there is no such format.
        """
        return exported(self.view, format, limit=limit)

    # ------------------------------------------------------------------ inside

    def _decisions(self) -> Decisions:
        return load(self._state)

    def _decide(self, decided: Decisions) -> None:
        save(self._state, self._decisions(), decided)
        self._changed = True

    def _key(self, name: str) -> str:
        """Return the id of a concept, or the form that a concept of this name would have."""
        known = self.view.get(name)
        return known.id if known is not None else self._forms(name)[0]

    def _forms(self, name: str) -> tuple[str, ...]:
        words = name.split()
        if not words:
            raise InvalidArgument("a concept needs a name", hint="Name a concept.")
        return self.view.forms(words)


def _check(limit: int) -> None:
    if limit < 1:
        raise InvalidArgument(f"limit must be at least 1, got {limit}", hint="Ask for at least one.")


def _is_same(one: GraphTable, other: GraphTable) -> bool:
    import numpy as np

    return (
        one.chunks == other.chunks
        and len(one.concepts) == len(other.concepts)
        and all(
            new == replace(old, community=new.community) for new, old in zip(one.concepts, other.concepts, strict=True)
        )
        and np.array_equal(one.sources, other.sources)
        and np.array_equal(one.targets, other.targets)
        and np.array_equal(one.counts, other.counts)
    )


def _empty() -> GraphTable:
    import numpy as np

    none = np.zeros(0, np.int64)
    return GraphTable(concepts=(), sources=none, targets=none, counts=none)
