"""Concepts and wiki pages."""

from __future__ import annotations

from dataclasses import dataclass, field

from lilbee_core.types._answers import Citation
from lilbee_core.types._documents import ChunkId
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
    """A page of the wiki.

    `state` is ``published``, ``draft`` or ``archived``, `kind` ``concept``, ``entity`` or ``synthesis``. `by` says who
    wrote it: ``quotes`` of documents, or a ``model``. `sources` are the documents behind it (``collection/path``),
    `faithfulness` is the cosine of its text with their passages. Of a draft, `note` says why it is one, and `dropped`
    holds what no passage bears out.
    """

    slug: str
    title: str
    kind: str
    body: str
    state: str = "published"
    aliases: tuple[str, ...] = ()
    citations: tuple[Citation, ...] = ()
    faithfulness: float | None = None
    sources: tuple[str, ...] = ()
    by: str = "quotes"
    note: str = ""
    dropped: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)

    def to_dict(self) -> dict[str, object]:
        """Return the fields that are shown."""
        return {
            "slug": self.slug,
            "title": self.title,
            "kind": self.kind,
            "state": self.state,
            "by": self.by,
            "aliases": list(self.aliases),
            "sources": list(self.sources),
            "faithfulness": self.faithfulness,
            "note": self.note,
            "dropped": list(self.dropped),
            "body": self.body,
            "citations": [one.to_dict() for one in self.citations],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedPage:
    """A page that a build would write, and why. `state` is ``published`` or ``draft``."""

    slug: str
    title: str
    kind: str
    reason: str
    chunks: tuple[ChunkId, ...] = ()
    state: str = "published"

    def to_dict(self) -> dict[str, object]:
        """Return the fields that are shown."""
        return {
            "slug": self.slug, "title": self.title, "kind": self.kind, "state": self.state, "reason": self.reason,
        }  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call of the chat model that a build would make: about which document or topic, with how many tokens."""

    about: str
    tokens: int

    def to_dict(self) -> dict[str, object]:
        """Return all fields."""
        return {"about": self.about, "tokens": self.tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiPlan:
    """What a wiki build would do, with its cost in model calls.

    `pages` and `removed` are what is known without the calls: those may change more pages. `reply_tokens` is the most
    that all replies may take.
    """

    pages: tuple[PlannedPage, ...] = ()
    removed: tuple[str, ...] = ()
    asks: tuple[PlannedCall, ...] = ()
    reply_tokens: int = 0

    @property
    def calls(self) -> int:
        """Model calls in all."""
        return len(self.asks)

    @property
    def tokens(self) -> int:
        """Tokens of all requests, estimated."""
        return sum(one.tokens for one in self.asks)

    def to_dict(self) -> dict[str, object]:
        """Return all fields."""
        return {
            "pages": [page.to_dict() for page in self.pages],
            "removed": list(self.removed),
            "calls": self.calls,
            "tokens": self.tokens,
            "reply_tokens": self.reply_tokens,
            "asks": [one.to_dict() for one in self.asks],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiReport:
    """What a build of the wiki did.

    `failed` names documents about which the model gave nothing that can be used, and why; `waiting` those that it was
    not asked about, since there was no room for more calls. `dropped` counts sentences that no passage bears out.
    """

    pages: tuple[PlannedPage, ...] = ()
    removed: tuple[str, ...] = ()
    calls: int = 0
    tokens: int = 0
    dropped: int = 0
    failed: tuple[tuple[str, str], ...] = ()
    waiting: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    cancelled: bool = False

    @property
    def drafts(self) -> tuple[str, ...]:
        """The pages that wait for a person."""
        return tuple(page.slug for page in self.pages if page.state == "draft")

    def to_dict(self) -> dict[str, object]:
        """Return all fields."""
        return {
            "pages": [page.to_dict() for page in self.pages],
            "removed": list(self.removed),
            "drafts": list(self.drafts),
            "calls": self.calls,
            "tokens": self.tokens,
            "dropped": self.dropped,
            "failed": [{"about": about, "reason": reason} for about, reason in self.failed],
            "waiting": list(self.waiting),
            "warnings": list(self.warnings),
            "cancelled": self.cancelled,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiDiff:
    """A draft beside the page that it would replace, as a unified diff; `is_pending` if there is nothing to accept."""

    slug: str
    title: str
    reason: str
    diff: str
    is_new: bool = False
    is_pending: bool = False
    dropped: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        """Return all fields."""
        return {
            "slug": self.slug,
            "title": self.title,
            "reason": self.reason,
            "is_new": self.is_new,
            "is_pending": self.is_pending,
            "dropped": list(self.dropped),
            "diff": self.diff,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WikiProblem:
    """Something that is wrong with a page.

    `kind` is ``orphan``, ``dead_link``, ``lost_citation``, ``stale_citation``, ``without_source``, ``drift`` or
    ``draft``.
    """

    slug: str
    kind: str
    detail: str

    def to_dict(self) -> dict[str, object]:
        """Return all fields."""
        return {"slug": self.slug, "kind": self.kind, "detail": self.detail}
