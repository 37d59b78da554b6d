"""Upkeep: by thresholds, bounded in space, in a process of its own when big, and never seen by readers."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lilbee_core.errors import StoreError
from lilbee_core.store import Store, _engine, _tables
from lilbee_core.store import _upkeep as upkeep
from lilbee_core.store._engine import Table
from lilbee_core.store._tables import Tables
from lilbee_core.types import DocumentId
from tests.core.store._build import Words, a_document, ids, unit_vectors


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.open(tmp_path)


def test_nothing_is_done_where_nothing_is_needed(store: Store) -> None:
    assert store.maintain() == ()
    store.put([a_document(f"doc{i}") for i in range(5)])
    assert store.maintain() == ()
    assert store.stats().unindexed == 10


def test_the_word_index_is_built_when_many_rows_lie_beside_it(store: Store) -> None:
    store.put([a_document(f"doc{i}", [f"alpha n{i}-{k}" for k in range(10)]) for i in range(11)])
    assert store.stats().unindexed == 110
    assert any("word index" in said for said in store.maintain())
    assert store.stats().unindexed == 0
    assert store.maintain() == ()
    store.put([a_document("one more")])
    assert store.maintain() == ()
    assert len(store.lexical(Words("alpha"), limit=200)) == 111


def test_the_word_index_follows_a_flood_of_batches(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MIN_GROWTH", 20)
    monkeypatch.setattr(upkeep, "BUILD_ROW_S", 1e-9)  # as if hours lay between the batches
    seen = []
    for batch in range(8):
        store.put([a_document(f"doc{batch}-{i}", [f"alpha n{batch}-{i}-{k}" for k in range(5)]) for i in range(2)])
        seen.append(store.stats().unindexed)
    assert max(seen) <= 40
    assert 0 in seen
    assert len(store.lexical(Words("alpha"), limit=200)) == 80


def test_the_word_index_waits_while_batches_come_in_fast(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MIN_GROWTH", 20)
    monkeypatch.setattr(upkeep, "BUILD_ROW_S", 1e9)
    for batch in range(4):
        store.put([a_document(f"doc{batch}", [f"alpha n{batch}-{k}" for k in range(10)])])
    assert store.stats().unindexed == 40
    assert len(store.lexical(Words("alpha"), limit=200)) == 40


def test_a_first_word_index_writes_no_row_again(store: Store) -> None:
    for batch in range(3):
        store.put([a_document(f"doc{batch}", [f"alpha n{batch}-{k}" for k in range(50)])])
    store.maintain()
    stats = store.stats()
    assert (stats.unindexed, stats.fragments) == (0, 3)


@pytest.mark.slow
def test_small_changes_stay_small_on_disk(store: Store) -> None:
    texts = [[f"alpha {i} {k} " + "filler words of no meaning " * 20 for k in range(10)] for i in range(100)]
    store.put([a_document(f"doc{i}", texts[i], vectors=unit_vectors(10, i, 384)) for i in range(100)])
    store.maintain(force=True)
    fresh = store.stats().size_bytes
    for change in range(120):
        store.put([a_document(f"doc{change % 100}", [f"beta {change}", *texts[change % 100][1:]],
                              vectors=unit_vectors(10, change, 384))])  # fmt: skip
        store.maintain()
    stats = store.stats()
    assert stats.fragments <= upkeep.MAX_FRAGMENTS + 1
    growing = 3  # chunks, texts and the ledger
    assert stats.size_bytes <= 1.2 * fresh + growing * upkeep.MIN_GARBAGE_BYTES
    assert store.check() == ()


@pytest.mark.slow
def test_big_tables_are_worked_on_in_another_process(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put([a_document(f"doc{i}", (f"alpha {i}",)) for i in range(30)])
    store.put([a_document(f"doc{i}", (f"beta {i}",)) for i in range(5)])
    monkeypatch.setattr(upkeep, "CHILD_ROWS", 10)
    monkeypatch.setattr(upkeep, "work_on", lambda *_: pytest.fail("the work was done in this process"))
    assert store.maintain(force=True)
    stats = store.stats()
    assert (stats.unindexed, stats.fragments) == (0, 1)
    assert len(store.lexical(Words("alpha"), limit=50)) == 25
    assert store.check() == ()


@pytest.mark.slow
def test_a_failure_in_the_other_process_is_told_like_one_in_this(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put([a_document(f"doc{i}", (f"alpha {i}",)) for i in range(30)])
    monkeypatch.setattr(upkeep, "CHILD_ROWS", 10)
    for path in (store.path / "index" / "chunks.lance" / "data").iterdir():
        path.write_bytes(b"junk")
    with pytest.raises(StoreError) as caught:
        store.maintain(force=True)
    assert caught.value.code == "store.damaged"
    assert "lilbee rebuild" in caught.value.hint


@pytest.mark.slow
def test_the_other_process_ends_when_this_one_does(store: Store) -> None:
    store.put([a_document()])
    code = "import sys, time; from lilbee_core.store import _upkeep; _upkeep.work_on = lambda *_: time.sleep(60); "
    code += f"sys.exit(_upkeep.main([{str(store.path)!r}, 'chunks:words::files']))"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    assert child.stdin is not None
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(timeout=2)
    child.stdin.close()  # what happens when the parent dies
    assert child.wait(timeout=20) == 2


def test_a_read_that_meets_a_pruned_version_is_done_again(store: Store) -> None:
    store.put([a_document()])
    tables = Tables(store.path)
    tries: list[Table] = []

    def use(table: Table) -> int:
        tries.append(table)
        if len(tries) == 1:
            raise RuntimeError("lance error: Not found: data/0101.lance")
        return table.count_rows()

    assert tables.read("chunks", "count", use, 0) == 2
    assert tries[0] is not tries[1]

    def never(table: Table) -> int:
        raise RuntimeError("lance error: Not found: data/0101.lance")

    with pytest.raises(StoreError) as caught:
        tables.read("chunks", "count", never, 0)
    assert caught.value.code == "store.damaged"


@pytest.mark.slow
def test_readers_do_not_notice_upkeep(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "MIN_GARBAGE_BYTES", 0)
    monkeypatch.setattr(upkeep, "MAX_GARBAGE_SHARE", 0.0)  # prune to the last version each time
    documents = [a_document(f"doc{i}", [f"alpha {i} {k}" for k in range(5)]) for i in range(60)]
    store.put(documents)
    failures: list[BaseException] = []
    over = threading.Event()

    def watch() -> None:
        with Store.open(store.path) as reader:
            while not over.is_set():
                try:
                    found = ids(reader.lexical(Words("alpha"), limit=400))
                    assert len(found) == 300
                    assert len(reader.get(found[:20])) == 20
                    assert len(reader.dense(unit_vectors(1, 0)[0], limit=400)) == 300
                    assert len(reader.chunks_of(DocumentId("doc7"))) == 5
                    assert len(list(reader.rows())) == 60
                    assert reader.text(DocumentId("doc7")) is not None
                except BaseException as error:  # noqa: BLE001 - told by the main thread
                    failures.append(error)
                    return

    threads = [threading.Thread(target=watch) for _ in range(2)]
    for thread in threads:
        thread.start()
    for turn in range(12):
        store.put(documents[turn * 4 : turn * 4 + 4])
        store.maintain(force=True)
    over.set()
    for thread in threads:
        thread.join()
    assert failures == []


def test_what_the_engine_remembers_of_old_indexes_is_forgotten(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []

    def watched() -> _engine.Session:
        opened.append(session := _engine.new_session())
        return session

    monkeypatch.setattr(_tables, "new_session", watched)

    def alpha() -> list[str]:
        return ids(store.lexical(Words("alpha"), limit=50))

    store.put([a_document(f"doc{i}", (f"alpha number{i}",)) for i in range(20)])
    store.maintain(force=True)
    before = alpha()
    store.put([a_document("new", ("alpha again",))])
    store.maintain(force=True)
    assert len(opened) == 1
    assert set(alpha()) == {*before, a_document("new", ("alpha again",)).chunks[0].id}
    monkeypatch.setattr(_tables, "_OLD_BYTES", -_engine.METADATA_CACHE_BYTES - 10_000_000)
    store.put([a_document("newer", ("alpha once more",))])
    store.maintain(force=True)
    assert len(alpha()) == 22
    assert len(opened) == 2
