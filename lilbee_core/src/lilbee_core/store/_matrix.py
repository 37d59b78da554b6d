"""All vectors of a table in memory: read once, kept up to date by reading what changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lilbee_core.store._columns import row_ids, vectors
from lilbee_core.store._schema import VECTOR
from lilbee_core.types import Vector, Vectors

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lilbee_core.store._engine import Table

BATCH_ROWS = 8_192
GATHER_SHARE = 0.10
"""Up to this share of rows that pass a filter, gathering them beats the full product (measured)."""
RELOAD_SHARE = 0.20
"""From this share of changed rows on, everything is read anew."""
CHANGED = "_row_last_updated_at_version > {}"


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of one table version: unit rows with their chunk ids and row ids, ascending by these."""

    version: int
    ids: tuple[str, ...]
    rows: NDArray[np.uint64]
    vectors: Vectors

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return cast("int", self.vectors.shape[1])


@dataclass(frozen=True, slots=True)
class Best:
    """Places in a matrix with their similarity, in no order."""

    places: NDArray[np.intp]
    scores: NDArray[np.float32]


def load(table: Table, dimension: int) -> Matrix:
    """Read every vector; rows that cannot be compared (owed, zero, not finite) are left out."""
    import numpy as np

    version = table.version
    count = table.count_rows("has_vector")
    values = np.empty((count, dimension), dtype=np.float32)
    numbers = np.empty(count, dtype=np.uint64)
    ids: list[str] = []
    filled = 0
    search = table.search().select(["id", VECTOR]).where("has_vector").with_row_id(True)
    for batch in search.to_batches(BATCH_ROWS):
        end = filled + batch.num_rows
        if end > len(values):  # rows were committed between the count and the scan
            values = np.concatenate([values, np.empty((end - len(values), dimension), dtype=np.float32)])
            numbers = np.concatenate([numbers, np.empty(end - len(numbers), dtype=np.uint64)])
        values[filled:end] = vectors(batch, dimension)
        numbers[filled:end] = row_ids(batch)
        ids += _ids(batch)
        filled = end
    return _ordered(version, ids, numbers[:filled], values[:filled])


def refresh(table: Table, old: Matrix) -> Matrix:
    """Return the matrix of the newest version, reading only the rows that changed since `old`."""
    import numpy as np

    version = table.version
    changed = CHANGED.format(old.version)
    if table.count_rows(changed) > RELOAD_SHARE * len(old.ids):
        return load(table, old.dimension)
    search = table.search().select(["_rowid", "id", "has_vector", VECTOR]).where(changed)
    found = search.to_arrow()
    touched = row_ids(found)
    kept = ~np.isin(old.rows, touched)
    fresh = found.filter(found.column("has_vector"))
    if table.count_rows("has_vector") != kept.sum() + fresh.num_rows:  # some were deleted
        kept &= np.isin(old.rows, row_ids(table.search().select(["_rowid"]).where("has_vector").to_arrow()))
    if kept.all() and not fresh.num_rows:
        return Matrix(version, old.ids, old.rows, old.vectors)
    ids = [id_ for id_, keep in zip(old.ids, cast("list[bool]", kept.tolist()), strict=True) if keep] + _ids(fresh)
    numbers = np.concatenate([old.rows[kept], row_ids(fresh)])
    values = np.concatenate([old.vectors[kept], vectors(fresh, old.dimension)])
    return _ordered(version, ids, numbers, values)


def _ids(rows: pa.Table | pa.RecordBatch) -> list[str]:
    return cast("list[str]", rows.column("id").to_pylist())


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


def top(matrix: Matrix, query: Vector, limit: int, chosen: NDArray[np.intp] | None) -> Best:
    """Return the best `limit` rows of the matrix, or of the `chosen` places; more where the last ones are equal."""
    import numpy as np

    if chosen is not None and len(chosen) <= GATHER_SHARE * len(matrix.ids):
        scores, places = dot(matrix.vectors[chosen], query), chosen
    else:
        scores, places = dot(matrix.vectors, query), np.arange(len(matrix.ids))
        if chosen is not None:
            scores, places = scores[chosen], chosen
    if len(scores) > limit:
        threshold = np.partition(scores, -limit)[-limit]
        kept = np.flatnonzero(scores >= threshold)
        scores, places = scores[kept], places[kept]
    return Best(places, scores)


def dot(values: Vectors, query: Vector) -> NDArray[np.float32]:
    """Return the product row by row on one thread.

    A matrix product would start threads of the linear algebra library, which on a busy machine take three times
    as long; a product per row is as fast as one thread can read the memory.
    """
    import numpy as np

    if hasattr(np, "vecdot"):
        return cast("NDArray[np.float32]", np.vecdot(values, query))
    return cast("NDArray[np.float32]", np.einsum("ij,j->i", values, query))
