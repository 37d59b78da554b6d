"""Search the library of FOLDER and DATA in a warm process, ROUNDS x 20 different queries; beside each, the bare steps.

The bare steps are those that no hybrid search can do without: the query's vector, one word query over the same column
with the same words, one product with a matrix of the stored vectors, ten rows by their place.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

import lancedb
import numpy as np
from lancedb.query import MatchQuery

from lilbee_core import Lilbee
from lilbee_core.analysis import Analyzer
from lilbee_core.embed import MiniLM
from tests.bench._measure import percentile

QUERIES = (
    "parse email headers", "decode base64 data", "event loop", "context manager", "default json encoder",
    "mock patch in a unit test", "xml parser", "http client request", "compile a regular expression",
    "thread lock acquire", "socket timeout error", "format a date", "file permissions", "subprocess pipe output",
    "rotate log files", "pickle protocol", "extract a zip archive", "random sample", "decimal rounding",
    "window widget",
)  # fmt: skip
COLUMNS = ["id", "document_id", "path", "text", "char_start", "char_end", "line_start", "line_end"]
LIMIT = 100


class Bare:
    """The engine's table and the vectors in it, without lilbee."""

    def __init__(self, data: str, model: MiniLM) -> None:
        connection = lancedb.connect(Path(data) / "index", read_consistency_interval=timedelta(0))
        self._table = connection.open_table("chunks")
        self._model = model
        self._analyzer = Analyzer()
        rows = self._table.search().select(["vector"]).with_row_id(True).where("has_vector").to_arrow()
        values = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
        self._vectors = values.astype(np.float32).reshape(rows.num_rows, -1)
        self._rows = rows["_rowid"].to_numpy()

    def search(self, query: str) -> None:
        vector = self._model.embed([query])[0]
        text = MatchQuery(self._analyzer.query(query, languages=("en",)).match_text, "words")
        self._table.search(text, query_type="fts").select(["_rowid", "_score"]).limit(LIMIT).to_arrow()
        scores = self._vectors @ vector
        best = np.argpartition(scores, -LIMIT)[-LIMIT:] if len(scores) > LIMIT else np.arange(len(scores))
        best = best[np.argsort(-scores[best])][:10]
        self._table.take_row_ids(self._rows[best].tolist()).select(COLUMNS).to_arrow().to_pylist()


def timed_ms(work: Callable[[], object]) -> float:
    """Return the milliseconds that `work` takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def main(arguments: Sequence[str]) -> int:
    folder, data, rounds = arguments[0], arguments[1], int(arguments[2])
    ours: list[float] = []
    floor: list[float] = []
    stages: dict[str, list[float]] = {}
    with MiniLM.load() as model, Lilbee(folder, data_dir=data) as bee:
        bare = Bare(data, model)
        for query in QUERIES[:5] * 2:
            bee.search(query)
            bare.search(query)
        for turn in range(rounds):
            for query in QUERIES:
                # A query that was asked before would find its vector remembered.
                fresh = f"{query} {turn}"
                began = time.perf_counter()
                result = bee.search(fresh, top_k=10)
                ours.append((time.perf_counter() - began) * 1000)
                floor.append(timed_ms(lambda asked=fresh: bare.search(asked)))
                for name, ms in result.timings_ms.items():
                    stages.setdefault(name, []).append(ms)
    told = {
        "ours": {"p50_ms": percentile(ours, 0.5), "p95_ms": percentile(ours, 0.95)},
        "floor": {"p50_ms": percentile(floor, 0.5), "p95_ms": percentile(floor, 0.95)},
        "stages": {name: percentile(found, 0.5) for name, found in stages.items()},
    }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
