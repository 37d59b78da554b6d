"""A folder, an index in memory, and an ingestor between them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lilbee_core.analysis import Analyzer
from lilbee_core.chunking import TokenChunker, embedding_input
from lilbee_core.errors import ExtractError, LilbeeError, UnsupportedFormat
from lilbee_core.ingest import BatchLimits, Ingestor, Root, SyncOptions, WalkOptions
from lilbee_core.ingest._survey import Digest, sha256_of
from lilbee_core.protocols import CancelToken, Chunker, Clock, EmbedderLike, StoreLike
from lilbee_core.testing import HashEmbedder, MemoryStore, RecordingSink, Switch
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Document, DocumentState, Source, SyncReport
from tests.support.clocks import RealClock

COUNTER = EstimatedTokens()
ANALYZER = Analyzer()
LONG_AGO_NS = 1_600_000_000 * 10**9


class TextReader:
    """A `DocumentReader` for text. `trouble` gives a path an error, or something to do before it is read."""

    def __init__(self) -> None:
        self.trouble: dict[str, Exception | Callable[[], None]] = {}
        self.read: list[str] = []
        self.revision = 1

    def media_type(self, path: str, head: bytes) -> str:
        trouble = self.trouble.get(f"media type of {path}")
        if isinstance(trouble, Exception):
            raise trouble
        return "application/octet-stream" if path.endswith(".bin") else "text/plain"

    def version(self, path: str, media_type: str) -> str | None:
        trouble = self.trouble.get(f"version of {path}")
        if isinstance(trouble, Exception):
            raise trouble
        return None if media_type == "application/octet-stream" else f"fake@{self.revision}"

    def extract(
        self,
        sources: Iterable[Source],
        *,
        check: Callable[[], None] = lambda: None,
        on_page: Callable[[Source, int, int], None] = lambda source, done, total: None,
    ) -> Iterator[tuple[Source, Document | LilbeeError]]:
        for source in sources:
            check()
            yield source, self._extract(source)

    def _extract(self, source: Source) -> Document | LilbeeError:
        self.read.append(source.path)
        trouble = self.trouble.get(source.path)
        if isinstance(trouble, LilbeeError):
            return trouble
        if isinstance(trouble, Exception):
            raise trouble
        if trouble is not None:
            trouble()
        if source.media_type == "application/octet-stream":
            return UnsupportedFormat(f"{source.path} is binary", hint="Leave it.")
        try:
            text = source.read().decode()
        except (OSError, UnicodeDecodeError) as error:
            return ExtractError(str(error), hint="Mend it.", code="extract.damaged")
        return Document(path=source.path, collection=source.collection, media_type=source.media_type, text=text)


@dataclass
class Shelf:
    """Everything that a sync needs, in a test's hands."""

    folder: Path
    store: StoreLike = field(default_factory=MemoryStore)
    embedder: EmbedderLike | None = field(default_factory=HashEmbedder)
    reader: TextReader = field(default_factory=TextReader)
    sink: RecordingSink = field(default_factory=RecordingSink)
    clock: Clock = field(default_factory=RealClock)
    chunker: Chunker = field(default_factory=lambda: TokenChunker(COUNTER, chunk_size=32, overlap=4))
    walk: WalkOptions = field(default_factory=WalkOptions)
    limits: BatchLimits = field(default_factory=BatchLimits)
    digest: Digest = sha256_of
    collection: str = "notes"
    ticks: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    @property
    def ingestor(self) -> Ingestor:
        return Ingestor(
            self.store,
            self.reader,
            self.chunker,
            ANALYZER,
            self.embedder,
            embed_text=lambda chunk: embedding_input(chunk, COUNTER),
            events=self.sink,
            clock=self.clock,
            walk=self.walk,
            limits=self.limits,
            digest=self.digest,
        )

    @property
    def root(self) -> Root:
        return Root(collection=self.collection, folder=self.folder)

    def write(self, path: str, text: str | bytes) -> Path:
        """Write a file, at a time of its own long ago, so that it need not be hashed twice."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text.encode() if isinstance(text, str) else text)
        self.touch(path)
        return file

    def touch(self, path: str) -> None:
        self.ticks += 1
        when = LONG_AGO_NS + self.ticks * 10 * 10**9
        os.utime(self.folder / path, ns=(when, when))

    def sync(self, *roots: Root, cancel: CancelToken | None = None, **options: bool) -> SyncReport:
        return self.ingestor.sync(roots or [self.root], cancel or Switch(), SyncOptions(**options))

    def states(self) -> dict[str, str]:
        """Return the state of every file in the ledger."""
        return {row.path: str(row.state) for row in self.store.rows()}

    def indexed(self) -> dict[str, str]:
        """Return the text of every document that can be found."""
        return {row.path: self.text(row.path) for row in self.store.rows() if row.holds_chunks}

    def text(self, path: str) -> str:
        row = self.store.find(self.collection, path)
        assert row is not None, f"{path} is not in the ledger"
        stored = self.store.text(row.id)
        assert stored is not None, f"{path} has no text"
        return stored.text

    def id_of(self, path: str) -> str:
        row = self.store.find(self.collection, path)
        assert row is not None, f"{path} is not in the ledger"
        return row.id


def counts(report: SyncReport) -> dict[str, int]:
    """Return the counts of a report that are not zero."""
    values = {
        "added": report.added,
        "updated": report.updated,
        "removed": report.removed,
        "moved": report.moved,
        "unchanged": report.unchanged,
        "failed": len(report.failed),
        "skipped": len(report.skipped),
    }
    return {name: value for name, value in values.items() if value}


def content(store: StoreLike) -> Mapping[str, object]:
    """Return all that a reader can see of an index, apart from ids and times."""
    found: dict[str, object] = {}
    for row in store.rows():
        text = store.text(row.id)
        chunks = [
            (chunk.ordinal, chunk.text, chunk.span, chunk.location, chunk.path, chunk.collection, chunk.date)
            for chunk in store.chunks_of(row.id)
        ]
        vectors = store.vectors([chunk.id for chunk in store.chunks_of(row.id)])
        kept = (str(row.state), row.code, row.sha256, row.size, row.mtime_ns, row.date, row.chunks, row.embedded)
        found[row.ref] = (
            kept,
            text.text if text else None,
            chunks,
            [vectors[chunk.id].tolist() for chunk in store.chunks_of(row.id) if chunk.id in vectors],
        )
    return found


def is_indexed(state: str) -> bool:
    return state == DocumentState.INDEXED
