"""Concepts and wiki pages."""

from __future__ import annotations

from dataclasses import dataclass, field

from lilbee_core.types._answers import Citation
from lilbee_core.types._documents import ChunkId, DocumentId
from lilbee_core.types._metadata import Metadata
from lilbee_core.types._vectors import Integers


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A concept as a chunk has it. `concept` is its normalized form, `surface` how the chunk writes it.

    `stands_for` is the normalized long form of an abbreviation, where the chunk explains it.
    """

    concept: str
    surface: str
    kind: str = "phrase"
    count: int = 1
    stands_for: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Concept:
    """A thing that the documents talk about. `kind` is ``phrase``, ``entity`` or ``symbol``.

    `keys` are the normalized forms that mean the same, beside the `id`; `aliases` are other ways of writing it.
    """

    id: str
    label: str
    kind: str = "phrase"
    aliases: tuple[str, ...] = ()
    chunks: int = 0
    community: int | None = None
    keys: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return the fields that are shown."""
        return {
            "id": self.id,
            "label": self.label,
            "kind": self.kind,
            "aliases": list(self.aliases),
            "chunks": self.chunks,
            "community": self.community,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Two concepts that occur together, by their ids. `weight` is their PPMI (bits), `count` the chunks with both."""

    source: str
    target: str
    weight: float
    count: int = 0

    def to_dict(self) -> dict[str, object]:
        """Return all fields."""
        return {"source": self.source, "target": self.target, "weight": self.weight, "count": self.count}


@dataclass(frozen=True, slots=True, kw_only=True)
class Community:
    """A group of concepts that belong together: their ids, the most central first. `chunks` speak of any of them."""

    id: int
    label: str
    concepts: tuple[str, ...]
    chunks: int = 0

    def to_dict(self) -> dict[str, object]:
        """Return all fields."""
        return {"id": self.id, "label": self.label, "chunks": self.chunks, "concepts": list(self.concepts)}


@dataclass(frozen=True, slots=True)
class Coded:
    """A column of strings: for each row the position of its value in `values`, -1 for none."""

    codes: Integers
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MentionTable:
    """All mentions of a library, by columns."""

    chunks: Coded
    concepts: Coded
    surfaces: Coded
    kinds: Coded
    stands_for: Coded


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphTable:
    """A graph of concepts as it is stored. Edges are pairs of positions in `concepts`, the smaller one first.

    `chunks` is the number of chunks that have any concept: what PPMI is reckoned with. `next_community` is the
    smallest number that no community ever had.
    """

    concepts: tuple[Concept, ...]
    sources: Integers
    targets: Integers
    counts: Integers
    chunks: int = 0
    communities: tuple[Community, ...] = ()
    next_community: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPage:
    """A page of the wiki. `state` is ``published``, ``draft`` or ``archived``."""

    slug: str
    title: str
    kind: str
    body: str
    state: str = "published"
    aliases: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    faithfulness: float | None = None
    sources: tuple[DocumentId, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)

    def to_dict(self) -> dict[str, object]:
        """Return the fields that are shown."""
        return {
            "slug": self.slug,
            "title": self.title,
            "kind": self.kind,
            "state": self.state,
            "aliases": list(self.aliases),
            "body": self.body,
            "citations": [one.to_dict() for one in self.citations],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPage:
    """A page that a build would write, and why."""

    slug: str
    title: str
    kind: str
    reason: str
    chunks: tuple[ChunkId, ...] = ()
    calls: int = 0

    def to_dict(self) -> dict[str, object]:
        """Return the fields that are shown."""
        return {
            "slug": self.slug, "title": self.title, "kind": self.kind, "reason": self.reason, "calls": self.calls,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPlan:
    """What a wiki build would do, with its cost in model calls."""

    pages: tuple[PlannedPage, ...] = ()
    removed: tuple[str, ...] = ()

    @property
    def calls(self) -> int:
        """Model calls in all."""
        return sum(page.calls for page in self.pages)

    def to_dict(self) -> dict[str, object]:
        """Return all fields."""
        return {
            "pages": [page.to_dict() for page in self.pages], "removed": list(self.removed), "calls": self.calls,
        }  # fmt: skip
