"""Approximate vector search: built when big, calibrated by itself, never worse than it says, off when asked.

Shows R195-R200.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path

import numpy as np
import pytest

from lilbee_core.errors import InvalidArgument
from lilbee_core.store import Store
from lilbee_core.store import _ann as ann
from lilbee_core.store import _upkeep as upkeep
from lilbee_core.types import Filter, Vectors
from tests.core.store._build import a_document, ids, unit_vectors

DIMENSION, THRESHOLD, PER_DOCUMENT = 48, 4_000, 100


def clustered(count: int, seed: int) -> Vectors:
    """Return unit vectors around 60 centers, as those of texts about 60 things would lie."""
    random = np.random.default_rng(seed)
    centers = np.random.default_rng(0).standard_normal((60, DIMENSION))
    values = centers[random.integers(0, 60, count)] + 0.7 * random.standard_normal((count, DIMENSION))
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float32)


def fill(store: Store, documents: int, *, first: int = 0) -> None:
    values = clustered(documents * PER_DOCUMENT, seed=first)
    store.put(
        [
            a_document(
                f"doc{first + i}",
                [f"w{first + i} {k}" for k in range(PER_DOCUMENT)],
                path=f"folder{i % 20}/doc{first + i}.md",
                vectors=values[i * PER_DOCUMENT : (i + 1) * PER_DOCUMENT],
            )
            for i in range(documents)
        ]
    )


def recall(store: Store, exact: Store, filters: Filter | None = None) -> float:
    queries = clustered(40, seed=99)
    filters = filters or Filter()
    hits = 0
    for query in queries:
        wanted = set(ids(exact.dense(query, limit=10, filters=filters)))
        hits += len(wanted & set(ids(store.dense(query, limit=10, filters=filters))))
    return hits / (10 * len(queries))


@pytest.mark.slow
def test_it_is_built_at_the_threshold_and_finds_what_exact_search_finds(tmp_path: Path) -> None:
    with (
        Store.open(tmp_path, ann_index_threshold=THRESHOLD) as store,
        Store.open(tmp_path, ann_index_threshold=0) as exact,
    ):
        fill(store, 39)
        store.maintain()
        assert not list(tmp_path.rglob("*.ann.json"))
        fill(store, 3, first=1000)
        assert any("vector index" in said for said in store.maintain())
        file = next(iter(tmp_path.rglob("*.ann.json")))
        assert not any("vector index" in said for said in store.maintain())
        assert recall(store, exact) >= 0.99
        assert recall(store, exact, Filter(paths=("folder3/",))) >= 0.99
        assert recall(store, exact, Filter(document_ids=("doc5",))) == 1.0

        # What comes later is found at once, and folded in without building anew.
        built = file.stat().st_mtime_ns
        fill(store, 2, first=2000)
        assert recall(store, exact) >= 0.99
        store.maintain(force=True)
        assert file.stat().st_mtime_ns == built
        assert recall(store, exact) >= 0.99
        assert store.check() == ()


@pytest.mark.slow
def test_searches_go_on_while_it_is_built(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store, Store.open(tmp_path) as reader:
        fill(store, 60)
        query = clustered(1, seed=1)[0]
        expected = ids(reader.dense(query, limit=5))
        done = threading.Event()
        seen: list[list[str]] = []

        def search() -> None:
            while not done.is_set():
                seen.append(ids(reader.dense(query, limit=5)))

        thread = threading.Thread(target=search)
        thread.start()
        store.build_vector_index()
        done.set()
        thread.join()
        assert len(seen) > 5
        assert all(found == expected for found in seen)
        assert ids(reader.dense(query, limit=5)) == expected
        assert reader.stats().vector_bytes == 0, "the memory of exact search is not given back"


@pytest.mark.slow
def test_it_is_built_again_when_the_table_has_doubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MIN_UNINDEXED_VECTORS", 100)
    with Store.open(tmp_path, ann_index_threshold=1_000) as store:
        fill(store, 12)
        store.maintain()
        fill(store, 15, first=500)
        assert any("vector index" in said for said in store.maintain())


@pytest.mark.slow
def test_it_is_off_below_the_threshold_and_when_the_vectors_are_gone(tmp_path: Path) -> None:
    with Store.open(tmp_path, ann_index_threshold=1_000) as store:
        fill(store, 12)
        store.maintain()
        store.remove([a_document(f"doc{i}").row.id for i in range(5)])
        with Store.open(tmp_path, ann_index_threshold=0) as exact:
            assert recall(store, exact) == 1.0
        store.drop_vectors()
        assert store.dense(unit_vectors(1, 0, DIMENSION)[0], limit=3) == ()
        store.maintain(force=True)
        assert store.check() == ()


def test_it_is_built_on_request_however_few_the_vectors_are(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        with pytest.raises(InvalidArgument, match="no vectors"):
            store.build_vector_index()
        fill(store, 3)
        report = store.build_vector_index()
        assert report.vectors == 300
        assert report.recall >= 0.98
        assert report.to_dict()["probes"] == report.probes > 0
        file = tmp_path / "index" / "chunks.ann.json"
        assert json.loads(file.read_bytes())["forced"] is True
        for _ in range(3):
            store.dense(clustered(1, seed=1)[0], limit=3)
        assert store.stats().vector_bytes == 0, "searched in memory, not by the index"
        with Store.open(tmp_path, ann_index_threshold=0) as exact:
            assert recall(store, exact) >= 0.99

        # It is kept up like any other, and stays one that was asked for.
        fill(store, 7, first=50)
        assert recall_of_new(store)
        assert any("vector index" in said for said in store.maintain(force=True))
        values = json.loads(file.read_bytes())
        assert (values["forced"], values["rows"]) == (True, 1_000)

    exact = Store.open(tmp_path, ann_index_threshold=0)
    with exact, pytest.raises(InvalidArgument, match="ann_index_threshold is 0"):
        exact.build_vector_index()


def recall_of_new(store: Store) -> bool:
    """Say whether rows that came after the index was built are found by their own vector."""
    newest = a_document("doc53").row.id
    (chunk, vector), *_ = store.vectors([chunk.id for chunk in store.chunks_of(newest)]).items()
    return store.dense(vector, limit=1)[0].chunk_id == chunk


def test_memory_of_vectors_is_told_and_given_back(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        fill(store, 2)
        assert store.stats().vector_bytes == 0
        for _ in range(2):
            store.dense(clustered(1, seed=1)[0], limit=3)
        assert 200 * DIMENSION * 4 <= store.stats().vector_bytes <= 2 * 200 * (DIMENSION * 4 + 100)
        store.close()
        assert store._reader.vector_bytes == 0
    with Store.open(tmp_path, vector_cache_mb=0) as store:
        for _ in range(3):
            store.dense(clustered(1, seed=1)[0], limit=3)
        assert store.stats().vector_bytes == 0


@pytest.mark.parametrize(
    ("needed", "expected"),
    [(1, 10), (5, 10), (6, 12), (8, 16), (10, 20), (33, 70), (70, 140), (160, 320)],
)
def test_few_partitions_are_looked_into_and_never_too_few(needed: int, expected: int) -> None:
    asked: list[int] = []

    def recall_at(nprobes: int) -> float:
        asked.append(nprobes)
        return 1.0 if nprobes >= needed else 0.9 + 0.09 * nprobes / needed

    nprobes, found = ann.fewest_probes(recall_at)
    assert found >= ann.GOOD_RECALL
    assert nprobes == expected
    assert needed <= nprobes <= max(2.2 * needed, 10)
    assert len(asked) == len(set(asked)) <= 10


def test_a_query_is_asked_again_only_where_that_can_change_what_it_finds() -> None:
    needs = [1, 1, 1, 7, 30, 10_000]
    asked: list[tuple[int, int]] = []

    def hits(at: int, nprobes: int) -> int:
        asked.append((at, nprobes))
        return 10 if nprobes >= needs[at] else 9 if at == 5 else 4

    def share(nprobes: int) -> float:
        return sum(10 if nprobes >= need else 9 if need == 10_000 else 4 for need in needs) / 60

    trial = ann.Trial(hits, len(needs), 10)
    for nprobes in (5, 40, 20, 10, 40, 30, 5):
        assert trial.recall(nprobes) == share(nprobes)
    assert [one for one in asked if one[0] < 3] == [(0, 5), (1, 5), (2, 5)]
    assert [nprobes for at, nprobes in asked if at == 3] == [5, 40, 20, 10]
    assert [nprobes for at, nprobes in asked if at == 5] == [5, 40]
    assert len(asked) == len(set(asked))


def test_a_table_without_vectors_has_nothing_to_find() -> None:
    assert ann.Trial(lambda at, nprobes: 0, 0, 0).recall(5) == 0


def test_looking_further_ends_where_it_finds_no_more() -> None:
    asked: list[int] = []

    def recall_at(nprobes: int) -> float:
        asked.append(nprobes)
        return min(0.9, 0.8 + nprobes / 100)

    nprobes, found = ann.fewest_probes(recall_at)
    assert found == 0.9
    assert nprobes >= 10
    assert max(asked) <= 160


def test_a_bad_index_is_not_used(tmp_path: Path) -> None:
    assert not ann.Calibration(generation=1, rows=10, nprobes=5, recall=0.9).is_good
    assert ann.Calibration(generation=1, rows=10, nprobes=5, recall=0.995).is_good
    with Store.open(tmp_path) as store:
        store.put([a_document()])
        (tmp_path / "index" / "chunks.ann.json").write_text("{broken")
        assert len(store.dense(unit_vectors(1, 0)[0], limit=5)) == 2
