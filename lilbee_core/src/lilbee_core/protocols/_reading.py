"""Files to documents to chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from lilbee_core.errors import LilbeeError
from lilbee_core.types import (
    Chunk,
    Document,
    DocumentId,
    Source,
)

if TYPE_CHECKING:
    pass


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
    """Text recognized on a page image; confidence is 0 to 1. `markdown` says that headings and tables are marked."""

    text: str
    confidence: float
    markdown: bool = False


class DocumentReader(Protocol):
    """Reads many files: picks the extractor, runs it in a worker where needed, never raises for one file."""

    def media_type(self, path: str, head: bytes) -> str:
        """Tell what a file is from its name and its first bytes (about 4 KB)."""
        ...

    def version(self, path: str, media_type: str) -> str | None:
        """Return ``name@version`` of the extractor that would read it; None when there is none."""
        ...

    def extract(
        self,
        sources: Iterable[Source],
        *,
        check: Callable[[], None] = ...,
        on_page: Callable[[Source, int, int], None] = ...,
    ) -> Iterator[tuple[Source, Document | LilbeeError]]:
        """Yield each source with its document or the reason why not, as they finish.

        `sources` is consumed lazily, so that memory stays bounded. `check` is called often and may raise to give
        up everything, also while a file is being read. `on_page` is told of each page on which text was recognized:
        the file, how many pages are done, how many there are to do.
        """
        ...


class AdmissionGate(Protocol):
    """Bounds how many documents are being read at once. The limit may change meanwhile."""

    @property
    def limit(self) -> int: ...

    def under_way(self, count: int) -> None:
        """Hear how many documents are under way now."""
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
    """Fetches a web page; refuses addresses inside the user's network. Threads share it.

    A redirect may be returned as it is (3xx with ``location`` among the headers): the crawl checks and follows it.
    """

    def fetch(self, url: str, *, timeout_s: float) -> Fetched:
        """Return what lies at an address.

        Raises:
            BlockedAddress: If it is not of the web, or inside the user's network.
            CrawlError: If it cannot be had within the limits.
        """
        ...


@runtime_checkable
class Revalidating(Protocol):
    """A fetcher that can ask whether a page is still what it was."""

    def revalidate(self, url: str, *, timeout_s: float, etag: str = "", last_modified: str = "") -> Fetched:
        """Return what lies at an address; status 304 if it is still what was fetched with these headers."""
        ...


class Renderer(Protocol):
    """Runs the scripts of a page that was fetched and returns what it looks like then."""

    def render(self, page: Fetched, *, timeout_s: float) -> Fetched: ...


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


@runtime_checkable
class StreamingChunker(Protocol):
    """A chunker that need not hold all chunks of a document at once."""

    def stream(self, document: Document, document_id: DocumentId) -> Iterator[Chunk]:
        """Yield what `Chunker.split` returns."""
        ...
