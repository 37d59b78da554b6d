"""Approximate vector search for big tables: an index of the engine, with how far to look found out when it is built.

The index keeps a byte per number (SQ) in the engine's own number of partitions: on real vectors more and smaller
ones only cost time to build: the last true neighbors lie far apart however the vectors are cut. How many
partitions a query looks into is measured against exact search, on mixtures of four stored vectors: these lie as far
from the nearest stored one as questions do (cosine .62), and their neighbors are as scattered.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from lilbee_core.store._columns import row_ids, vectors
from lilbee_core.store._engine import Table, vector_index
from lilbee_core.store._layout import write_atomically
from lilbee_core.store._matrix import BATCH_ROWS
from lilbee_core.store._quick import QuickTable
from lilbee_core.store._schema import VECTOR, dimension_of
from lilbee_core.store._tables import Tables
from lilbee_core.types import Vector, Vectors

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

COLUMNS = ("id", "_rowid", "_distance")
QUERIES, NEAREST = 60, 30
GOOD_RECALL = 0.995
LEAST_RECALL = 0.98
"""With less the index is not used."""
FIRST_PROBES, EVERYWHERE, STEPS, PRECISION = 5, 100_000, 3, 0.2
MIXED = 4
MARGIN = 2.0
"""A query looks into so many times as many partitions as the mixtures needed."""
REFINE = 2
"""Candidates per hit that are compared by their full vectors."""
TOLERANCE = 2e-4
"""Two ways of adding up half precision numbers may differ by as much."""
MAX_SEGMENTS = 8
MAX_GROWTH = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """How an index is searched: into how many partitions a query looks, and what share of the best it found so."""

    generation: int
    rows: int
    nprobes: int
    recall: float
    forced: bool = False
    """Whether somebody asked for it: then it is used and kept however few the vectors are."""

    @property
    def is_good(self) -> bool:
        """Whether the index finds enough to be used."""
        return self.recall >= LEAST_RECALL


class CalibrationFile:
    """The calibration of one table, beside the tables, so that a copied library is searched in the same way."""

    def __init__(self, tables: Tables, name: str) -> None:
        self._tables = tables
        self._path = tables.index / f"{name}.ann.json"
        self._seen: tuple[int, int] | None = None
        self._known: Calibration | None = None

    def read(self) -> Calibration | None:
        """Return the calibration of the index as it is now, None where none was built."""
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        stamp = (found.st_mtime_ns, found.st_ino)
        if stamp != self._seen:
            self._known = _parsed(self._path)
            self._seen = stamp
        known = self._known
        return known if known is not None and known.generation == self._tables.generation else None

    def write(self, calibration: Calibration) -> None:
        """Keep the calibration."""
        with self._tables.engine("write the index"):
            write_atomically(self._path, json.dumps(asdict(calibration)).encode())

    def force(self) -> None:
        """Note that somebody asked for this index."""
        known = self.read()
        if known is not None and not known.forced:
            self.write(replace(known, forced=True))

    def forget(self) -> None:
        """Delete it, while the index is built anew."""
        with suppress(OSError):
            self._path.unlink()


def _parsed(path: Path) -> Calibration | None:
    try:
        values = cast("dict[str, float | bool]", json.loads(path.read_bytes()))
        return Calibration(
            generation=int(values["generation"]),
            rows=int(values["rows"]),
            nprobes=int(values["nprobes"]),
            recall=float(values["recall"]),
            forced=values.get("forced", False) is True,
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def build(tables: Tables, name: str) -> Calibration | None:
    """Build the index of a table, and find out how far a query must look. Called under the writer lock."""
    table = tables.require(name)
    file = CalibrationFile(tables, name)
    with tables.engine("build the vector index"):
        dimension = dimension_of(table.schema)
        if dimension is None:
            return None
        old = file.read()
        file.forget()
        table.create_index(VECTOR, config=vector_index(), replace=True)
        nprobes, recall = calibrate(table, tables.quick(name), dimension)
        calibration = Calibration(
            generation=tables.generation,
            rows=table.count_rows(),
            nprobes=nprobes,
            recall=round(recall, 4),
            forced=old is not None and old.forced,
        )
    file.write(calibration)
    return calibration


def calibrate(table: Table, quick: QuickTable, dimension: int) -> tuple[int, float]:
    """Return how many partitions a query should look into, and the recall that this gives at the least."""
    queries = mixtures(table, dimension)
    worst = thresholds(table, queries, dimension)
    best = min(NEAREST, table.count_rows("has_vector"))

    def hits(at: int, nprobes: int) -> int:
        found = search(quick, queries[at], NEAREST, None, nprobes)
        distances = cast("list[float]", found.column("_distance").to_pylist())
        return sum(1.0 - distance >= worst[at] - TOLERANCE for distance in distances)

    return fewest_probes(Trial(hits, len(queries), best).recall)


def fewest_probes(recall_at: Callable[[int], float]) -> tuple[int, float]:
    """Return how many partitions to look into for a good recall, with some to spare, and the recall without these."""
    enough, seen = FIRST_PROBES, [recall_at(FIRST_PROBES)]
    # Once every partition is looked into, looking further changes nothing.
    while seen[-1] < GOOD_RECALL and (len(seen) <= STEPS or seen[-1] > seen[-1 - STEPS]):
        enough *= 2
        seen.append(recall_at(enough))
    recall, too_few = seen[-1], enough // 2 if len(seen) > 1 else enough
    while recall >= GOOD_RECALL and enough - too_few > enough * PRECISION:
        middle = (too_few + enough) // 2
        found = recall_at(middle)
        if found >= GOOD_RECALL:
            enough, recall = middle, found
        else:
            too_few = middle
    return math.ceil(enough * MARGIN), recall


def mixtures(table: Table, dimension: int) -> Vectors:
    """Return unit vectors between four stored ones each, always the same for the same table."""
    import numpy as np

    random = np.random.default_rng(0)
    rows = row_ids(table.search().select(["_rowid"]).where("has_vector").to_arrow())
    chosen = random.choice(rows, size=min(MIXED * QUERIES, len(rows)), replace=False)
    found = table.take_row_ids(cast("list[int]", chosen.tolist())).select([VECTOR]).to_arrow()
    # Rows come in the order of the table, where neighbors are of one document.
    values = random.permutation(vectors(found, dimension))
    parts = min(MIXED, len(values))
    sums = values[: len(values) // parts * parts].reshape(parts, -1, dimension).sum(axis=0)
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return cast("Vectors", (sums / np.where(norms > 0, norms, 1)).astype(np.float32))


def thresholds(table: Table, queries: Vectors, dimension: int) -> NDArray[np.float32]:
    """Return for each query the similarity of its `NEAREST`-th stored vector, by looking at all of them."""
    import numpy as np

    best = np.full((len(queries), NEAREST), -2.0, dtype=np.float32)
    for batch in table.search().select([VECTOR]).where("has_vector").to_batches(BATCH_ROWS):
        values = vectors(batch, dimension)
        norms = np.linalg.norm(values, axis=1)
        scores = np.where(norms > 0, (queries @ values.T) / np.where(norms > 0, norms, 1), -2.0)
        every = np.concatenate([best, scores.astype(np.float32)], axis=1)
        best = np.partition(every, -NEAREST, axis=1)[:, -NEAREST:]
    return cast("NDArray[np.float32]", best.min(axis=1))


class Trial:
    """The recall of a number of queries, each with `best` true neighbors.

    Looking further loses nothing that was found. So a query that has all its neighbors, or as many with fewer as with
    more partitions, is not asked again, and most have them all at once.
    """

    def __init__(self, hits: Callable[[int, int], int], queries: int, best: int) -> None:
        self._hits = hits
        self._best = best
        self._known: list[dict[int, int]] = [{} for _ in range(queries)]

    def recall(self, nprobes: int) -> float:
        """Return the share of the true neighbors that is found by looking into so many partitions."""
        total = sum(self._found(at, known, nprobes) for at, known in enumerate(self._known))
        return total / max(self._best * len(self._known), 1)

    def _found(self, at: int, known: dict[int, int], nprobes: int) -> int:
        with_fewer = max((hits for looked, hits in known.items() if looked <= nprobes), default=0)
        with_more = min((hits for looked, hits in known.items() if looked >= nprobes), default=self._best)
        if nprobes not in known:
            known[nprobes] = with_fewer if with_fewer >= with_more else self._hits(at, nprobes)
        return known[nprobes]


def finds_a_vector(tables: Tables, name: str, table: Table) -> bool:
    """Say whether the index finds any vector, where there is one."""
    dimension = tables.dimension_of(name, table)
    if dimension is None or not table.count_rows("has_vector"):
        return True
    import numpy as np

    query = np.zeros(dimension, dtype=np.float32)
    query[0] = 1.0
    return search(tables.quick(name), query, 1, None, FIRST_PROBES).num_rows > 0


def search(table: QuickTable, query: Vector, limit: int, where: str | None, nprobes: int) -> pa.Table:
    """Return the nearest rows by the index. With a filter it looks everywhere: what passes may lie far off."""
    return table.nearest(query, COLUMNS, limit, where, nprobes=EVERYWHERE if where else nprobes, refine=REFINE)
