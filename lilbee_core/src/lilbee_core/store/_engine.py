"""The one door to the database libraries: imported on first use, with the parts we call written down as protocols."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypedDict, cast

from lilbee_core.store._defer import defer
from lilbee_core.store._filters import is_in

if TYPE_CHECKING:
    import pyarrow as pa

    from lilbee_core.store._schema import Field

_MOST_COMPARED = 2_000
_MANIFEST, _DIGITS, _LAST = ".manifest", 20, 2**64 - 1
_CLIENT = "lance_namespace_urllib3_client"
EVERY_COMMIT = timedelta(0)
"""How old what a read sees may be."""
INDEX_CACHE_BYTES, METADATA_CACHE_BYTES = 1_000_000_000, 15_000_000
"""What the engine keeps in memory at the most. By itself it would keep 7 GB: a long sync made a thousand commits, and
it remembered them all."""
STABLE_ROW_IDS = {"new_table_enable_stable_row_ids": "true"}


class Session(Protocol):
    """What the engine remembers for all connections that share it."""

    @property
    def size_bytes(self) -> int: ...


class Search(Protocol):
    """A query that is being put together; every method but the last ones returns it."""

    def where(self, where: str) -> Search: ...
    def select(self, columns: list[str]) -> Search: ...
    def limit(self, limit: int) -> Search: ...
    def with_row_id(self, with_row_id: bool) -> Search: ...
    def distance_type(self, distance_type: str) -> Search: ...
    def nprobes(self, nprobes: int) -> Search: ...
    def refine_factor(self, refine_factor: int) -> Search: ...
    def bypass_vector_index(self) -> Search: ...
    def to_arrow(self) -> pa.Table: ...
    def to_batches(self, batch_size: int) -> Iterator[pa.RecordBatch]: ...


class Take(Protocol):
    """A read of rows by their row ids: they come in the order of the ids, each once, missing ones left out."""

    def select(self, columns: list[str]) -> Take: ...
    def with_row_id(self) -> Take: ...
    def to_arrow(self) -> pa.Table: ...


class Merge(Protocol):
    """An upsert that is being put together."""

    def when_matched_update_all(self) -> Merge: ...
    def when_not_matched_insert_all(self) -> Merge: ...
    def when_not_matched_by_source_delete(self, condition: str) -> Merge: ...
    def execute(self, new_data: pa.Table, on_bad_vectors: str = "error") -> object: ...


class IndexEntry(Protocol):
    """What the engine says about one index."""

    name: str
    index_type: str
    columns: list[str]
    num_indexed_rows: int
    num_unindexed_rows: int
    num_segments: int
    size_bytes: int | None
    index_uuid: str | None


class Lengths(TypedDict):
    """Rows per data file, deleted ones included."""

    mean: float


class Fragments(TypedDict):
    """Counts of data files."""

    num_fragments: int
    lengths: Lengths


class TableStats(TypedDict):
    """Sizes of a table."""

    num_rows: int
    total_bytes: int
    fragment_stats: Fragments


class Table(Protocol):
    """A table of the index."""

    @property
    def version(self) -> int: ...
    @property
    def schema(self) -> pa.Schema: ...
    def search(self, query: object = None, *, query_type: str = "auto") -> Search: ...
    def take_row_ids(self, row_ids: list[int]) -> Take: ...
    def count_rows(self, filter: str | None = None) -> int: ...  # noqa: A002 - the engine's name
    def add(self, data: pa.Table, *, mode: str = "append", on_bad_vectors: str = "error") -> object: ...
    def delete(self, where: str) -> object: ...
    def update(self, where: str | None = None, *, values_sql: Mapping[str, str]) -> object: ...
    def merge_insert(self, on: str | Sequence[str]) -> Merge: ...
    def add_columns(self, transforms: Field | list[Field]) -> object: ...
    def drop_columns(self, columns: Sequence[str]) -> object: ...
    def create_index(self, column: str, *, config: object, replace: bool = True) -> object: ...
    def drop_index(self, name: str) -> object: ...
    def restore(self, version: int) -> object: ...
    def list_indices(self) -> list[IndexEntry]: ...
    def stats(self) -> TableStats: ...
    def optimize(self, *, cleanup_older_than: timedelta | None = None, delete_unverified: bool = False) -> object: ...


class Connection(Protocol):
    """A folder of tables."""

    def open_table(self, name: str) -> Table: ...
    def create_table(
        self, name: str, *, schema: pa.Schema, exist_ok: bool, storage_options: Mapping[str, str]
    ) -> Table: ...


class _Lance(Protocol):
    def connect(self, uri: str, *, read_consistency_interval: timedelta, session: object) -> Connection: ...
    def Session(  # noqa: N802 - the engine's name
        self, *, index_cache_size_bytes: int, metadata_cache_size_bytes: int
    ) -> object: ...
    def connect_async(self, uri: str, *, read_consistency_interval: timedelta, session: object) -> object: ...


class _Occur(Protocol):
    MUST: object
    SHOULD: object


class _Operator(Protocol):
    AND: object
    OR: object


class _Queries(Protocol):
    Occur: _Occur
    FullTextOperator: _Operator

    def MatchQuery(self, query: str, column: str, *, operator: object) -> object: ...  # noqa: N802 - the engine's names
    def BooleanQuery(self, queries: Sequence[tuple[object, object]]) -> object: ...  # noqa: N802


@cache
def _queries() -> _Queries:
    lance()
    from lancedb import query

    return cast("_Queries", query)


@cache
def lance() -> _Lance:
    """Return the library, imported now if it was not yet."""
    # The client of remote tables makes a model of each call that it offers, which is a third of the import (1.16 ->
    # .76 CPU seconds), and nobody here asks for them.
    defer(_CLIENT)
    # A fifth of the rest is the collector looking at objects that all stay.
    enabled = gc.isenabled()
    gc.disable()
    try:
        with _quiet():
            import lancedb
    finally:
        if enabled:
            gc.enable()
    return cast("_Lance", lancedb)


@contextmanager
def _quiet() -> Generator[None]:
    """Keep the native library from printing its own warnings to standard error, unless the user asked for them."""
    environment = os.environ  # noqa: TID251 - read by the library once, when it is imported
    if "LANCEDB_LOG" in environment:
        yield
        return
    environment["LANCEDB_LOG"] = "off"
    try:
        yield
    finally:
        del environment["LANCEDB_LOG"]


def new_session() -> Session:
    """Return what connections share so that what the engine caches is held once."""
    made = lance().Session(index_cache_size_bytes=INDEX_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES)
    return cast("Session", made)


def connect(folder: Path, session: object = None) -> Connection:
    """Open the folder of tables; every read sees the newest commit."""
    return lance().connect(str(folder), read_consistency_interval=EVERY_COMMIT, session=session)


def newest_version(folder: Path) -> int | None:
    """Return the number of the newest commit of the table in `folder`, None where the names there do not tell.

    The engine numbers commits downwards from the largest number, so that the newest comes first. Looking at the names
    takes a tenth of what asking it does.
    """
    try:
        names = os.listdir(folder / "_versions")
    except OSError:
        return None
    numbers = [name[:_DIGITS] for name in names if len(name) == _DIGITS + len(_MANIFEST) and name.endswith(_MANIFEST)]
    newest = min(numbers, default="")
    return _LAST - int(newest) if newest.isdecimal() else None


def versions(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield the numbers of the commits of the table in `folder` with the files that describe them, newest first."""
    for path in sorted((folder / "_versions").glob(f"*{_MANIFEST}")):
        if path.stem.isdecimal() and len(path.stem) == _DIGITS:
            yield _LAST - int(path.stem), path


def update(table: Table, rows: pa.Table, *, on: str = "id") -> None:
    """Change the given columns of rows that exist; other rows are left out."""
    table.merge_insert(on).when_matched_update_all().execute(rows, on_bad_vectors="null")


def upsert(table: Table, rows: pa.Table, *, on: str | Sequence[str] = "id", replaced: str | None = None) -> None:
    """Write rows in one commit; rows that satisfy `replaced` and are not among them are deleted in it.

    Rows that these may take the place of must satisfy `replaced`, where it is given.
    """
    # A merge compares with every row that there is. Where nothing can be in the way, as in a first sync, adding does
    # the same in a fraction of the time.
    if rows.num_rows and _none_in_the_way(table, rows, on, replaced):
        table.add(rows, on_bad_vectors="null")
        return
    merge = table.merge_insert(on).when_matched_update_all().when_not_matched_insert_all()
    if replaced is not None:
        merge = merge.when_not_matched_by_source_delete(replaced)
    # The engine takes a missing vector for a bad one; ours were checked, and null is what it shall be.
    merge.execute(rows, on_bad_vectors="null")


def overwrite(table: Table, rows: pa.Table) -> None:
    """Replace all rows in one commit; the columns become those of `rows`."""
    table.add(rows, mode="overwrite")


def _none_in_the_way(table: Table, rows: pa.Table, on: str | Sequence[str], replaced: str | None) -> bool:
    if replaced is None:
        key = on if isinstance(on, str) else on[0]
        names = cast("list[str]", rows.column(key).to_pylist())
        if len(names) > _MOST_COMPARED:
            return False
        replaced = is_in(key, names)
    return table.count_rows(replaced) == 0


def words_index() -> object:
    """Return the settings of the word index: it only splits at blanks, the rest was done by our analyzer.

    It keeps no positions, which would make up half of it: the words beside it say what follows what.
    """
    lance()
    from lancedb.index import FTS

    return FTS(
        with_position=False,
        base_tokenizer="whitespace",
        stem=False,
        remove_stop_words=False,
        lower_case=False,
        ascii_folding=False,
        max_token_length=None,
    )


def vector_index() -> object:
    """Return the settings of the vector index: a byte per number, the engine's own number of partitions."""
    lance()
    from lancedb.index import IvfSq

    return IvfSq(distance_type="cosine")


def word_query(column: str, text: str, required: str = "") -> object:
    """Return a query for any word of `text`; rows must hold every word of `required`."""
    queries = _queries()
    either = queries.MatchQuery(text, column, operator=queries.FullTextOperator.OR)
    if not required:
        return either
    every = queries.MatchQuery(required, column, operator=queries.FullTextOperator.AND)
    return queries.BooleanQuery([(queries.Occur.MUST, every), (queries.Occur.SHOULD, either)])
