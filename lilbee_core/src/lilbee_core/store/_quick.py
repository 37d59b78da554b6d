"""The reads that a search is made of, by the shortest way: one trip to the engine's thread each, and no schema.

The engine's blocking interface stands on its asynchronous one and asks for the schema on the way, so that a word query
makes five such trips and takes twice as long. Both ask for it once more, for columns of blobs; we have none.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from lilbee_core.store._engine import EVERY_COMMIT, lance

if TYPE_CHECKING:
    import pyarrow as pa

    from lilbee_core.types import Vector

T = TypeVar("T")
# The engine counts rows in 32 bits, and takes more for a damaged index.
_MOST = 2**31 - 1


class _Query(Protocol):
    def nearest_to_text(self, query: object) -> _Query: ...
    def nearest_to(self, query_vector: Vector) -> _Query: ...
    def distance_type(self, distance_type: str) -> _Query: ...
    def nprobes(self, nprobes: int) -> _Query: ...
    def refine_factor(self, refine_factor: int) -> _Query: ...
    def bypass_vector_index(self) -> _Query: ...
    def select(self, columns: list[str]) -> _Query: ...
    def where(self, predicate: str) -> _Query: ...
    def limit(self, limit: int) -> _Query: ...
    def to_arrow(self) -> Coroutine[object, object, pa.Table]: ...


class _Take(Protocol):
    def select(self, columns: list[str]) -> _Take: ...
    def with_row_id(self) -> _Take: ...
    def to_arrow(self) -> Coroutine[object, object, pa.Table]: ...


class _Steps(Protocol):
    _maybe_add_blob_row_id: Callable[[], Coroutine[object, object, None]]


class _Table(Protocol):
    def query(self) -> _Query: ...
    def take_row_ids(self, row_ids: list[int]) -> _Take: ...


class _Connection(Protocol):
    def open_table(self, name: str) -> Coroutine[object, object, _Table]: ...


class _Loop(Protocol):
    def run(self, future: Coroutine[object, object, T]) -> T: ...


@cache
def _loop() -> _Loop:
    lance()
    from lancedb.background_loop import LOOP

    return cast("_Loop", LOOP)


class QuickConnection:
    """Opens tables for quick reads. They share what the engine caches with all connections of the session."""

    def __init__(self, folder: Path, session: object) -> None:
        opening = lance().connect_async(str(folder), read_consistency_interval=EVERY_COMMIT, session=session)
        self._connection = _loop().run(cast("Coroutine[object, object, _Connection]", opening))

    def open_table(self, name: str) -> QuickTable:
        """Open a table."""
        return QuickTable(_loop().run(self._connection.open_table(name)))


class QuickTable:
    """A table to search in. Threads may share it; every call sees the newest commit."""

    def __init__(self, table: _Table) -> None:
        self._table = table

    def rows(self, columns: Sequence[str], where: str | None) -> pa.Table:
        """Return all rows that satisfy `where`."""
        query = self._table.query().select(list(columns))
        return _read(query.where(where) if where else query)

    def words(self, query: object, columns: Sequence[str], limit: int, where: str | None) -> pa.Table:
        """Return the best rows of a word query."""
        return _answer(self._table.query().nearest_to_text(query), columns, limit, where)

    def nearest(
        self, vector: Vector, columns: Sequence[str], limit: int, where: str | None, *, nprobes: int, refine: int
    ) -> pa.Table:
        """Return the rows that the vector index finds nearest; their exact distances decide."""
        query = self._table.query().nearest_to(vector).distance_type("cosine").nprobes(nprobes).refine_factor(refine)
        return _answer(query, columns, limit, where)

    def scan(self, vector: Vector, columns: Sequence[str], limit: int, where: str) -> pa.Table:
        """Return the nearest rows by comparing every vector."""
        query = self._table.query().nearest_to(vector).distance_type("cosine").bypass_vector_index()
        return _answer(query, columns, limit, where)

    def take(self, rows: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Return rows by their row ids, in no certain order; those that are gone are left out."""
        return _read(self._table.take_row_ids(list(rows)).select(list(columns)))

    def take_numbered(self, rows: Sequence[int], columns: Sequence[str]) -> pa.Table:
        """Return rows as `take` does, with a column of their row ids."""
        return _read(self._table.take_row_ids(list(rows)).select(list(columns)).with_row_id())


def _answer(query: _Query, columns: Sequence[str], limit: int, where: str | None) -> pa.Table:
    query = query.select(list(columns)).limit(min(limit, _MOST))
    return _read(query.where(where) if where else query)


def _read(query: _Query | _Take) -> pa.Table:
    # This step takes longer than many a read. A version of the engine without it is not touched.
    if hasattr(query, "_maybe_add_blob_row_id"):
        cast("_Steps", query)._maybe_add_blob_row_id = _no_blobs  # pyright: ignore[reportPrivateUsage]
    return _loop().run(query.to_arrow())


async def _no_blobs() -> None:
    return None
