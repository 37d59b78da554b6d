"""Answers, concepts, the wiki."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from lilbee_core.types import (
    Answer,
    Background,
    Chunk,
    ChunkId,
    Community,
    Concept,
    Delta,
    DocumentId,
    GraphTable,
    Mention,
    MentionTable,
    Relation,
    SearchResult,
    WikiPage,
    WikiPlan,
)


class Answerer(Protocol):
    """Answers from passages, with citations."""

    def answer(self, question: str, result: SearchResult) -> Answer: ...

    def stream(self, question: str, result: SearchResult, background: Background = ...) -> Iterator[Delta]:
        """Yield the answer piece by piece, ``done`` with the whole at the end."""
        ...


class ConceptExtractor(Protocol):
    """Finds what chunks talk about, without a model that writes."""

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same chunks give other mentions."""
        ...

    def extract(self, chunks: Sequence[Chunk]) -> list[tuple[Mention, ...]]:
        """Return for each chunk its concepts, each once, the most telling first."""
        ...


class ConceptStore(Protocol):
    """Keeps mentions, which belong to documents, and the graph that was counted from them."""

    @property
    def version(self) -> int:
        """Changes whenever another graph is saved."""
        ...

    def put(self, mentions: Mapping[DocumentId, Mapping[ChunkId, Sequence[Mention]]]) -> None:
        """Replace all mentions of these documents."""
        ...

    def remove(self, ids: Sequence[DocumentId]) -> None:
        """Delete the mentions of these documents."""
        ...

    def mentions(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, tuple[Mention, ...]]:
        """Return the mentions of those of the chunks that have any."""
        ...

    def chunks_with(self, keys: Sequence[str]) -> Mapping[ChunkId, int]:
        """Return the chunks that mention any of these normalized forms, with how often."""
        ...

    def table(self) -> MentionTable: ...

    def is_current(self) -> bool:
        """Whether the saved graph was counted from the mentions as they are."""
        ...

    def load(self) -> GraphTable | None:
        """Return the saved graph, None where none ever was."""
        ...

    def save(self, graph: GraphTable) -> None:
        """Keep a graph that was counted from the mentions as they are."""
        ...

    def confirm(self) -> None:
        """Note that the saved graph is that of the mentions as they are."""
        ...


class LibraryConcepts(ConceptStore, Protocol):
    """A `ConceptStore` whose mentions are written together with documents."""

    def extractor(self) -> str | None:
        """Return the `ConceptExtractor.fingerprint` that all mentions are of, None where some may be of another."""
        ...

    def set_extractor(self, fingerprint: str | None) -> None: ...

    def clear(self) -> None:
        """Delete all mentions and the graph."""
        ...


class ConceptReader(Protocol):
    """Concepts of chunks and what goes with what. A concept may be named by its id, its label or an alias."""

    def concepts_of(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, tuple[Concept, ...]]:
        """Return the concepts of those of the chunks that have any."""
        ...

    def neighbors(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]:
        """Return the concepts that go most with this one, as relations from it."""
        ...

    def communities(self) -> tuple[Community, ...]: ...

    def entities(self, text: str) -> tuple[str, ...]:
        """Return the ids of the concepts that a text names."""
        ...


class ConceptGraphLike(ConceptReader, Protocol):
    """A `ConceptReader` that takes in chunks, and what is decided by hand."""

    def update(self, chunks: Sequence[Chunk]) -> None: ...

    def remove(self, ids: Sequence[DocumentId]) -> None: ...

    def merge(self, alias: str, concept: str) -> None: ...

    def forbid(self, concept: str) -> None: ...


class WikiBuilderLike(Protocol):
    """Writes pages about what many documents say."""

    def plan(self) -> WikiPlan: ...

    def build(self, plan: WikiPlan) -> Iterator[WikiPage]: ...
