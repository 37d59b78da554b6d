"""Documents, chunks and the ledger: what is indexed, and where each piece stands."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, NewType

from lilbee_core.types._metadata import Metadata

DocumentId = NewType("DocumentId", str)
ChunkId = NewType("ChunkId", str)
MEMORY = "memory"
"""The extractor of documents that come from no file."""
WIKI = ".wiki"
"""The collection of the wiki's pages: only searches of that scope see them."""
UNREAD_PAGES = "unread_pages"
"""Key of the metadata that tells how many pages hold pictures of text which nobody read."""
_HINTS: Mapping[str, str] = {
    "ignored": "Add `!PATTERN` to a .lilbeeignore file to take it back.",
    "excluded": "Run `lilbee add PATH` to take it back.",
    "extract.no_text": "Install an OCR engine, or give a version with text.",
    "extract.encrypted": "Set LILBEE_EXTRACT_PASSWORD and sync again.",
    "extract.damaged": "Replace the file by one that opens; the next sync reads it.",
    "extract.unsupported": "Save it in a format that is read, such as PDF or text, or ignore it.",
    "extract.not_readable": "Check that you may read the file, and that no program is writing it.",
    "extract.limit": "Split the file, or raise the limit in the settings.",
    "extract.unsafe": "Check where the file comes from before you open it.",
    "extract.failed": "Open the file with its own program, and save it anew.",
    "extract.crashed": "Sync with --retry; report it if it fails again.",
    "source.unavailable": "Connect the drive that holds the folder, and sync again.",
    "link.outside": "Add the folder that the link leads to as a collection of its own.",
    "link.dangling": "Remove the link, or put back what it leads to.",
    "internal": "Sync with --retry; report it if it fails again.",
}


def hint_for(code: str | None) -> str:
    """Return what to do about a file that is not in the index for this reason; empty where nothing can be done."""
    return _HINTS.get(code or "", "")


def document_id(collection: str, path: str, sha256: str) -> DocumentId:
    """Return the id of a document first seen at this place with this content (16 hex digits).

    The ledger keeps it when the file is edited or moved, so identity survives both.
    """
    return DocumentId(_digest("document", collection, path, sha256))


def chunk_id(document: str, start: int, text: str) -> ChunkId:
    """Return the id of a chunk, from its document, its place and its text (16 hex digits)."""
    return ChunkId(_digest("chunk", document, str(start), text))


def _digest(*parts: str) -> str:
    joined = "\x00".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=8).hexdigest()


class DocumentState(StrEnum):
    """What the ledger knows of a file."""

    INDEXED = "indexed"
    SKIPPED = "skipped"
    FAILED = "failed"
    MISSING = "missing"
    EXCLUDED = "excluded"


@dataclass(frozen=True, slots=True)
class Span:
    """A half-open range of characters, ``[start, end)``."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, got [{self.start}, {self.end})")

    def __len__(self) -> int:
        return self.end - self.start

    def cut(self, text: str) -> str:
        """Return the piece of `text` that the span covers."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Say whether both spans share at least one character."""
        return self.start < other.end and other.start < self.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle on a page, in points from the lower left corner."""

    page: int
    left: float
    bottom: float
    right: float
    top: float

    def to_dict(self) -> dict[str, object]:
        return {"page": self.page, "left": self.left, "bottom": self.bottom, "right": self.right, "top": self.top}


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where a passage stands in its file: 1-based lines and pages, both ends included.

    `label` names a place that is neither line nor page (``Sheet1!A1:C20``, ``slide 3``, ``cell 4``,
    ``chapter Two``); `member` is the path inside an archive, a mail or a PDF.
    """

    line_start: int | None = None
    line_end: int | None = None
    page_start: int | None = None
    page_end: int | None = None
    label: str | None = None
    member: str | None = None
    boxes: tuple[Box, ...] = ()

    def __str__(self) -> str:
        parts = [self.member] if self.member else []
        if self.line_start is not None:
            one = self.line_end is None or self.line_end == self.line_start
            parts.append(f"line {self.line_start}" if one else f"lines {self.line_start}-{self.line_end}")
        if self.page_start is not None:
            last = f"-{self.page_end}" if self.page_end != self.page_start else ""
            parts.append(f"p. {self.page_start}{last}")
        if self.label:
            parts.append(self.label)
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading at a character offset of the text; level 1 is the outermost."""

    start: int
    level: int
    title: str


@dataclass(frozen=True, slots=True)
class Table:
    """A table in the text, from the beginning of its first row, and the names of its columns (``Name | Price``).

    Pieces of a long table carry `head` beside their text.
    """

    span: Span
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """A definition in source code. `name` is the dotted path (``Store.open``)."""

    span: Span
    name: str
    kind: str
    signature: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A stretch of the text with a place of its own: a page, a slide, a sheet, a cell, an archive member.

    A text is cut where segments begin and end, but not at a `fine` one: it tells more exactly where on its page or
    in its sheet a piece stands (`boxes`, or a `label` such as ``Sheet1!A3:F3``), and several may lie in one chunk.
    """

    span: Span
    page: int | None = None
    label: str | None = None
    member: str | None = None
    boxes: tuple[Box, ...] = ()
    fine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """A member of an archive, a mail or a PDF that may hold pictures of text.

    `at` counts the way to it: its number in the file, or that of the file around it and so on; it is empty, as is
    `member`, for the pages of a file that holds others. `kind` says what it is (``member``, ``attachment``). `span`
    is where its text stands, or belongs where it has none yet; `pages` are those without text.
    """

    at: tuple[int, ...]
    member: str
    media_type: str
    span: Span
    kind: str = "member"
    pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A file or a blob that an extractor reads.

    `path` is the name shown to people (relative, POSIX, NFC). `file` is where the bytes lie on disk;
    `data` holds them when there is no file. Picklable, since extraction runs in worker processes.
    """

    collection: str
    path: str
    media_type: str
    file: str | None = None
    data: bytes | None = None
    size: int = 0
    mtime_ns: int = 0

    def read(self) -> bytes:
        """Return the bytes.

        Raises:
            OSError: If the file cannot be read.
        """
        if self.data is not None:
            return self.data
        if self.file is None:
            raise FileNotFoundError(f"{self.path} has neither a file nor data")
        with open(self.file, "rb") as handle:
            return handle.read()


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A document as a reader sees it: its text, with the places that cut it up.

    In memory it is enough to give `path` and `text`; extractors fill in the rest. When `has_lines` is true, line
    numbers of `text` are those of the file (or `line_map` gives the file's line for each line of `text`, and
    `line_ends` its last one where it stands on several). `body_start` is where chunking begins (front matter lies
    before it). `pages_without_text` names pages that hold pictures instead of text, `scans` those members of which
    that may hold.
    """

    path: str
    text: str
    collection: str = "documents"
    media_type: str = "text/plain"
    title: str | None = None
    language: str | None = None
    date: str | None = None
    metadata: Metadata = field(default_factory=Metadata)
    has_lines: bool = True
    line_map: tuple[int, ...] | None = None
    line_ends: tuple[int, ...] | None = None
    body_start: int = 0
    segments: tuple[Segment, ...] = ()
    headings: tuple[Heading, ...] = ()
    symbols: tuple[Symbol, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()
    pages_without_text: tuple[int, ...] = ()
    scans: tuple[Scan, ...] = ()
    extractor: str = MEMORY


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A verbatim slice of a document: ``text == document.text[span.start:span.end]``.

    Context that helps retrieval (`title`, `headings`, `symbol`) stands beside the text, never in it.
    """

    id: ChunkId
    document_id: DocumentId
    collection: str
    path: str
    ordinal: int
    text: str
    span: Span
    location: Location = Location()
    headings: tuple[str, ...] = ()
    symbol: str | None = None
    symbol_kind: str | None = None
    title: str | None = None
    language: str | None = None
    media_type: str = "text/plain"
    date: str | None = None
    scope: str = "raw"

    @property
    def heading(self) -> str | None:
        """The heading path as one line, outermost first (``Setup > Install``)."""
        return " > ".join(self.headings) or None

    @property
    def context(self) -> tuple[str, ...]:
        """What is embedded and indexed beside the text: title, headings, symbol."""
        parts = [self.title, *self.headings, self.symbol]
        return tuple(dict.fromkeys(part for part in parts if part))


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentRow:
    """A row of the ledger: one file, its state and why. Times are UTC ISO 8601.

    `raw_path` is the exact name on disk, percent-escaped, where it differs from `path` (a name that is
    not UTF-8 or not NFC). `embedded` counts the chunks that have a vector; the rest are owed. `file_date` says that
    the document has no date of its own, so that `date` is the day on which its file changed. `inode` is the number
    of the file itself, 0 where the system has none: files that take each other's place have another one.
    """

    id: DocumentId
    collection: str
    path: str
    state: DocumentState
    code: str | None = None
    reason: str | None = None
    media_type: str = "application/octet-stream"
    title: str | None = None
    language: str | None = None
    date: str | None = None
    file_date: bool = False
    size: int = 0
    mtime_ns: int = 0
    inode: int = 0
    sha256: str = ""
    chunks: int = 0
    embedded: int = 0
    extractor: str = ""
    raw_path: str = ""
    attempted_at: str = ""
    indexed_at: str | None = None
    metadata: Metadata = field(default_factory=Metadata)
    warnings: tuple[str, ...] = ()

    @property
    def holds_chunks(self) -> bool:
        """Whether the document can be found; a missing file is still in the index."""
        return self.state in (DocumentState.INDEXED, DocumentState.MISSING)

    @property
    def ref(self) -> str:
        """``collection/path``, which names one document of the library."""
        return f"{self.collection}/{self.path}"

    @property
    def hint(self) -> str:
        """What to do where it is not indexed; empty where there is nothing to be done."""
        return hint_for(self.code)

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "collection": self.collection,
            "path": self.path,
            "state": str(self.state),
            "code": self.code,
            "reason": self.reason,
            "media_type": self.media_type,
            "title": self.title,
            "language": self.language,
            "date": self.date,
            "size": self.size,
            "sha256": self.sha256,
            "chunks": self.chunks,
            "embedded": self.embedded,
            "extractor": self.extractor,
            "attempted_at": self.attempted_at,
            "indexed_at": self.indexed_at,
            "metadata": self.metadata.to_dict(),
            "warnings": list(self.warnings),
        }


class FileStamp(NamedTuple):
    """The part of a ledger row that a sync compares with a file; read for every file, so kept small."""

    id: DocumentId
    path: str
    state: DocumentState
    code: str | None
    reason: str | None
    size: int
    mtime_ns: int
    inode: int
    chunks: int
    media_type: str
    extractor: str
    raw_path: str
    attempted_at: str
    sha256: str

    @property
    def key(self) -> tuple[str, bool]:
        """The exact name on disk, and whether it is written escaped."""
        return (self.raw_path, True) if self.raw_path else (self.path, False)

    @property
    def holds_chunks(self) -> bool:
        """Whether the document can be found; a missing file is still in the index."""
        return self.state is DocumentState.INDEXED or self.state is DocumentState.MISSING


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredText:
    """The extracted text of a document with what is needed to find places in it."""

    document_id: DocumentId
    text: str
    has_lines: bool = True
    line_map: tuple[int, ...] | None = None
    segments: tuple[Segment, ...] = ()
    headings: tuple[Heading, ...] = ()
    body_start: int = 0
    extractor: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePicture:
    """A page of a document as it looks: an image file.

    `width` and `height` are those of the page in points, 0 where it has none. `stale` says that the document's file has
    changed since it was indexed.
    """

    document_id: DocumentId
    collection: str
    path: str
    data: bytes = field(repr=False)
    media_type: str
    page: int = 1
    pages: int = 1
    width: float = 0.0
    height: float = 0.0
    stale: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A piece of a document's text, as `get_text` returns it."""

    document_id: DocumentId
    collection: str
    path: str
    text: str
    span: Span
    location: Location = Location()

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, object]:
        return {
            "document_id": self.document_id,
            "collection": self.collection,
            "path": self.path,
            "text": self.text,
            "char_start": self.span.start,
            "char_end": self.span.end,
            "line_start": self.location.line_start,
            "line_end": self.location.line_end,
            "page_start": self.location.page_start,
            "page_end": self.location.page_end,
            "label": self.location.label,
            "member": self.location.member,
        }
