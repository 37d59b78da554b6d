"""Columns of the engine's tables as plain lists and numpy arrays, with types."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

from lilbee_core.errors import InvalidArgument
from lilbee_core.store._schema import VECTOR, Field, schemas, vector_field
from lilbee_core.types import Vectors

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Column = pa.Array[Any] | pa.ChunkedArray[Any]


class _Lists(Protocol):
    """A piece of a column of vectors: its numbers without the nulls, one after the other."""

    def flatten(self) -> object: ...


class _Chunked(Protocol):
    chunks: Sequence[_Lists]


class _FixedSizeLists(Protocol):
    def from_arrays(self, values: object, limit_size: int, *, mask: object) -> Column: ...


def strings(table: pa.Table | pa.RecordBatch, name: str) -> list[str]:
    """Return a column of strings without nulls."""
    return cast("list[str]", table.column(name).to_pylist())


def pairs(table: pa.Table, first: str, second: str) -> Iterator[tuple[str, str]]:
    """Yield two columns of strings side by side."""
    return zip(strings(table, first), strings(table, second), strict=True)


def row_ids(table: pa.Table | pa.RecordBatch) -> NDArray[np.uint64]:
    """Return the engine's row ids."""
    return cast("NDArray[np.uint64]", table.column("_rowid").to_numpy())


def vectors(table: pa.Table | pa.RecordBatch, dimension: int) -> Vectors:
    """Return the column of vectors, which holds no null."""
    import numpy as np

    column = cast("_Chunked", table.column(VECTOR))
    parts = getattr(column, "chunks", [cast("_Lists", column)])
    blocks = [np.asarray(part.flatten(), dtype=np.float32).reshape(-1, dimension) for part in parts]
    return blocks[0] if len(blocks) == 1 else np.concatenate([np.empty((0, dimension), np.float32), *blocks])


def vector_column(blocks: Sequence[tuple[int, Vectors | None]], dimension: int) -> Column:
    """Return blocks of vectors as one column; a block without vectors becomes nulls."""
    import numpy as np
    import pyarrow as pa

    total = sum(count for count, _ in blocks)
    values = np.zeros((total, dimension), dtype=np.float16)
    missing = np.ones(total, dtype=np.bool_)
    row = 0
    for count, block in blocks:
        if block is not None:
            values[row : row + count] = block
            missing[row : row + count] = False
        row += count
    flat = pa.array(values.reshape(-1), type=pa.float16())
    mask = pa.array(missing) if missing.any() else None
    return cast("_FixedSizeLists", pa.FixedSizeListArray).from_arrays(flat, dimension, mask=mask)


def rows_of(table: pa.Table, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
    """Yield the rows as tuples in the order of `names`; a column that the table lacks is None."""
    present = set(table.column_names)
    columns = [cast("list[object]", table.column(name).to_pylist()) if name in present else None for name in names]
    return zip(*(column if column is not None else [None] * len(table) for column in columns), strict=True)


def full_rows(rows: Sequence[Mapping[str, object]], name: str) -> pa.Table:
    """Return rows with every column of the table `name`."""
    return part_rows({field: [row.get(field) for row in rows] for field in schemas()[name].names}, name)


def part_rows(columns: Mapping[str, Sequence[object] | Column], name: str, *, dimension: int = 0) -> pa.Table:
    """Return rows with some of the columns of the table `name`; `dimension` is that of vectors among them.

    Raises:
        InvalidArgument: If a text cannot be stored.
    """
    import pyarrow as pa

    schema = schemas()[name]
    known = dict(zip(schema.names, cast("Iterable[Field]", schema), strict=True))
    fields = [vector_field(dimension) if one == VECTOR else known[one] for one in columns]
    try:
        return pa.table(cast("dict[str, Sequence[Any]]", dict(columns)), schema=pa.schema(fields))
    except UnicodeEncodeError as error:
        raise InvalidArgument(
            f"text with half a surrogate pair cannot be stored: {error.object[error.start : error.start + 20]!r}",
            hint="replace such characters when the file is decoded",
        ) from error
