"""What pages are made of: statements about a thing, each with the words of documents that bear it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from lilbee_core.types import Chunk, ChunkId, Community, Concept, DocumentId, Relation
from lilbee_core.wiki._quotes import Quote

LEAST_CHUNKS, LEAST_DOCUMENTS = 3, 2
"""What a page of quotes needs: what fewer passages or a single document speak of is found by a search as well."""


class ConceptMap(Protocol):
    """The graph that pages are made from."""

    def concepts(self) -> tuple[Concept, ...]: ...
    def communities(self) -> tuple[Community, ...]: ...
    def get(self, name: str) -> Concept | None: ...
    def entities(self, text: str) -> tuple[str, ...]: ...
    def neighbors(self, concept: str, *, limit: int = 10) -> tuple[Relation, ...]: ...
    def chunks_of(self, concept: str, *, limit: int = 10) -> tuple[ChunkId, ...]: ...


class Passages(Protocol):
    """Where passages are read."""

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]: ...
    def chunks_of(self, document_id: DocumentId) -> tuple[Chunk, ...]: ...


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a page, and what bears it out. `under` is the entry that it is listed under, in an overview."""

    text: str
    quotes: tuple[Quote, ...]
    under: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A page to be: what it is called, what it says, what goes with it. `key` names it from build to build.

    `waits` says why a person should look at it first.
    """

    key: str
    title: str
    kind: str
    statements: tuple[Statement, ...]
    aliases: tuple[str, ...] = ()
    near: tuple[str, ...] = ()
    by: str = "quotes"
    dropped: tuple[str, ...] = ()
    faithfulness: float | None = None
    waits: str = ""


def topic_key(community: Community) -> str:
    """Name the overview of a community."""
    return f"topic {community.id}"


def kind_of(concept: Concept) -> str:
    """Return the kind of page that a concept gets."""
    return "entity" if concept.kind == "entity" else "concept"
