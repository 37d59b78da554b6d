"""Exact vector search: from a matrix in memory while the process lives, else by the engine's flat scan."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lilbee_core.errors import EmbedderMismatch, InvalidArgument
from lilbee_core.store._columns import row_ids, strings, vectors
from lilbee_core.store._engine import Table
from lilbee_core.store._rows import best_first
from lilbee_core.store._schema import VECTOR, dimension_of
from lilbee_core.store._tables import Tables
from lilbee_core.types import Scored, Vector, Vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH_ROWS = 8_192
GATHER_SHARE = 0.10
"""Up to this share of rows that pass a filter, gathering them beats the full product (measured)."""
MAX_MASKS = 16


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of one table version: unit rows, their chunk ids and their row ids, ascending."""

    version: int
    ids: tuple[str, ...]
    row_ids: NDArray[np.uint64]
    vectors: Vectors


def load_matrix(table: Table, version: int, dimension: int) -> Matrix:
    """Read every vector into memory; rows that cannot be compared (owed, zero, not finite) are left out."""
    import numpy as np

    rows = table.count_rows("has_vector")
    values = np.empty((rows, dimension), dtype=np.float32)
    numbers = np.empty(rows, dtype=np.uint64)
    ids: list[str] = []
    search = table.search().select(["id", VECTOR]).where("has_vector").with_row_id(True)
    filled = 0
    for batch in search.to_batches(BATCH_ROWS):
        end = filled + batch.num_rows
        if end > len(values):  # rows were committed between the count and the scan
            values = np.concatenate([values, np.empty((end - len(values), dimension), dtype=np.float32)])
            numbers = np.concatenate([numbers, np.empty(end - len(numbers), dtype=np.uint64)])
        values[filled:end] = vectors(batch, dimension)
        numbers[filled:end] = row_ids(batch)
        ids += cast("list[str]", batch.column("id").to_pylist())
        filled = end
    return _ordered(version, ids, numbers[:filled], values[:filled])


def _ordered(version: int, ids: list[str], numbers: NDArray[np.uint64], values: Vectors) -> Matrix:
    import numpy as np

    norms = np.sqrt(np.einsum("ij,ij->i", values, values))
    usable = np.isfinite(norms) & (norms > 0)
    order = np.argsort(numbers, kind="stable")
    order = order[usable[order]]
    if len(order) < len(ids) or (order[:-1] > order[1:]).any():
        ids = [ids[i] for i in cast("list[int]", order.tolist())]
        numbers, values, norms = numbers[order], values[order], norms[order]
    values /= norms[:, None]
    return Matrix(version, tuple(ids), numbers, values)


def top(matrix: Matrix, query: Vector, limit: int, rows: NDArray[np.intp] | None) -> tuple[Scored, ...]:
    """Return the best `limit` of the matrix, or of its `rows`; ties by chunk id."""
    import numpy as np

    if rows is not None and len(rows) <= GATHER_SHARE * len(matrix.vectors):
        scores, places = matrix.vectors[rows] @ query, rows
    else:
        scores, places = matrix.vectors @ query, np.arange(len(matrix.vectors))
        if rows is not None:
            scores, places = scores[rows], rows
    if len(scores) > limit:
        threshold = np.partition(scores, -limit)[-limit]
        kept = np.flatnonzero(scores >= threshold)
        scores, places = scores[kept], places[kept]
    return best_first([matrix.ids[place] for place in places], cast("list[float]", scores.tolist()))[:limit]


def check_query(vector: Vector, dimension: int) -> Vector | None:
    """Return the query as a unit vector, None when it points nowhere.

    Raises:
        EmbedderMismatch: If its dimension is not that of the index.
        InvalidArgument: If it is not a vector of finite numbers.
    """
    import numpy as np

    query = np.asarray(vector, dtype=np.float32)
    if query.ndim != 1 or not np.isfinite(query).all():
        raise InvalidArgument("the query vector is not one row of finite numbers", hint="check the embedding model")
    if len(query) != dimension:
        raise EmbedderMismatch(
            f"the query vector has dimension {len(query)}, the index {dimension}",
            hint="configure the embedder that built the index, or run `lilbee rebuild`",
        )
    norm = float(np.linalg.norm(query))
    return query / np.float32(norm) if norm > 0 else None


class Dense:
    """Vector search over one table. The matrix is built on the second query of a table version."""

    def __init__(self, tables: Tables, name: str, *, cache_bytes: int) -> None:
        self._tables = tables
        self._name = name
        self._cache_bytes = cache_bytes
        self._lock = threading.Lock()
        self._matrix: Matrix | None = None
        self._asked: object = None
        self._masks: OrderedDict[str, NDArray[np.intp]] = OrderedDict()

    def search(self, vector: Vector, limit: int, where: str | None) -> tuple[Scored, ...]:
        """Return the nearest chunks by cosine similarity, best first."""
        if limit < 1:
            return ()
        tables, name = self._tables, self._name
        return tables.read(
            name, "search the vectors", lambda t: self._search(t, vector, limit, tables.visible(name, where)), ()
        )

    def forget(self) -> None:
        """Free the memory."""
        with self._lock:
            self._matrix = self._asked = None
            self._masks.clear()

    def _search(self, table: Table, vector: Vector, limit: int, where: str | None) -> tuple[Scored, ...]:
        dimension = dimension_of(table.schema)
        if dimension is None:
            return ()
        query = check_query(vector, dimension)
        if query is None:
            return ()
        matrix = self._current(table, dimension)
        if matrix is None:
            return self._flat(table, query, limit, where)
        return top(matrix, query, limit, self._rows(table, matrix, where) if where else None)

    def _current(self, table: Table, dimension: int) -> Matrix | None:
        version = table.version
        key = (self._tables.generation, version)
        with self._lock:
            if self._matrix is not None and self._asked == key:
                return self._matrix
            first, self._asked = self._asked != key, key
            self._matrix = None
            self._masks.clear()
            if first or table.count_rows() * dimension * 4 > self._cache_bytes:
                return None
            self._matrix = load_matrix(table, version, dimension)
            return self._matrix

    def _rows(self, table: Table, matrix: Matrix, where: str) -> NDArray[np.intp]:
        import numpy as np

        with self._lock:
            known = self._masks.get(where)
        if known is not None:
            return known
        found = table.search().select(["_rowid"]).where(f"has_vector AND ({where})").to_arrow()
        rows = np.flatnonzero(np.isin(matrix.row_ids, row_ids(found)))
        with self._lock:
            self._masks[where] = rows
            while len(self._masks) > MAX_MASKS:
                self._masks.popitem(last=False)
        return rows

    def _flat(self, table: Table, query: Vector, limit: int, where: str | None) -> tuple[Scored, ...]:
        condition = f"has_vector AND ({where})" if where else "has_vector"
        search = table.search(query).distance_type("cosine").select(["id", "_distance"]).where(condition)
        found = search.limit(limit).bypass_vector_index().to_arrow()
        distances = cast("list[float]", found.column("_distance").to_pylist())
        return best_first(strings(found, "id"), [1.0 - one for one in distances])
