"""Search the library of FOLDER and DATA in a warm process, ROUNDS x 20 different queries; beside each, the bare steps.

Then the same queries for their meaning alone, and with and without the reports of the stages.

The bare steps are those that no hybrid search can do without: the query's vector, one word query over the same column
with the same words, one product with a matrix of the stored vectors, ten rows by their place.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import lancedb
import numpy as np
from lancedb.query import MatchQuery

from lilbee_core import Lilbee
from lilbee_core.analysis import Analyzer
from lilbee_core.embed import MiniLM
from lilbee_core.protocols import SearchContext, SearchStage
from lilbee_core.search import _combinators, _pipeline
from lilbee_core.types import SearchState
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


def spread(times: Sequence[float]) -> dict[str, float]:
    """Return the middle and the slow end of some times."""
    return {"p50_ms": percentile(times, 0.5), "p95_ms": percentile(times, 0.95)}


@contextmanager
def no_reports() -> Generator[None]:
    """Run stages without a report, a check or a look at the clock, as if nobody ever wanted to know."""

    def bare_run(stage: SearchStage, state: SearchState, context: SearchContext) -> SearchState:
        return stage.run(state, context)

    kept = _pipeline.run_stage
    _pipeline.run_stage = _combinators.run_stage = bare_run
    try:
        yield
    finally:
        _pipeline.run_stage = _combinators.run_stage = kept


def reported(bee: Lilbee, rounds: int) -> dict[str, float]:
    """Return what a search takes with its reports and without them, in turns, once the query's vector is known."""
    with_them: list[float] = []
    without: list[float] = []
    for turn in range(rounds):
        for query in QUERIES:
            bee.search(query, top_k=10)
            for traced in (True, False) if turn % 2 else (False, True):
                if traced:
                    with_them.append(timed_ms(lambda asked=query: bee.search(asked, top_k=10)))
                else:
                    with no_reports():
                        without.append(timed_ms(lambda asked=query: bee.search(asked, top_k=10)))
    return {"traced_ms": percentile(with_them, 0.5), "untraced_ms": percentile(without, 0.5)}


def main(arguments: Sequence[str]) -> int:
    folder, data, rounds = arguments[0], arguments[1], int(arguments[2])
    ours: list[float] = []
    floor: list[float] = []
    vectors: list[float] = []
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
                vectors.append(timed_ms(lambda asked=fresh: bee.search(f"vec: {asked} again", top_k=10)))
                for name, ms in result.timings_ms.items():
                    stages.setdefault(name, []).append(ms)
        told = {
            "ours": spread(ours),
            "floor": spread(floor),
            "vectors": spread(vectors),
            "stages": {name: spread(found) for name, found in stages.items()},
            **reported(bee, rounds),
        }
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
