"""Every seam of the system. No implementations, no defaults.

Constructors ask for these protocols, never for the concrete classes, and implementations do not
inherit from them. `lilbee_core.testing.contracts` holds one public suite per seam.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from lilbee_core.errors import LilbeeError
from lilbee_core.types import (
    Answer,
    ChatOptions,
    Chunk,
    ChunkId,
    Community,
    Concept,
    Delta,
    Document,
    DocumentId,
    DocumentRow,
    Filter,
    IndexMeta,
    Message,
    ModelDescription,
    ModelRef,
    Part,
    Query,
    Relation,
    Scope,
    Scored,
    SearchResult,
    SearchState,
    Source,
    Span,
    StoredText,
    StoreStats,
    Vector,
    Vectors,
    WikiPage,
    WikiPlan,
)

if TYPE_CHECKING:
    from lilbee_core.analysis import AnalyzedQuery

S = TypeVar("S")
T = TypeVar("T")

# --------------------------------------------------------------------------- edges


class Clock(Protocol):
    """Time, so that tests need no sleep."""

    def now(self) -> datetime:
        """The current time, aware, in the user's zone."""
        ...

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class CancelToken(Protocol):
    """Cooperative cancellation: long work calls `check` between stages, batches and pages."""

    def check(self) -> None:
        """Raise `Cancelled` when the work should stop."""
        ...


class Executor(Protocol):
    """Runs independent pieces of work: threads and processes here, a cluster behind an extra later."""

    def map(self, function: Callable[[S], T], items: Iterable[S]) -> Iterator[T]:
        """Yield `function(item)` in the order of `items`; the first failure is raised."""
        ...


# --------------------------------------------------------------------------- reading files


class ExtractContext(Protocol):
    """What an extractor may ask for while it reads a file."""

    @property
    def max_chars(self) -> int:
        """Longest text that may come out."""
        ...

    @property
    def password(self) -> str | None:
        """Password to try on protected files."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that text recognition should expect (ISO 639-1)."""
        ...

    def check(self) -> None:
        """Raise `Cancelled` or `LimitExceeded` when the file should be given up."""
        ...


class Extractor(Protocol):
    """Turns a source into a document. Runs in a worker process unless `in_process` is true."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str:
        """Changes when the output changes, so that failed and old files are read again."""
        ...

    @property
    def in_process(self) -> bool:
        """True for extractors that cannot hang or crash and so need no worker."""
        ...

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the document.

        Raises:
            ExtractError: With a code that says why the file cannot be read.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrPage:
    """Text recognized on a page image; confidence is 0 to 1."""

    text: str
    confidence: float


class DocumentReader(Protocol):
    """Reads many files: picks the extractor, runs it in a worker where needed, never raises for one file."""

    def media_type(self, path: str, head: bytes) -> str:
        """Tell what a file is from its name and its first bytes (about 4 KB)."""
        ...

    def version(self, path: str, media_type: str) -> str | None:
        """Return ``name@version`` of the extractor that would read it; None when there is none."""
        ...

    def extract(self, sources: Iterable[Source]) -> Iterator[tuple[Source, Document | LilbeeError]]:
        """Yield each source with its document or the reason why not, as they finish.

        `sources` is consumed lazily, so that memory stays bounded.
        """
        ...


class OcrEngine(Protocol):
    """Recognizes text on a page image (PNG bytes)."""

    @property
    def name(self) -> str: ...

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A response of the web."""

    url: str
    status: int
    media_type: str
    body: bytes
    headers: Mapping[str, str]


class Fetcher(Protocol):
    """Fetches a web page; refuses addresses inside the user's network."""

    def fetch(self, url: str, *, timeout_s: float) -> Fetched: ...


class TokenCounter(Protocol):
    """Counts tokens the way an embedder reads them."""

    def count_tokens(self, text: str) -> int:
        """Number of tokens of `text`, without special ones and without truncation."""
        ...

    def token_starts(self, text: str) -> Sequence[int]:
        """Character offset of each token's start, ascending."""
        ...


class Chunker(Protocol):
    """Cuts a document into chunks that are verbatim slices."""

    @property
    def fingerprint(self) -> str:
        """Names everything that changes the cut: kind, size, overlap, version."""
        ...

    def split(self, document: Document, document_id: DocumentId) -> tuple[Chunk, ...]: ...


# --------------------------------------------------------------------------- models


class EmbeddingProvider(Protocol):
    """Turns texts into vectors, as the model gives them (need not be normalized)."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return ``[len(texts), dimension]`` float32.

        Raises:
            ProviderError: If the model or its server fails.
        """
        ...


class RerankProvider(Protocol):
    """Scores texts against a query; higher is better, any scale."""

    def rank(self, query: str, texts: Sequence[str]) -> tuple[float, ...]: ...


class ChatProvider(Protocol):
    """Answers a conversation, piece by piece."""

    def chat(self, messages: Sequence[Message], options: ChatOptions = ...) -> Iterator[Delta]:
        """Yield ``text`` and ``reasoning`` deltas; closing the iterator closes the request."""
        ...


class VisionProvider(Protocol):
    """Reads a page image (PNG bytes) as markdown."""

    def read(self, image: bytes, *, prompt: str = "") -> str: ...


class EmbedderLike(TokenCounter, Protocol):
    """Vectors for queries and texts, normalized, with the model's prefixes and a cache."""

    @property
    def model(self) -> str:
        """The model reference, such as ``builtin/all-MiniLM-L6-v2``."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names the vector space: two embedders with the same fingerprint may share an index."""
        ...

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Tokens that are read of one text; the rest is cut off."""
        ...

    @property
    def languages(self) -> tuple[str, ...]:
        """Languages that the model reads (ISO 639-1); empty means all."""
        ...

    def embed_query(self, text: str) -> Vector: ...

    def embed_query_batch(self, texts: Sequence[str]) -> Vectors: ...

    def embed(self, text: str) -> Vector: ...

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        """Return ``[len(texts), dimension]`` float32 unit rows, in order."""
        ...

    def close(self) -> None: ...


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that can also give a vector per token (late interaction)."""

    def token_vectors(self, text: str) -> Vectors:
        """Return ``[tokens, dimension]`` float32."""
        ...


class RerankerLike(Protocol):
    """Calibrated relevance of texts to a query, 0 to 1."""

    @property
    def model(self) -> str: ...

    def score(self, query: str, texts: Sequence[str]) -> tuple[float, ...]: ...


class ModelRouter(Protocol):
    """Finds the provider of a role at call time; None when the role is switched off."""

    def embedding(self) -> EmbedderLike | None: ...

    def chat(self) -> ChatProvider | None: ...

    def reranker(self) -> RerankerLike | None: ...

    def vision(self) -> VisionProvider | None: ...

    def describe(self, ref: ModelRef) -> ModelDescription: ...


# --------------------------------------------------------------------------- the store


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedDocument:
    """All that is written for one document, in one batch. `words` has one analyzed string per chunk.

    `vectors` is ``[len(chunks), dimension]`` or None when vectors are owed. `contents` names what was
    (or will be) embedded for each chunk, so that equal content is never embedded twice.
    """

    row: DocumentRow
    text: StoredText
    chunks: tuple[Chunk, ...]
    words: tuple[str, ...]
    vectors: Vectors | None = None
    contents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Owed:
    """A chunk that has no vector yet."""

    chunk_id: ChunkId
    document_id: DocumentId
    text: str
    context: tuple[str, ...]


class ChunkReader(Protocol):
    """Reads chunks. Safe to share between threads; every call sees the newest committed state."""

    def get(self, ids: Sequence[ChunkId]) -> tuple[Chunk, ...]:
        """Return the chunks that exist, in the order of `ids`."""
        ...

    def vectors(self, ids: Sequence[ChunkId]) -> Mapping[ChunkId, Vector]: ...

    def vectors_by_content(self, contents: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of chunks already stored with these `IndexedDocument.contents`."""
        ...

    def dense(self, vector: Vector, *, limit: int, filters: Filter = ..., scope: Scope = ...) -> tuple[Scored, ...]:
        """Return the nearest chunks by cosine similarity (1 is equal), best first."""
        ...

    def lexical(
        self, query: AnalyzedQuery, *, limit: int, filters: Filter = ..., scope: Scope = ...
    ) -> tuple[Scored, ...]:
        """Return the best chunks by BM25, best first; phrases of the query must occur."""
        ...

    def neighbors(self, chunk: Chunk, *, before: int = 1, after: int = 1) -> tuple[Chunk, ...]:
        """Return the chunks around `chunk` in its document, itself included, in order."""
        ...

    def chunks_of(self, document_id: DocumentId) -> tuple[Chunk, ...]: ...

    def text(self, document_id: DocumentId) -> StoredText | None: ...

    def count(self, *, filters: Filter = ..., scope: Scope = ...) -> int: ...

    def languages(self) -> Mapping[str, float]:
        """Share of chunks per language, most frequent first."""
        ...


class ChunkWriter(Protocol):
    """Writes chunks. Only one process writes at a time: call inside `writing()`."""

    def writing(self, *, timeout_s: float | None = None) -> AbstractContextManager[None]:
        """Hold the writer lock.

        Raises:
            StoreLocked: If another process holds it longer than `timeout_s`.
        """
        ...

    def put(self, documents: Sequence[IndexedDocument]) -> None:
        """Replace these documents atomically: texts, chunks, then ledger rows as the commit mark."""
        ...

    def relocate(self, rows: Sequence[DocumentRow], words: Mapping[ChunkId, str]) -> None:
        """Give documents a new collection, path or title; vectors and ids stay."""
        ...

    def remove(self, ids: Sequence[DocumentId]) -> None:
        """Delete these documents from every table, the ledger included."""
        ...

    def owed(self, *, limit: int) -> tuple[Owed, ...]:
        """Return chunks without a vector."""
        ...

    def set_vectors(self, vectors: Mapping[ChunkId, Vector]) -> None: ...

    def sweep(self) -> int:
        """Delete chunks and texts that no ledger row names; return how many documents were swept."""
        ...


class Ledger(Protocol):
    """One row per file ever seen."""

    def row(self, document_id: DocumentId) -> DocumentRow | None: ...

    def find(self, collection: str, path: str) -> DocumentRow | None: ...

    def rows(self, *, collection: str | None = None, states: Sequence[str] = ...) -> Iterator[DocumentRow]:
        """Yield rows ordered by collection and path."""
        ...

    def record(self, rows: Sequence[DocumentRow]) -> None:
        """Write rows that have no chunks (skipped, failed, excluded) or changed state."""
        ...

    def forget(self, ids: Sequence[DocumentId]) -> None: ...


class StateStore(Protocol):
    """Small mutable state in transactions, by kind and key (conversations, notes, jobs, tokens)."""

    def load(self, kind: str, key: str) -> Mapping[str, object] | None: ...

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None: ...

    def delete(self, kind: str, key: str) -> bool: ...

    def items(self, kind: str) -> Iterator[tuple[str, Mapping[str, object]]]: ...


class Upkeep(Protocol):
    """Keeps the store small and fast. Runs under the writer lock, by thresholds, at the end of a sync."""

    def stats(self) -> StoreStats: ...

    def maintain(self, *, force: bool = False) -> tuple[str, ...]:
        """Rebuild, compact and prune where thresholds say so; return what was done."""
        ...

    def check(self) -> tuple[str, ...]:
        """Return every inconsistency found, as sentences."""
        ...


class StoreLike(ChunkReader, ChunkWriter, Ledger, Upkeep, Protocol):
    """The whole store."""

    @property
    def path(self) -> Path: ...

    @property
    def version(self) -> int:
        """Grows with every commit; the key of in-memory caches."""
        ...

    def meta(self) -> IndexMeta | None: ...

    def set_meta(self, meta: IndexMeta) -> None: ...

    def reset(self) -> None:
        """Delete every table of the index; state (conversations, notes) stays."""
        ...

    def close(self) -> None: ...


# --------------------------------------------------------------------------- search


class QueryAnalyzer(Protocol):
    """Reads queries the way the index was written, and finds their words in a text."""

    def query(self, text: str, *, languages: Sequence[str] = ()) -> AnalyzedQuery:
        """Return `text` as tokens to look for, stemmed in these languages."""
        ...

    def spans(self, text: str, query: AnalyzedQuery, *, language: str | None = None) -> Sequence[tuple[int, int]]:
        """Return where words of the query stand in `text`: sorted, without overlap, ends exclusive."""
        ...


class SearchContext(Protocol):
    """What a stage may ask for while it runs."""

    @property
    def clock(self) -> Clock: ...

    @property
    def executor(self) -> Executor: ...

    def check(self) -> None:
        """Raise `Cancelled` when the caller gave up."""
        ...


class SearchStage(Protocol):
    """One element of the search list. Pure: takes a state, returns a new one."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> frozenset[Part]: ...

    @property
    def writes(self) -> frozenset[Part]: ...

    def run(self, state: SearchState, context: SearchContext) -> SearchState: ...


class SearcherLike(Protocol):
    """Runs a query through its stages."""

    def search(self, query: Query) -> SearchResult: ...


# --------------------------------------------------------------------------- knowledge


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


# --------------------------------------------------------------------------- processes


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a model server listens."""

    base_url: str
    api_key: str | None = None
    model: str = ""
    context_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """A process to start: its command, what its environment adds, where its log goes."""

    command: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    log_file: Path | None = None


class ProcessHandle(Protocol):
    """A started process."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...

    def wait(self, timeout_s: float) -> int | None: ...

    def log_tail(self, lines: int = 50) -> str: ...


class Launcher(Protocol):
    """The only place that starts model servers."""

    def start(self, launch: Launch) -> ProcessHandle: ...


class FleetLike(Protocol):
    """Managed model servers, one set per role."""

    def endpoint(self, role: str) -> Endpoint:
        """Return where the role is served, starting the server on first use."""
        ...

    def wait(self, role: str, *, on_progress: Callable[[str, float], None] | None = None) -> Endpoint: ...

    def plan(self) -> Sequence[Mapping[str, object]]: ...

    def preview(self, placement: Mapping[str, object]) -> Sequence[Mapping[str, object]]: ...

    def status(self) -> Sequence[Mapping[str, object]]: ...

    def close(self) -> None: ...
