"""All vectors of a table in memory: read once, kept up to date by reading what changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from lilbee_core.store._columns import row_ids, strings, vectors
from lilbee_core.store._schema import VECTOR
from lilbee_core.types import Vector, Vectors

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lilbee_core.store._engine import Table

BATCH_ROWS = 8_192
ID_BYTES = 73
"""What the id of a chunk takes: 16 characters as a string, and its place in a list."""
GATHER_SHARE = 0.10
"""Up to this share of rows that pass a filter, gathering them beats the full product (measured)."""
RELOAD_SHARE = 0.20
"""From this share of changed or dead rows on, everything is read anew."""
_CHANGED, _CREATED = "_row_last_updated_at_version", "_row_created_at_version"
SLACK = 1.1
"""Room for rows to come."""


@dataclass(frozen=True, slots=True)
class Matrix:
    """The vectors of one table version as unit rows, with their chunk ids and row ids.

    Rows are only ever added behind the others, in the room of the same arrays, and rows that were changed or
    deleted are marked dead: an update costs what changed, and threads that still read an older matrix see theirs.
    `total` counts all rows of the table, those without a vector too. `changed` are the ids of the chunks that were
    written since the version that this one was made from; None where it was read as a whole.
    """

    version: int
    total: int
    ids: list[str]
    rows: NDArray[np.uint64]
    vectors: Vectors
    dead: NDArray[np.bool_]
    room: tuple[NDArray[np.uint64], Vectors]
    changed: frozenset[str] | None = None

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return cast("int", self.vectors.shape[1])

    @property
    def memory_bytes(self) -> int:
        """What it takes, the room for rows to come included."""
        return self.room[0].nbytes + self.room[1].nbytes + self.dead.nbytes + ID_BYTES * len(self.ids)

    def passing(self, rows: NDArray[np.uint64]) -> NDArray[np.intp]:
        """Return the places of these rows."""
        import numpy as np

        return np.flatnonzero(np.isin(self.rows, rows) & ~self.dead)


@dataclass(frozen=True, slots=True)
class Best:
    """Places in a matrix with their similarity, in no order."""

    places: NDArray[np.intp]
    scores: NDArray[np.float32]


def load(table: Table, dimension: int) -> Matrix:
    """Read every vector; rows that cannot be compared (zero, not finite) are dead from the start."""
    version = table.version
    total = table.count_rows()
    matrix = _with_room(version, total, table.count_rows("has_vector"), dimension)
    search = table.search().select(["id", VECTOR]).where("has_vector").with_row_id(True)
    for batch in search.to_batches(BATCH_ROWS):
        matrix = _added(matrix, version, total, matrix.dead, batch)
    return matrix


def refresh(table: Table, old: Matrix) -> Matrix:
    """Return the matrix of the newest version, reading only the rows that changed since `old`."""
    import numpy as np

    version = table.version
    most = int(RELOAD_SHARE * len(old.rows)) + 1
    search = table.search().select(["_rowid", _CREATED, "id", "has_vector", VECTOR])
    found = search.where(f"{_CHANGED} > {old.version}").limit(most).to_arrow()
    if found.num_rows >= most:
        return load(table, old.dimension)
    dead = old.dead | np.isin(old.rows, row_ids(found))
    total = table.count_rows()
    created = np.asarray(found.column(_CREATED).to_pylist(), dtype=np.int64)
    matrix = _added(old, version, total, dead, found.filter(found.column("has_vector")))
    if total != old.total + np.count_nonzero(created > old.version):  # some were deleted
        alive = row_ids(table.search().select(["_rowid"]).where("has_vector").to_arrow())
        matrix = replace(matrix, dead=matrix.dead | ~np.isin(matrix.rows, alive))
    if np.count_nonzero(matrix.dead) > RELOAD_SHARE * len(matrix.rows):
        return load(table, old.dimension)
    return replace(matrix, changed=frozenset(strings(found, "id")))


def _with_room(version: int, total: int, count: int, dimension: int) -> Matrix:
    import numpy as np

    size = int(SLACK * count) + 64
    room = np.empty(size, dtype=np.uint64), np.empty((size, dimension), dtype=np.float32)
    return Matrix(version, total, [], room[0][:0], room[1][:0], np.zeros(0, dtype=np.bool_), room)


def _added(old: Matrix, version: int, total: int, dead: NDArray[np.bool_], new: pa.Table | pa.RecordBatch) -> Matrix:
    """Return the matrix with more rows."""
    import numpy as np

    first, last = len(old.rows), len(old.rows) + new.num_rows
    room = old.room
    if last > len(room[0]):
        wider = _with_room(version, total, last, old.dimension).room
        wider[0][:first], wider[1][:first] = old.rows, old.vectors
        room = wider
    values = vectors(new, old.dimension)
    norms = np.sqrt(np.einsum("ij,ij->i", values, values))
    usable = np.isfinite(norms) & (norms > 0)
    room[0][first:last] = row_ids(new)
    room[1][first:last] = np.divide(values, norms[:, None], where=usable[:, None], out=np.zeros_like(values))
    ids = [*old.ids, *cast("list[str]", new.column("id").to_pylist())]
    return Matrix(version, total, ids, room[0][:last], room[1][:last], np.concatenate([dead, ~usable]), room)


def top(matrix: Matrix, query: Vector, limit: int, chosen: NDArray[np.intp] | None) -> Best:
    """Return the best `limit` rows of the matrix, or of the `chosen` places; more where the last ones are equal."""
    import numpy as np

    if chosen is not None and len(chosen) <= GATHER_SHARE * len(matrix.rows):
        scores, places = dot(matrix.vectors[chosen], query), chosen
    else:
        scores = dot(matrix.vectors, query)
        places = np.flatnonzero(~matrix.dead) if chosen is None else chosen
        scores = scores[places]
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
