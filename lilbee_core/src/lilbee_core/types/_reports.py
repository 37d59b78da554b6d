"""What long verbs report: a sync, the state of a library, the fate of a path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """A file that was not indexed: ``code`` is stable, ``reason`` is for people."""

    path: str
    code: str
    reason: str
    collection: str = ""

    def to_failed(self) -> dict[str, object]:
        return {"path": self.path, "collection": self.collection, "code": self.code, "message": self.reason}

    def to_skipped(self) -> dict[str, object]:
        return {"path": self.path, "collection": self.collection, "code": self.code, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a sync did. Counts are files; `embedded` counts texts sent to the embedder."""

    added: int = 0
    updated: int = 0
    removed: int = 0
    moved: int = 0
    unchanged: int = 0
    failed: tuple[FileProblem, ...] = ()
    skipped: tuple[FileProblem, ...] = ()
    unavailable: tuple[str, ...] = ()
    chunks: int = 0
    embedded: int = 0
    owed: int = 0
    seconds: float = 0.0
    dry_run: bool = False
    cancelled: bool = False
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "added": self.added,
            "updated": self.updated,
            "removed": self.removed,
            "moved": self.moved,
            "unchanged": self.unchanged,
            "failed": [one.to_failed() for one in self.failed],
            "skipped": [one.to_skipped() for one in self.skipped],
            "unavailable": list(self.unavailable),
            "chunks": self.chunks,
            "embedded": self.embedded,
            "owed": self.owed,
            "seconds": self.seconds,
            "dry_run": self.dry_run,
            "cancelled": self.cancelled,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbedderChange:
    """Which model makes the vectors of an index from now on.

    `action` is ``adopted`` (the vectors are kept) or ``embedded anew``, with the `report` of that. `likeness` is the
    mean cosine between the model's vectors and those of the index, where its name did not say that it is the same.
    """

    action: str
    embedder: str
    dimension: int
    was: str | None = None
    likeness: float | None = None
    fetched: bool = False
    report: SyncReport | None = None

    @property
    def cancelled(self) -> bool:
        """Whether it was ended before all vectors were there."""
        return self.report is not None and self.report.cancelled

    def to_dict(self) -> dict[str, object]:
        return {
            "action": self.action,
            "embedder": self.embedder,
            "dimension": self.dimension,
            "was": self.was,
            "likeness": self.likeness,
            "fetched": self.fetched,
            "report": None if self.report is None else self.report.to_dict(),
            "cancelled": self.cancelled,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PageProblem:
    """A page of the web that was left out or could not be had: ``code`` is stable, ``reason`` is for people."""

    url: str
    code: str
    reason: str

    def to_dict(self) -> dict[str, object]:
        return {"url": self.url, "code": self.code, "reason": self.reason}


@dataclass(frozen=True, slots=True, kw_only=True)
class WebPage:
    """A page that is kept: where it came from, the file it is in, and when it was fetched and last changed."""

    url: str
    path: str
    collection: str
    title: str = ""
    media_type: str = ""
    bytes: int = 0
    fetched_at: str = ""
    saved_at: str = ""

    def to_dict(self) -> dict[str, object]:
        return {
            "url": self.url,
            "path": self.path,
            "collection": self.collection,
            "title": self.title,
            "media_type": self.media_type,
            "bytes": self.bytes,
            "fetched_at": self.fetched_at,
            "saved_at": self.saved_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """What a crawl did, all of its runs together if it was stopped in between. Counts are pages.

    `duplicates` say what another page says, and `skipped` were left out on purpose, pages as well as links that were
    not followed: the first few hundred by name, all of them by the number for each code in `skipped_counts`. `waiting`
    are still to be fetched when it was cancelled. `sync` is what the index made of the pages.
    """

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    duplicates: int = 0
    failed: tuple[PageProblem, ...] = ()
    skipped: tuple[PageProblem, ...] = ()
    skipped_counts: tuple[tuple[str, int], ...] = ()
    waiting: int = 0
    seconds: float = 0.0
    resumed: bool = False
    cancelled: bool = False
    warnings: tuple[str, ...] = ()
    sync: SyncReport | None = None

    @property
    def pages(self) -> int:
        """How many pages are kept."""
        return self.new + self.updated + self.unchanged

    def to_dict(self) -> dict[str, object]:
        return {
            "pages": self.pages,
            "new": self.new,
            "updated": self.updated,
            "unchanged": self.unchanged,
            "duplicates": self.duplicates,
            "failed": [one.to_dict() for one in self.failed],
            "skipped": [one.to_dict() for one in self.skipped],
            "skipped_counts": dict(self.skipped_counts),
            "waiting": self.waiting,
            "seconds": self.seconds,
            "resumed": self.resumed,
            "cancelled": self.cancelled,
            "warnings": list(self.warnings),
            "sync": self.sync.to_dict() if self.sync is not None else None,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionInfo:
    """A named folder of the library, with globs that choose its files."""

    name: str
    root: str
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    documents: int = 0
    available: bool = True

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "root": self.root,
            "include": list(self.include),
            "exclude": list(self.exclude),
            "documents": self.documents,
            "available": self.available,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryStatus:
    """The state of a library: files per state, chunks, embedder, sizes on disk (bytes)."""

    root: str | None
    data_dir: str
    states: tuple[tuple[str, int], ...]
    chunks: int
    embedded: int
    embedder: str | None
    dimension: int | None
    size_bytes: int
    index_bytes: int
    vector_bytes: int = 0
    """Memory that vectors take in this process now: none before the second search."""
    languages: tuple[tuple[str, float], ...] = ()
    collections: tuple[CollectionInfo, ...] = ()
    last_sync: str | None = None
    version: str = ""
    problems: tuple[FileProblem, ...] = ()
    warnings: tuple[str, ...] = ()

    def summary(self) -> Iterator[tuple[str, object]]:
        """Yield the lines a person wants to see."""
        yield "library", self.root or self.data_dir
        yield from self.states
        yield "chunks", self.chunks
        yield "with vectors", self.embedded
        yield "embedder", self.embedder or "none (words only)"
        yield "size on disk", f"{self.size_bytes / 1e6:.1f} MB"
        if self.vector_bytes:
            yield "vectors in memory", f"{self.vector_bytes / 1e6:.1f} MB"
        yield "last sync", self.last_sync or "never"

    def to_dict(self) -> dict[str, object]:
        return {
            "root": self.root,
            "data_dir": self.data_dir,
            "documents": dict(self.states),
            "chunks": self.chunks,
            "embedded": self.embedded,
            "owed": self.chunks - self.embedded if self.embedder else 0,
            "embedder": self.embedder,
            "dimension": self.dimension,
            "size_bytes": self.size_bytes,
            "index_bytes": self.index_bytes,
            "vector_bytes": self.vector_bytes,
            "languages": dict(self.languages),
            "collections": [one.to_dict() for one in self.collections],
            "last_sync": self.last_sync,
            "version": self.version,
            "problems": [one.to_failed() for one in self.problems],
            "warnings": list(self.warnings),
        }

    def _repr_html_(self) -> str:
        from lilbee_core.types._html import status_html

        return status_html(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from lilbee_core.types._html import status_bundle

        return status_bundle(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class PathReport:
    """Why a path is or is not in the index, rule by rule."""

    path: str
    state: str
    reason: str
    code: str | None = None
    rule: str | None = None
    collection: str | None = None
    document_id: str | None = None
    hint: str | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            "path": self.path,
            "state": self.state,
            "code": self.code,
            "reason": self.reason,
            "rule": self.rule,
            "collection": self.collection,
            "document_id": self.document_id,
            "hint": self.hint,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexMeta:
    """What built the index; kept in the store and in ``manifest.json``.

    `schema` is the store's layout version. An index with another embedder, chunking or analyzer is
    never silently mixed.
    """

    schema: int
    embedder: str | None
    fingerprint: str | None
    dimension: int | None
    chunk_size: int
    chunk_overlap: int
    chunking: str
    analyzer: str
    library_id: str
    created_at: str
    lilbee_version: str

    def to_dict(self) -> dict[str, object]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorIndexReport:
    """The index for approximate vector search, as it was built.

    `recall` is the share of the nearest vectors that it found, at the least, compared with exact search; `probes` is
    how many of its partitions a search looks into for that.
    """

    vectors: int
    probes: int
    recall: float
    seconds: float

    def to_dict(self) -> dict[str, object]:
        return {
            "vectors": self.vectors,
            "probes": self.probes,
            "recall": round(self.recall, 4),
            "seconds": round(self.seconds, 3),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreStats:
    """Counts and sizes of a store."""

    documents: int
    chunks: int
    embedded: int
    size_bytes: int
    fragments: int = 0
    unindexed: int = 0
    version: int = 0
    vector_bytes: int = 0
    """Memory that vectors take in this process now."""
