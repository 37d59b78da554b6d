"""Concepts and wiki pages."""

from __future__ import annotations

from dataclasses import dataclass, field

from lilbee_core.types._answers import Citation
from lilbee_core.types._documents import ChunkId, DocumentId
from lilbee_core.types._metadata import Metadata


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A thing that the documents talk about. `kind` is ``phrase``, ``entity`` or ``symbol``."""

    id: str
    label: str
    kind: str = "phrase"
    aliases: tuple[str, ...] = ()
    chunks: int = 0
    community: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Two concepts that occur together. `weight` is their PPMI (bits)."""

    source: str
    target: str
    weight: float
    count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """A group of concepts that belong together."""

    id: int
    label: str
    concepts: tuple[str, ...]
    chunks: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPage:
    """A page of the wiki. `state` is ``published``, ``draft`` or ``archived``."""

    slug: str
    title: str
    kind: str
    body: str
    state: str = "published"
    citations: tuple[Citation, ...] = ()
    faithfulness: float | None = None
    sources: tuple[DocumentId, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPage:
    """A page that a build would write, and why."""

    slug: str
    title: str
    kind: str
    reason: str
    chunks: tuple[ChunkId, ...] = ()
    calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPlan:
    """What a wiki build would do, with its cost in model calls."""

    pages: tuple[PlannedPage, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        """Model calls in all."""
        return sum(page.calls for page in self.pages)
