"""Values to rows and back."""

from __future__ import annotations

import array
import hashlib
import json
import math
import re
import sys
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from lilbee_core.errors import InvalidArgument, StoreError
from lilbee_core.protocols import IndexedDocument
from lilbee_core.store._columns import full_rows, part_rows, rows_of, vector_column
from lilbee_core.store._schema import CHUNKS, DOCUMENTS, TEXTS, VECTOR
from lilbee_core.types import (
    Box,
    Chunk,
    ChunkId,
    DocumentId,
    DocumentRow,
    DocumentState,
    FileStamp,
    Heading,
    Location,
    Metadata,
    Scored,
    Segment,
    Span,
    StoredText,
    Vector,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from lilbee_core.store._columns import Column

Row = dict[str, object]
_Text: TypeAlias = str | None
_Count: TypeAlias = int | None
_ChunkValues: TypeAlias = tuple[
    str, str, str, str, int, str, int, int, _Count, _Count, _Count, _Count,
    _Text, _Text, _Text, _Text, _Text, _Text, _Text, _Text, str, _Text,
]  # fmt: skip

CHUNK_COLUMNS = (
    "id", "document_id", "collection", "path", "ordinal", "text", "char_start", "char_end", "line_start", "line_end",
    "page_start", "page_end", "label", "member", "boxes", "headings", "symbol", "symbol_kind", "title", "language",
    "media_type", "date",
)  # fmt: skip
DOCUMENT_COLUMNS = (
    "id", "collection", "path", "state", "code", "reason", "media_type", "title", "language", "date", "size",
    "mtime_ns", "sha256", "chunks", "embedded", "extractor", "raw_path", "attempted_at", "indexed_at", "metadata",
    "warnings", "file_date", "inode",
)  # fmt: skip
_MIN_COMPRESSED = 64
# Three times as fast as zlib at its default, and 2 % larger.
_LEVEL = 3
_WORD = re.compile(r"[^ \t\n\r\f]+")


# --------------------------------------------------------------------------- chunks


def unique_chunks(document: IndexedDocument) -> IndexedDocument:
    """Return the document with every chunk id once: the engine would insert a doubled one twice.

    Raises:
        InvalidArgument: If words or vectors do not match the chunks, or a vector is not finite.
    """
    count = len(document.chunks)
    if {document.text.document_id, *(chunk.document_id for chunk in document.chunks)} != {document.row.id}:
        raise ValueError(f"the text and the chunks of {document.row.ref} must have its id {document.row.id}")
    if len(document.words) != count:
        raise InvalidArgument(
            f"{document.row.ref} has {count} chunks but {len(document.words)} strings of words",
            hint="give one string of analyzed words per chunk",
        )
    if document.vectors is not None:
        check_vectors(document.vectors, count, document.row.ref)
    first: dict[ChunkId, int] = {}
    for position, chunk in enumerate(document.chunks):
        first.setdefault(chunk.id, position)
    if len(first) == count:
        return document
    kept = list(first.values())
    return replace(
        document,
        mentions=tuple(document.mentions[i] for i in kept) if document.mentions else (),
        chunks=tuple(document.chunks[i] for i in kept),
        words=tuple(document.words[i] for i in kept),
        vectors=None if document.vectors is None else document.vectors[kept],
    )


def check_vectors(vectors: Vector, count: int, name: str) -> None:
    """Refuse vectors that would spoil a ranking.

    Raises:
        InvalidArgument: If the shape is wrong or a number is not finite.
    """
    import numpy as np

    if vectors.ndim != 2 or len(vectors) != count:
        raise InvalidArgument(
            f"{name} has {count} chunks but vectors of shape {vectors.shape}", hint="give one vector per chunk"
        )
    if not np.isfinite(vectors).all():
        raise InvalidArgument(
            f"the vectors of {name} hold numbers that are not finite", hint="check the embedding model and its server"
        )


def chunk_rows(
    documents: Sequence[IndexedDocument], dimension: int | None, revisions: Mapping[DocumentId, str]
) -> pa.Table:
    """Return the rows of the chunks of all documents, with a vector column when `dimension` is known.

    `revisions` names the text that the chunks of a document were cut from.
    """
    chunks = [chunk for document in documents for chunk in document.chunks]
    contents = [one for document in documents for one in document.contents or map(content_of, document.chunks)]
    columns: dict[str, Sequence[object] | Column] = {
        **_chunk_columns(chunks),
        "revision": [revisions[document.row.id] for document in documents for _ in document.chunks],
        "has_vector": [document.vectors is not None for document in documents for _ in document.chunks],
        "words": [single_blanks(words) for document in documents for words in document.words],
        "content_hash": [content_number(content) for content in contents],
    }
    if dimension is not None:
        columns[VECTOR] = vector_column([(len(one.chunks), one.vectors) for one in documents], dimension)
    return part_rows(columns, CHUNKS, dimension=dimension or 0)


def _chunk_columns(chunks: Sequence[Chunk]) -> dict[str, Sequence[object]]:
    names = ("id", "document_id", "collection", "path", "ordinal", "text", "symbol", "symbol_kind", "title", "language",
             "media_type", "date")  # fmt: skip
    places = [chunk.location for chunk in chunks]
    of_place = ("line_start", "line_end", "page_start", "page_end", "label", "member")
    return {
        **{name: [getattr(chunk, name) for chunk in chunks] for name in names},
        **{name: [getattr(place, name) for place in places] for name in of_place},
        "char_start": [chunk.span.start for chunk in chunks],
        "char_end": [chunk.span.end for chunk in chunks],
        "boxes": [dump([_box_values(box) for box in place.boxes]) if place.boxes else None for place in places],
        "headings": [dump(chunk.headings) if chunk.headings else None for chunk in chunks],
    }


def single_blanks(words: str) -> str:
    """Return the words with one blank between them, as the search for phrases expects."""
    odd = "  " in words or words[:1] == " " or words[-1:] == " " or any(blank in words for blank in "\t\n\r\f")
    return " ".join(_WORD.findall(words)) if odd else words


def content_of(chunk: Chunk) -> str:
    """Name what is embedded of a chunk, where the caller did not: its text and the context beside it."""
    joined = "\x00".join((*chunk.context, chunk.text)).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=8).hexdigest()


def content_number(content: str) -> int:
    """Return the number that the table keeps for the name of a content."""
    digest = hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little", signed=True)


def chunks_from(table: pa.Table, scope: str) -> list[Chunk]:
    """Return the chunks of a table of `CHUNK_COLUMNS`."""
    return [_chunk(row, scope) for row in rows_of(table, CHUNK_COLUMNS)]


def _chunk(row: tuple[object, ...], scope: str) -> Chunk:
    (
        id_, document_id, collection, path, ordinal, text, start, end, line_start, line_end, page_start, page_end,
        label, member, boxes, headings, symbol, symbol_kind, title, language, media_type, date,
    ) = cast("_ChunkValues", row)  # fmt: skip
    return Chunk(
        id=ChunkId(id_),
        document_id=DocumentId(document_id),
        collection=collection,
        path=path,
        ordinal=ordinal,
        text=text,
        span=Span(start, end),
        location=Location(
            line_start=line_start,
            line_end=line_end,
            page_start=page_start,
            page_end=page_end,
            label=label,
            member=member,
            boxes=_boxes(boxes),
        ),
        headings=_strings(headings),
        symbol=symbol,
        symbol_kind=symbol_kind,
        title=title,
        language=language,
        media_type=media_type,
        date=date,
        scope=scope,
    )


# --------------------------------------------------------------------------- documents


def document_rows(rows: Iterable[DocumentRow], revisions: Mapping[DocumentId, str]) -> pa.Table:
    """Return the ledger rows; `revisions` names the text that each document has."""
    return full_rows([{**_document_row(row), "revision": revisions.get(row.id)} for row in rows], DOCUMENTS)


def _document_row(row: DocumentRow) -> Row:
    values: Row = {name: getattr(row, name) for name in DOCUMENT_COLUMNS}
    values["state"] = str(row.state)
    values["metadata"] = dump(row.metadata.to_dict()) if row.metadata else None
    values["warnings"] = dump(row.warnings) if row.warnings else None
    return values


def documents_from(table: pa.Table) -> Iterator[DocumentRow]:
    """Yield the ledger rows of a table of `DOCUMENT_COLUMNS`."""
    names = DOCUMENT_COLUMNS
    for row in rows_of(table, names):
        values: dict[str, object] = {"metadata": None, "warnings": None, "file_date": None}
        # What an older version did not write has the value that a new row begins with.
        values.update((name, value) for name, value in zip(names, row, strict=True) if value is not None)
        values["state"] = DocumentState(cast("str", values["state"]))
        values["metadata"] = Metadata(load_object(cast("str | None", values["metadata"])))
        values["warnings"] = _strings(cast("str | None", values["warnings"]))
        values["file_date"] = values["file_date"] is True
        yield DocumentRow(**values)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def stamps_from(table: pa.Table) -> Iterator[FileStamp]:
    """Return the ledger rows as far as a sync compares them."""
    states = {str(state): state for state in DocumentState}
    columns = [_stamp_column(table, name) for name in FileStamp._fields]
    at = FileStamp._fields.index("state")
    columns[at] = [states[cast("str", state)] for state in columns[at]]
    return map(FileStamp._make, zip(*columns, strict=True))


def _stamp_column(table: pa.Table, name: str) -> list[object]:
    """Return a column of the ledger; what an older version did not write is equal to no file's."""
    default = {"size": -1, "mtime_ns": -1, "inode": -1, "chunks": 0, "code": None, "reason": None}.get(name, "")
    if name not in table.column_names:
        return [default] * len(table)
    column = table.column(name)
    values = cast("list[object]", column.to_pylist())
    return values if default is None or not column.null_count else [default if one is None else one for one in values]


# --------------------------------------------------------------------------- texts


def text_revision(text: StoredText) -> str:
    """Name a text by all that is stored of it, so that an edited document never shows a mixture."""
    digest = hashlib.blake2b(text.text.encode("utf-8", "surrogatepass"), digest_size=5)
    digest.update(repr((text.line_map, text.segments, text.headings, text.body_start, text.extractor)).encode())
    return digest.hexdigest()


def text_rows(texts: Iterable[StoredText], revisions: Mapping[DocumentId, str]) -> pa.Table:
    """Return the rows of extracted texts under these names."""
    rows: list[Row] = []
    for text in texts:
        codec, size, data = pack_text(text.text)
        rows.append(
            {
                "document_id": text.document_id,
                "revision": revisions[text.document_id],
                "codec": codec,
                "size": size,
                "data": data,
                "has_lines": text.has_lines,
                "body_start": text.body_start,
                "extractor": text.extractor,
                "line_map": pack_numbers(text.line_map),
                "segments": dump([_segment_values(one) for one in text.segments]) if text.segments else None,
                "headings": dump([(h.start, h.level, h.title) for h in text.headings]) if text.headings else None,
            }
        )
    return full_rows(rows, TEXTS)


def text_from(row: Mapping[str, object]) -> StoredText:
    """Return the text of a row of the table of texts."""
    segments = load_list(cast("str | None", row["segments"]))
    headings = load_list(cast("str | None", row["headings"]))
    return StoredText(
        document_id=DocumentId(cast("str", row["document_id"])),
        text=unpack_text(cast("str", row["codec"]), cast("int", row["size"]), cast("bytes", row["data"])),
        has_lines=cast("bool", row["has_lines"]),
        line_map=unpack_numbers(cast("bytes | None", row["line_map"])),
        segments=tuple(_segment(cast("list[object]", one)) for one in segments),
        headings=tuple(Heading(start=s, level=n, title=t) for s, n, t in cast("list[tuple[int, int, str]]", headings)),
        body_start=cast("int", row["body_start"]),
        extractor=cast("str", row["extractor"]),
    )


def pack_text(text: str) -> tuple[str, int, bytes]:
    """Return how the text is packed, its size as bytes, and the bytes."""
    import pyarrow as pa

    data = text.encode("utf-8", "surrogatepass")
    if len(data) < _MIN_COMPRESSED:
        return "raw", len(data), data
    return "zstd", len(data), pa.Codec("zstd", _LEVEL).compress(data, asbytes=True)


def unpack_text(codec: str, size: int, data: bytes) -> str:
    """Return the text that `pack_text` packed.

    Raises:
        StoreError: If the bytes are damaged.
    """
    import pyarrow as pa

    try:
        raw = data if codec == "raw" else pa.decompress(data, size, "zstd", asbytes=True)
        return raw.decode("utf-8", "surrogatepass")
    except (OSError, ValueError) as error:
        raise StoreError(
            "a stored text is damaged", hint="run `lilbee rebuild` to build the index again", code="store.damaged"
        ) from error


def pack_numbers(numbers: Sequence[int] | None) -> bytes | None:
    """Pack ascending numbers: their steps, compressed."""
    if numbers is None:
        return None
    steps = array.array("q", (b - a for a, b in zip((0, *numbers), numbers, strict=False)))
    if sys.byteorder == "big":
        steps.byteswap()
    return zlib.compress(steps.tobytes(), 6)


def unpack_numbers(data: bytes | None) -> tuple[int, ...] | None:
    """Return the numbers that `pack_numbers` packed."""
    if data is None:
        return None
    steps = array.array("q")
    steps.frombytes(zlib.decompress(data))
    if sys.byteorder == "big":
        steps.byteswap()
    total, numbers = 0, list[int]()
    for step in steps:
        total += step
        numbers.append(total)
    return tuple(numbers)


# --------------------------------------------------------------------------- small parts


def best_first(ids: Sequence[str], scores: Sequence[float]) -> tuple[Scored, ...]:
    """Return ids with their scores, highest first and ties by id; a score that is not a number is left out."""
    pairs = [(-score, id_) for id_, score in zip(ids, scores, strict=True) if math.isfinite(score)]
    return tuple(Scored(ChunkId(id_), -score) for score, id_ in sorted(pairs))


def dump(value: object) -> str:
    """Return JSON in its shortest form."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def load_list(text: str | None) -> list[object]:
    """Return the list in a JSON column; null is empty."""
    return cast("list[object]", json.loads(text)) if text else []


def load_object(text: str | None) -> dict[str, object]:
    """Return the object in a JSON column; null is empty."""
    return cast("dict[str, object]", json.loads(text)) if text else {}


def _strings(text: str | None) -> tuple[str, ...]:
    return tuple(cast("list[str]", load_list(text)))


def _box_values(box: Box) -> tuple[object, ...]:
    return (box.page, box.left, box.bottom, box.right, box.top)


def _boxes(text: str | None) -> tuple[Box, ...]:
    return tuple(_box(cast("list[float]", one)) for one in load_list(text)) if text else ()


def _box(values: list[float]) -> Box:
    page, left, bottom, right, top = values
    return Box(page=int(page), left=left, bottom=bottom, right=right, top=top)


def _segment_values(segment: Segment) -> tuple[object, ...]:
    boxes = [_box_values(box) for box in segment.boxes]
    values = (segment.span.start, segment.span.end, segment.page, segment.label, segment.member, boxes)
    return (*values, True) if segment.fine else values


def _segment(values: list[object]) -> Segment:
    start, end, page, label, member, boxes = cast(
        "tuple[int, int, int | None, str | None, str | None, list[list[float]]]", tuple(values[:6])
    )
    return Segment(
        span=Span(start, end),
        page=page,
        label=label,
        member=member,
        boxes=tuple(map(_box, boxes)),
        fine=len(values) > 6,
    )
