"""The tables: their columns and how these lie on disk."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Final, Protocol, cast

if TYPE_CHECKING:
    import pyarrow as pa

    Field = pa.Field[pa.DataType]
else:
    Field = object


class _FixedSize(Protocol):
    list_size: int


SCHEMA: Final = 1
"""Version of the layout. It grows when old code could no longer read what new code writes."""

DOCUMENTS, TEXTS, CHUNKS, WIKI = "documents", "texts", "chunks", "wiki_chunks"
CITATIONS, CONCEPTS, EDGES, CHUNK_CONCEPTS, META = "citations", "concepts", "concept_edges", "chunk_concepts", "meta"
TABLES: Final = (META, TEXTS, CHUNKS, WIKI, CITATIONS, CONCEPTS, EDGES, CHUNK_CONCEPTS, DOCUMENTS)
CHUNK_TABLES: Final = (CHUNKS, WIKI)
BY_DOCUMENT: Final = (CHUNKS, WIKI, TEXTS, CITATIONS, CHUNK_CONCEPTS)
"""Tables whose rows belong to a document, by `document_id`."""

VECTOR, WORDS = "vector", "words"

# name, then `!` where null is forbidden, then `:kind` where it is not a short string.
_CHUNK = """
    id! document_id! revision collection path ordinal:small text:long char_start:whole char_end:whole
    line_start:small line_end:small page_start:small page_end:small label member boxes headings symbol symbol_kind
    title language media_type date content_hash:whole has_vector:flag words:long
"""
_COLUMNS: Final = {
    META: "key! value",
    TEXTS: """
        document_id! revision! codec size:whole data:bytes has_lines:flag body_start:whole extractor line_map:bytes
        segments headings
    """,
    CHUNKS: _CHUNK,
    WIKI: _CHUNK,
    CITATIONS: """
        page! marker:small document_id! chunk_id collection path quote quote_start:whole quote_end:whole
        answer_start:whole answer_end:whole verdict location
    """,
    CONCEPTS: "id! label kind aliases chunks:whole community:whole keys rank:whole",
    EDGES: "source! target! count:whole",
    CHUNK_CONCEPTS: "chunk_id! document_id! concept! count:whole surface kind stands_for revision",
    DOCUMENTS: """
        id! collection path state code reason media_type title language date size:whole mtime_ns:whole sha256
        chunks:whole embedded:whole extractor raw_path attempted_at indexed_at metadata warnings revision
        file_date:flag inode:whole
    """,
}
# Long strings lie in compressed blocks rather than one by one. In blocks of 32 KB rather than the engine's 4 KB they
# take a quarter less (overlapping neighbors share one), are written and scanned faster, and are fetched as fast.
# A table made with other blocks keeps its own and is read all the same.
_LONG = {
    "lance-encoding:structural-encoding": "miniblock",
    "lance-encoding:compression": "zstd",
    "lance-encoding:minichunk-size": "32768",
}


@cache
def schemas() -> dict[str, pa.Schema]:
    """Return the schema of every table; `vector` is added once its dimension is known."""
    import pyarrow as pa

    return {name: pa.schema([_field(column) for column in columns.split()]) for name, columns in _COLUMNS.items()}


def _field(column: str) -> Field:
    import pyarrow as pa

    kinds: dict[str, pa.DataType] = {
        "": pa.string(), "long": pa.string(), "bytes": pa.large_binary(), "small": pa.int32(), "whole": pa.int64(),
        "real": pa.float64(), "flag": pa.bool_(),
    }  # fmt: skip
    name, _, kind = column.partition(":")
    metadata = _LONG if kind == "long" else None
    return pa.field(name.rstrip("!"), kinds[kind], nullable=not name.endswith("!"), metadata=metadata)


def required(name: str) -> frozenset[str]:
    """Return the columns that every row of the table has in every version of the layout."""
    return frozenset(column.partition(":")[0].rstrip("!") for column in _COLUMNS[name].split() if "!" in column)


def vector_field(dimension: int) -> Field:
    """Return the column of vectors; null where a vector is owed."""
    import pyarrow as pa

    return pa.field(VECTOR, cast("pa.DataType", pa.list_(pa.float16(), dimension)))


def dimension_of(schema: pa.Schema) -> int | None:
    """Return the dimension of the vectors of a table, None while it has none."""
    position = schema.get_field_index(VECTOR)
    return cast("list[_FixedSize]", schema.types)[position].list_size if position >= 0 else None
