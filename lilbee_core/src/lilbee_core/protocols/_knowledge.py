"""Answers, concepts, the wiki."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from lilbee_core.types import (
    Answer,
    Chunk,
    ChunkId,
    Community,
    Concept,
    Delta,
    DocumentId,
    Relation,
    SearchResult,
    WikiPage,
    WikiPlan,
)

if TYPE_CHECKING:
    pass


class Answerer(Protocol):
    """Answers from passages, with citations."""

    def answer(self, question: str, result: SearchResult) -> Answer: ...

    def stream(self, question: str, result: SearchResult) -> Iterator[Delta]: ...


class ConceptGraphLike(Protocol):
    """Concepts of chunks and what goes with what."""

    def update(self, chunks: Sequence[Chunk]) -> None: ...

    def remove(self, ids: Sequence[DocumentId]) -> None: ...

    def concepts_of(self, chunk_id: ChunkId) -> tuple[Concept, ...]: ...

    def neighbors(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]: ...

    def communities(self) -> tuple[Community, ...]: ...

    def entities(self, text: str) -> tuple[str, ...]: ...

    def merge(self, alias: str, concept: str) -> None: ...

    def forbid(self, concept: str) -> None: ...


class WikiBuilderLike(Protocol):
    """Writes pages about what many documents say."""

    def plan(self) -> WikiPlan: ...

    def build(self, plan: WikiPlan) -> Iterator[WikiPage]: ...
