"""The graph of concepts of a library: kept up to date by its syncs, where the extra ``graph`` is installed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import islice
from typing import TYPE_CHECKING

from lilbee_core.errors import Cancelled, LilbeeError
from lilbee_core.events import Progress
from lilbee_core.protocols import CancelToken
from lilbee_core.types import WIKI, Chunk, ChunkId, Community, Concept, DocumentId, Mention, Relation

if TYPE_CHECKING:
    from lilbee_core.concepts import ConceptGraph
    from lilbee_core.library._parts import Parts
    from lilbee_core.protocols import ConceptExtractor

log = logging.getLogger(__name__)

_LEIDEN = "graspologic_native"
_GROUP_CHUNKS = 1_000


class SearchGraph:
    """The graph of a library for its searches: a `ConceptReader` that is loaded when a stage first asks it."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def concepts_of(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, tuple[Concept, ...]]:
        """See `ConceptGraph.concepts_of`."""
        return graph_of(self._parts).concepts_of(ids)

    def neighbors(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]:
        """See `ConceptGraph.neighbors`."""
        return graph_of(self._parts).neighbors(concept, limit=limit)

    def communities(self) -> tuple[Community, ...]:
        """See `ConceptGraph.communities`."""
        return graph_of(self._parts).communities()

    def entities(self, text: str) -> tuple[str, ...]:
        """See `ConceptGraph.entities`."""
        return graph_of(self._parts).entities(text)


def is_mapped(parts: Parts) -> bool:
    """Whether syncs of this library map concepts."""
    return parts.settings.concepts.concepts and find_spec(_LEIDEN) is not None


def graph_of(parts: Parts) -> ConceptGraph:
    """Return the graph of the library."""

    def build() -> ConceptGraph:
        from lilbee_core.concepts import ConceptGraph

        return ConceptGraph(
            _extractor(parts),
            store=parts.store.concepts,
            decisions=parts.state,
            languages=lambda: tuple(parts.store.languages()),
        )

    return parts.once("concepts", build)


def mentions_by(parts: Parts) -> Callable[[Sequence[Chunk]], Sequence[tuple[Mention, ...]]]:
    """Return what finds the concepts of chunks that are on their way in; nothing where none are mapped."""

    def find(chunks: Sequence[Chunk]) -> Sequence[tuple[Mention, ...]]:
        return _found(_extractor(parts), chunks) if is_mapped(parts) else ()

    return find


def prepare_graph(parts: Parts, cancel: CancelToken) -> None:
    """Make sure that all mentions of the library come from what finds them now; look for them anew if they do not.

    Where concepts are not mapped any more, what there was of them goes.
    """
    concepts = parts.store.concepts
    if not is_mapped(parts):
        if concepts.extractor() is not None:
            concepts.clear()
        return
    extractor = _extractor(parts)
    if concepts.extractor() == extractor.fingerprint:
        return
    if parts.store.count():
        concepts.set_extractor(None)
        try:
            _find_again(parts, extractor, cancel)
        except Cancelled:
            return  # the sync that follows ends at once, and the next one begins here
    concepts.set_extractor(extractor.fingerprint)


def count_graph(parts: Parts) -> None:
    """Count the graph anew where its mentions changed. Never fails: the old graph stays until the next sync then."""
    if not is_mapped(parts) or parts.store.concepts.is_current():
        return
    try:
        with parts.store.writing():
            graph_of(parts).refresh()
    except LilbeeError as error:
        log.warning("the graph of concepts stays as it was: %s", error)


def _extractor(parts: Parts) -> ConceptExtractor:
    def build() -> ConceptExtractor:
        from lilbee_core.concepts import build_extractor

        return build_extractor(parts.settings.concepts.concepts_model)

    return parts.once("concept_extractor", build)


def _find_again(parts: Parts, extractor: ConceptExtractor, cancel: CancelToken) -> None:
    rows = [row for row in parts.store.rows() if row.holds_chunks and row.collection != WIKI]
    total, done = sum(row.chunks for row in rows), 0
    waiting: list[tuple[DocumentId, tuple[Chunk, ...]]] = []
    for row in rows:
        cancel.check()
        waiting.append((row.id, parts.store.chunks_of(row.id)))
        if sum(len(chunks) for _, chunks in waiting) >= _GROUP_CHUNKS:
            done += _put(parts, extractor, waiting)
            waiting = []
            parts.events(Progress(phase="mapping concepts", done=done, total=total, unit="chunks"))
    _put(parts, extractor, waiting)


def _put(parts: Parts, extractor: ConceptExtractor, documents: Sequence[tuple[DocumentId, tuple[Chunk, ...]]]) -> int:
    """Write the mentions of documents; return how many chunks they have."""
    every = [chunk for _, chunks in documents for chunk in chunks]
    found = iter(_found(extractor, every))
    mentions: dict[DocumentId, dict[ChunkId, tuple[Mention, ...]]] = {
        id_: dict(zip((chunk.id for chunk in chunks), _taken(found, len(chunks)), strict=True))
        for id_, chunks in documents
    }
    if mentions:
        parts.store.concepts.put(mentions)
    return len(every)


def _taken(found: Iterator[tuple[Mention, ...]], count: int) -> list[tuple[Mention, ...]]:
    return list(islice(found, count))


def _found(extractor: ConceptExtractor, chunks: Sequence[Chunk]) -> Sequence[tuple[Mention, ...]]:
    try:
        return extractor.extract(chunks)
    except Exception:
        # A model of somebody else must not end a sync, nor cost a document more than its concepts.
        log.exception("no concepts could be found in %d passages", len(chunks))
        return [()] * len(chunks)
