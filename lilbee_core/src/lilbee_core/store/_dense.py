"""Vector search: from a matrix in memory while the process lives, by the engine's scan, or by its index when big."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

from lilbee_core.errors import EmbedderMismatch, InvalidArgument, StoreError
from lilbee_core.store import _ann as ann
from lilbee_core.store._ann import COLUMNS, Calibration, CalibrationFile
from lilbee_core.store._columns import row_ids, strings
from lilbee_core.store._health import Health
from lilbee_core.store._matrix import Matrix, load, refresh, top
from lilbee_core.store._places import Places
from lilbee_core.store._rows import best_first
from lilbee_core.store._schema import VECTOR
from lilbee_core.store._tables import Tables
from lilbee_core.types import ChunkId, Scored, Vector

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lilbee_core.store._engine import Table

MAX_MASKS = 16
Version = tuple[int, int]


class Held:
    """A matrix with the places that pass each filter asked so far; both belong to one version of the table."""

    def __init__(self, version: Version, matrix: Matrix, *, made_from: Held | None = None) -> None:
        """Take the matrix, and what it was made from, where it was.

        `before` is the version since which it knows what changed, None where it does not know. Where a commit came
        between a look at the version and the reading, the older matrix was newer than it said.
        """
        self.version = version
        self.matrix = matrix
        knows = made_from is not None and matrix.changed is not None and made_from.is_as_told
        self.before = made_from.version if made_from is not None and knows else None
        self._lock = threading.Lock()
        self._passing: OrderedDict[str, NDArray[np.intp]] = OrderedDict()
        self._place_of: dict[str, int] | None = None
        self._by_row: tuple[NDArray[np.uint64], NDArray[np.intp]] | None = None

    @property
    def is_as_told(self) -> bool:
        """Whether the matrix is of this version, and not of one that came meanwhile."""
        return self.matrix.version == self.version[1]

    def ids_of(self, rows: NDArray[np.uint64]) -> list[str] | None:
        """Return the ids of the chunks in these rows of the table, None if one is not here: it has no vector."""
        import numpy as np

        by_row = self._by_row
        if by_row is None:
            order = np.argsort(self.matrix.rows, kind="stable")
            by_row = self._by_row = (self.matrix.rows[order], order)
        ordered, places = by_row
        at = np.minimum(np.searchsorted(ordered, rows), len(ordered) - 1)
        if not len(ordered) or not np.array_equal(ordered[at], rows):
            return None
        return [self.matrix.ids[place] for place in cast("list[int]", places[at].tolist())]

    def is_unchanged(self, id_: ChunkId) -> bool:
        """Say whether the chunk was there before already, and is as it was; False where that is not known."""
        changed, place = self.matrix.changed, self._places().get(id_)
        return changed is not None and place is not None and id_ not in changed and not self.matrix.dead[place]

    def _places(self) -> Mapping[str, int]:
        places = self._place_of
        if places is None:
            # Of a chunk that was written again, the later row counts.
            places = self._place_of = {id_: place for place, id_ in enumerate(self.matrix.ids)}
        return places

    def vectors(self, ids: Sequence[str]) -> dict[ChunkId, Vector]:
        """Return the vectors of those of the chunks that are here."""
        places = self._places()
        known = {id_: places[id_] for id_ in ids if id_ in places}
        dead, rows = self.matrix.dead, self.matrix.vectors
        return {ChunkId(id_): rows[place] for id_, place in known.items() if not dead[place]}

    def passing(self, table: Table, where: str) -> NDArray[np.intp]:
        """Return the places of the rows that satisfy `where`."""
        with self._lock:
            known = self._passing.get(where)
        if known is not None:
            return known
        found = table.search().select(["_rowid"]).where(f"has_vector AND ({where})").to_arrow()
        places = self.matrix.passing(row_ids(found))
        with self._lock:
            self._passing[where] = places
            if len(self._passing) > MAX_MASKS:
                self._passing.popitem(last=False)
        return places


class Dense:
    """Vector search over one table. Threads may share it.

    A process that asks once reads the column; one that asks again about the same version of the table gets the
    matrix, which later versions only bring up to date. From a threshold on the engine's index is asked instead,
    once it is there.
    """

    def __init__(
        self, tables: Tables, name: str, places: Places, health: Health, *, cache_bytes: int, ann_threshold: int
    ) -> None:
        self._tables = tables
        self._health = health
        self._ann_threshold = ann_threshold
        self._calibration = CalibrationFile(tables, name)
        self.name = name
        self._places = places
        self._cache_bytes = cache_bytes
        self._building = threading.Lock()
        self._held: Held | None = None
        self._asked: Version | None = None
        self._counted: tuple[Version, int] | None = None

    def search(self, vector: Vector, limit: int, where: str | None) -> tuple[Scored, ...]:
        """Return the nearest chunks by cosine similarity, best first."""
        if limit < 1:
            return ()
        tables, name = self._tables, self.name

        def use(table: Table) -> tuple[Scored, ...]:
            return self._search(table, vector, limit, tables.visible(name, where))

        try:
            return tables.read(name, "search the vectors", use, ())
        except StoreError as error:
            if error.code != "store.damaged" or self._in_use() is None:
                raise
        # It may be the index alone; the vectors themselves are in the table.
        self._health.failed(name, VECTOR)
        return tables.read(name, "search the vectors", use, ())

    def vectors(self, ids: Sequence[str]) -> dict[ChunkId, Vector]:
        """Return those of the vectors that are in memory, if what is there is of the newest commit."""
        held = self.newest()
        return {} if held is None else held.vectors(ids)

    def newest(self) -> Held | None:
        """Return what is in memory, if it is of the newest commit."""
        held = self._held
        version = self._tables.state_of(self.name) if held is not None else None
        return held if held is not None and held.version == version else None

    @property
    def memory_bytes(self) -> int:
        """What the vectors take in memory now."""
        held = self._held
        return held.matrix.memory_bytes if held is not None else 0

    def forget(self) -> None:
        """Free the memory."""
        self._held = self._asked = None

    def _search(self, table: Table, vector: Vector, limit: int, where: str | None) -> tuple[Scored, ...]:
        dimension = self._tables.dimension_of(self.name, table)
        if dimension is None:
            return ()
        query = check_query(vector, dimension)
        if query is None:
            return ()
        calibration = self._in_use()
        if calibration is not None and self._uses(calibration, table):
            self._held = None
            found = ann.search(self._tables.quick(self.name), query, limit, _with_vector(where), calibration.nprobes)
            return self._ranked(found)[:limit]
        held = self._current(table, dimension)
        if held is None:
            return self._flat(query, limit, where)
        matrix = held.matrix
        best = top(matrix, query, limit, held.passing(table, where) if where else None)
        ids = [matrix.ids[place] for place in cast("list[int]", best.places.tolist())]
        self._learn(ids, matrix.rows[best.places])
        return best_first(ids, cast("list[float]", best.scores.tolist()))[:limit]

    def _in_use(self) -> Calibration | None:
        """Return how the index is searched, None without an index that can be used."""
        calibration = self._calibration.read() if self._ann_threshold else None
        return None if calibration is None or self._health.broken(self.name, VECTOR) else calibration

    def _uses(self, calibration: Calibration, table: Table) -> bool:
        return calibration.is_good and (calibration.forced or self._count(table) >= self._ann_threshold)

    def _count(self, table: Table) -> int:
        """Return the number of rows; the engine is asked once per commit."""
        version = self._tables.state_of(self.name)
        known = self._counted
        if known is None or known[0] != version:
            known = self._counted = (version, table.count_rows())
        return known[1]

    def _current(self, table: Table, dimension: int) -> Held | None:
        """Return the matrix of the newest version, None where the engine is to read the column instead."""
        version = self._tables.state_of(self.name)
        held = self._held
        if held is not None and held.version == version:
            return held
        # Whoever comes while another thread reads the vectors does not wait for it.
        if not self._building.acquire(blocking=False):
            return None
        try:
            return self._build(table, dimension, version, self._held)
        finally:
            self._building.release()

    def _build(self, table: Table, dimension: int, version: Version, held: Held | None) -> Held | None:
        if table.count_rows() * dimension * 4 > self._cache_bytes:
            self._held = None
            return None
        if held is not None and held.version[0] == version[0] and held.matrix.dimension == dimension:
            self._held = Held(version, refresh(table, held.matrix), made_from=held)
        elif self._asked == version:
            self._held = Held(version, load(table, dimension))
        else:
            self._held = None
            self._asked = version
        return self._held

    def _flat(self, query: Vector, limit: int, where: str | None) -> tuple[Scored, ...]:
        table = self._tables.quick(self.name)
        return self._ranked(table.scan(query, COLUMNS, limit, _with_vector(where) or "has_vector"))

    def _ranked(self, found: pa.Table) -> tuple[Scored, ...]:
        ids = strings(found, "id")
        self._learn(ids, row_ids(found))
        distances = cast("list[float]", found.column("_distance").to_pylist())
        return best_first(ids, [1.0 - one for one in distances])

    def _learn(self, ids: list[str], rows: NDArray[np.uint64]) -> None:
        self._places.learn(self._tables.generation, zip(ids, cast("list[int]", rows.tolist()), strict=True))


def _with_vector(where: str | None) -> str | None:
    return f"has_vector AND ({where})" if where else None


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
