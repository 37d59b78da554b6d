"""The vector index over the store of DATA: what building it takes, what it finds, how fast; with ROUNDS questions."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
from lancedb.index import IvfSq

from lilbee_core.embed import MiniLM
from lilbee_core.store import Store
from lilbee_core.types import Filter, Vector
from tests.bench._measure import percentile
from tests.bench.tools._many import questions

NEAREST = 10
NARROW = Filter(paths=("folder07/",))
Find = Callable[[Vector], list[str]]


def timed_s(work: Callable[[], object]) -> float:
    """Return the seconds that `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measured(find: Find, queries: Sequence[Vector]) -> tuple[list[list[str]], float]:
    """Return what is found for each query, and the median of the milliseconds."""
    find(queries[0]), find(queries[0]), find(queries[0])
    found: list[list[str]] = []
    times = [1000 * timed_s(lambda asked=query: found.append(find(asked))) for query in queries]
    return found, percentile(times, 0.5)


def recall(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]]) -> float:
    """Return the share of what is wanted that was found."""
    hits = sum(len(set(one) & set(other)) for one, other in zip(found, wanted, strict=True))
    return hits / sum(map(len, wanted))


def finder(store: Store, filters: Filter | None = None) -> Find:
    """Return what searches a store."""
    narrowed = filters or Filter()
    return lambda query: [one.chunk_id for one in store.dense(query, limit=NEAREST, filters=narrowed)]


def build(data: Path, query: Vector) -> dict[str, Any]:
    """Build the index, plain and ours, and search all the while."""
    table = lancedb.connect(data / "index", read_consistency_interval=timedelta(0)).open_table("chunks")
    plain_s = timed_s(lambda: table.create_index("vector", config=IvfSq(distance_type="cosine"), replace=True))
    table.drop_index("vector_idx")
    waits: list[float] = []
    done = threading.Event()
    with Store.open(data) as store:

        def search() -> None:
            with Store.open(data) as other:
                while not done.is_set():
                    waits.append(1000 * timed_s(lambda: other.dense(query, limit=NEAREST)))
                    time.sleep(0.05)

        thread = threading.Thread(target=search)
        thread.start()
        began = time.perf_counter()
        report = store.build_vector_index()
        ours_s = time.perf_counter() - began
        done.set()
        thread.join()
    return {
        "plain_s": plain_s, "ours_s": ours_s, "own_recall": report.recall, "probes": report.probes,
        "searches_meanwhile": len(waits), "longest_ms": max(waits),
    }  # fmt: skip


def main(arguments: Sequence[str]) -> int:
    data, rounds = Path(arguments[0]), int(arguments[1])
    queries = list(np.asarray(MiniLM.load().embed(questions(rounds)), dtype=np.float32))
    told = build(data, queries[0])
    table = lancedb.connect(data / "index", read_consistency_interval=timedelta(0)).open_table("chunks")

    def flat(query: Vector) -> list[str]:
        search = table.search(query).distance_type("cosine").select(["id", "_distance"]).bypass_vector_index()
        found: list[str] = search.limit(NEAREST).to_arrow()["id"].to_pylist()
        return found

    with Store.open(data) as indexed, Store.open(data, ann_index_threshold=0) as exact:
        exact_hits, told["exact_ms"] = measured(finder(exact), queries)
        hits, told["ours_ms"] = measured(finder(indexed), queries)
        narrow_hits, told["narrow_ms"] = measured(finder(indexed, NARROW), queries)
        narrow_wanted, _ = measured(finder(exact, NARROW), queries)
    _, told["flat_ms"] = measured(flat, queries[:20])
    told["recall"] = recall(hits, exact_hits)
    told["narrow_recall"] = recall(narrow_hits, narrow_wanted)
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
