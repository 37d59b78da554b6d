"""Queries, rankings, hits, and the state that search stages hand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from lilbee_core.display import joined
from lilbee_core.errors import ExtraMissing
from lilbee_core.types._documents import Chunk, ChunkId, DocumentId
from lilbee_core.types._vectors import Vector

if TYPE_CHECKING:
    import pandas
    import pyarrow

T = TypeVar("T")
_NAMED = 5


class _Frames(Protocol):
    def to_pandas(self) -> pandas.DataFrame: ...


class Scope(StrEnum):
    """Which chunks a query may see: of files, of wiki pages, or both."""

    RAW = "raw"
    WIKI = "wiki"
    BOTH = "both"


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What a hit must satisfy, applied before ranking. Fields combine with AND, values of a field with OR.

    `paths` are globs over the document path (``notes/**``, ``*.md``) or folder prefixes (``notes/``).
    `media_types` are types, ``text/*`` patterns, or plain extensions (``pdf``). `after` and `before` are
    ISO dates, compared with the document's date: ``after <= date < before``.
    """

    paths: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    collections: tuple[str, ...] = ()
    document_ids: tuple[str, ...] = ()
    after: str | None = None
    before: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == Filter()

    def merge(self, other: Filter) -> Filter:
        """Return both filters as one; where both restrict a field, `other` wins."""
        names = ("paths", "media_types", "languages", "collections", "document_ids", "after", "before")
        changed = {name: getattr(other, name) for name in names if getattr(other, name)}
        return replace(self, **changed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to the library. `text` may carry filters (``path:notes/``) and a mode prefix (``term:``).

    Without `diversify` hits come by relevance alone: likeness to better hits and room for other documents do not count.
    """

    text: str
    filters: Filter = Filter()
    scope: Scope = Scope.RAW
    top_k: int = 10
    profile: str = "default"
    diversify: bool = True

    def __post_init__(self) -> None:
        given = cast("object", self.top_k)
        # What is no number at all is refused with the other arguments, where the query is used.
        if isinstance(given, int) and given < 1:
            raise ValueError(f"top_k must be at least 1, got {given}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One wording of the query. `kind` is ``original``, ``expansion``, ``graph`` or ``hyde``."""

    text: str
    kind: str = "original"
    weight: float = 1.0
    vector: Vector | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Scored:
    """A chunk with a score of one retriever; higher is better."""

    chunk_id: ChunkId
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """What one retriever found, best first.

    `floor` is what every other chunk would have scored; None when the list was cut off, so that nobody knows.
    """

    name: str
    entries: tuple[Scored, ...]
    weight: float = 1.0
    variant: str = "original"
    floor: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Another place where the text of a hit stands as well."""

    document_id: DocumentId
    collection: str
    path: str
    line_start: int | None = None
    page_start: int | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            "document_id": self.document_id,
            "collection": self.collection,
            "path": self.path,
            "line_start": self.line_start,
            "page_start": self.page_start,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A chunk that answers the query, with the score of every stage that touched it.

    Chunks that stand next to each other may be joined into one hit: `chunk` then spans all of them, under the id of the
    best, and `parts` holds them as they are in the index, in order. `url` is where a page of the web came from.
    """

    chunk: Chunk
    score: float
    rank: int = 0
    scores: tuple[tuple[str, float], ...] = ()
    also_at: tuple[Place, ...] = ()
    highlights: tuple[tuple[int, int], ...] = ()
    stale: bool = False
    parts: tuple[Chunk, ...] = ()
    url: str | None = None

    @property
    def document_id(self) -> DocumentId:
        return self.chunk.document_id

    @property
    def chunk_id(self) -> ChunkId:
        return self.chunk.id

    @property
    def collection(self) -> str:
        return self.chunk.collection

    @property
    def path(self) -> str:
        return self.chunk.path

    @property
    def text(self) -> str:
        return self.chunk.text

    @property
    def line_start(self) -> int | None:
        return self.chunk.location.line_start

    @property
    def line_end(self) -> int | None:
        return self.chunk.location.line_end

    @property
    def page_start(self) -> int | None:
        return self.chunk.location.page_start

    @property
    def page_end(self) -> int | None:
        return self.chunk.location.page_end

    @property
    def heading(self) -> str | None:
        return self.chunk.heading

    @property
    def symbol(self) -> str | None:
        return self.chunk.symbol

    @property
    def rerank_score(self) -> float | None:
        """What the reranker gave, where it was asked."""
        return dict(self.scores).get("rerank_score")

    def with_score(self, name: str, value: float, *, score: float | None = None) -> Hit:
        """Return the hit with one more named stage score, and with another `score` of its own where one is given."""
        # Not `replace`, which takes three times as long: every stage does this to every hit.
        return Hit(
            chunk=self.chunk,
            score=self.score if score is None else score,
            rank=self.rank,
            scores=(*[pair for pair in self.scores if pair[0] != name], (name, value)),
            also_at=self.also_at,
            highlights=self.highlights,
            stale=self.stale,
            parts=self.parts,
            url=self.url,
        )

    def _repr_html_(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from lilbee_core.types._html import hit_bundle

        return hit_bundle(self)

    def to_dict(self) -> dict[str, object]:
        return {
            "rank": self.rank,
            "score": self.score,
            "document_id": self.document_id,
            "chunk_id": self.chunk_id,
            "collection": self.collection,
            "path": self.path,
            "title": self.chunk.title,
            "text": self.text,
            "line_start": self.line_start,
            "line_end": self.line_end,
            "page_start": self.page_start,
            "page_end": self.page_end,
            "label": self.chunk.location.label,
            "member": self.chunk.location.member,
            "heading": self.heading,
            "symbol": self.symbol,
            "scores": dict(self.scores),
            "highlights": [list(pair) for pair in self.highlights],
            "also_at": [place.to_dict() for place in self.also_at],
            "parts": [chunk.id for chunk in self.parts],
            "stale": self.stale,
            "url": self.url,
        }


class Part(StrEnum):
    """What a stage may read or write of the state."""

    VARIANTS = "variants"
    RANKINGS = "rankings"
    HITS = "hits"


@dataclass(frozen=True, slots=True)
class StateKey(Generic[T]):
    """A typed name under which the stages of one plugin pass private data to each other."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A candidate that a stage left out, and why."""

    chunk_id: ChunkId
    reason: str
    score: float | None = None

    def to_dict(self) -> dict[str, object]:
        return {"chunk_id": self.chunk_id, "reason": self.reason, "score": self.score}


@dataclass(frozen=True, slots=True, kw_only=True)
class StageReport:
    """What one stage did: ``status`` is ``ok``, ``skipped`` or ``failed``; `seconds` is its own time."""

    name: str
    status: str = "ok"
    seconds: float = 0.0
    count_in: int = 0
    count_out: int = 0
    note: str = ""
    dropped: tuple[Dropped, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "status": self.status,
            "ms": self.seconds * 1000,
            "in": self.count_in,
            "out": self.count_out,
            "note": self.note,
            "dropped": [one.to_dict() for one in self.dropped],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchState:
    """What the stages of a search hand on. Never mutated; `dataclasses.replace` makes the next one.

    `dropped` collects what the running stage leaves out; the runner moves it into that stage's report.
    """

    query: Query
    variants: tuple[Variant, ...] = ()
    rankings: tuple[Ranking, ...] = ()
    hits: tuple[Hit, ...] = ()
    warnings: tuple[str, ...] = ()
    reports: tuple[StageReport, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    note: str = ""
    private: tuple[tuple[str, object], ...] = ()

    def get(self, key: StateKey[T]) -> T | None:
        """Return the private value under `key`, or None."""
        return _value(self.private, key)

    def put(self, key: StateKey[T], value: T) -> SearchState:
        """Return a state that holds `value` under `key`."""
        kept = tuple(pair for pair in self.private if pair[0] != key.name)
        return replace(self, private=(*kept, (key.name, value)))

    def warn(self, message: str) -> SearchState:
        """Return a state with one more warning for the user (kept once)."""
        return self if message in self.warnings else replace(self, warnings=(*self.warnings, message))


def _value(private: tuple[tuple[str, object], ...], key: StateKey[T]) -> T | None:
    for name, value in private:
        if name == key.name:
            return cast("T", value)
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Hits, best first, with the trace of how they came about. Iterates over the hits.

    `private` is what the search hands on to an answer, such as the query as tokens; it is no part of what is shown.
    """

    query: Query
    hits: tuple[Hit, ...]
    found: bool
    warnings: tuple[str, ...] = ()
    reports: tuple[StageReport, ...] = ()
    seconds: float = 0.0
    private: tuple[tuple[str, object], ...] = field(default=(), repr=False, compare=False)

    def get(self, key: StateKey[T]) -> T | None:
        """Return the private value under `key`, or None."""
        return _value(self.private, key)

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, index: int) -> Hit:
        return self.hits[index]

    @property
    def timings_ms(self) -> dict[str, float]:
        """Milliseconds per stage, and ``total``."""
        times: dict[str, float] = {}
        for report in self.reports:
            times[report.name] = times.get(report.name, 0.0) + report.seconds * 1000
        return {**times, "total": self.seconds * 1000}

    def to_dict(self, *, trace: bool = False) -> dict[str, object]:
        result: dict[str, object] = {
            "query": self.query.text,
            "hits": [hit.to_dict() for hit in self.hits],
            "timings_ms": self.timings_ms,
            "found": self.found,
            "warnings": list(self.warnings),
        }
        if trace:
            result["trace"] = [report.to_dict() for report in self.reports]
        return result

    def explain(self) -> str:
        """Return the trace as text: every stage, what it dropped and why, and the scores of every hit.

        Of many candidates with one reason the first are named; `to_dict` has all of them.
        """
        lines = [f"query {self.query.text!r}, profile {self.query.profile}, {self.seconds * 1000:.1f} ms"]
        for report in self.reports:
            note = f"  {report.note}" if report.note else ""
            counts = f"{report.count_in:>5} -> {report.count_out:<5}"
            lines.append(f"  {report.name:<16} {report.status:<8} {report.seconds * 1000:8.2f} ms {counts}{note}")
            lines += _dropped_lines(report.dropped)
        for hit in self.hits:
            scores = ", ".join(f"{name} {value:.4f}" for name, value in hit.scores)
            lines.append(f"  #{hit.rank} {hit.score:.4f} {hit.path} ({hit.chunk.location}) {hit.chunk_id}: {scores}")
        return joined(lines)

    def to_arrow(self) -> pyarrow.Table:
        """Return the hits as an Arrow table, one row each."""
        import pyarrow as pa

        return pa.Table.from_pylist([_flat(hit) for hit in self.hits], schema=_arrow_schema(pa))

    def to_pandas(self) -> pandas.DataFrame:
        """Return the hits as a pandas data frame.

        Raises:
            ExtraMissing: If pandas is not installed.
        """
        if find_spec("pandas") is None:
            raise ExtraMissing(
                "a data frame needs pandas, which is not installed", hint="Run: pip install 'lilbee-core[pandas]'"
            )
        table = cast("_Frames", self.to_arrow())
        return table.to_pandas()

    def _repr_html_(self) -> str:
        from lilbee_core.types._html import search_html

        return search_html(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        from lilbee_core.types._html import search_bundle

        return search_bundle(self)


def _dropped_lines(dropped: tuple[Dropped, ...]) -> list[str]:
    by_reason: dict[str, list[Dropped]] = {}
    for one in dropped:
        by_reason.setdefault(one.reason, []).append(one)
    lines: list[str] = []
    for reason, found in by_reason.items():
        named = [one.chunk_id if one.score is None else f"{one.chunk_id} ({one.score:.4f})" for one in found[:_NAMED]]
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        lines.append(f"      dropped {len(found)}, {reason}: {', '.join(named)}{more}")
    return lines


def _flat(hit: Hit) -> Mapping[str, object]:
    row = hit.to_dict()
    names = ("rank", "score", "document_id", "chunk_id", "collection", "path", "title", "text", "line_start")
    more = ("line_end", "page_start", "page_end", "label", "member", "heading", "symbol", "stale")
    return {name: row[name] for name in (*names, *more)}


def _arrow_schema(pa: Any) -> pyarrow.Schema:
    whole = {"rank", "line_start", "line_end", "page_start", "page_end"}
    names = ("rank", "score", "document_id", "chunk_id", "collection", "path", "title", "text", "line_start")
    more = ("line_end", "page_start", "page_end", "label", "member", "heading", "symbol", "stale")
    kinds = {"score": pa.float64(), "stale": pa.bool_()}
    return cast(
        "pyarrow.Schema",
        pa.schema([(n, pa.int64() if n in whole else kinds.get(n, pa.string())) for n in (*names, *more)]),
    )
