"""Batch after batch inside one hold of the lock: new documents are not looked for, and files stay few (P4, S1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lilbee_core.errors import LilbeeError
from lilbee_core.store import Store
from lilbee_core.store._engine import connect
from lilbee_core.store._keeping import FIRST_LIMIT, LOOK_EVERY
from lilbee_core.types import DocumentId
from tests.core.store._build import Words, a_document, ids, unit_vectors


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path) as store:
        store.put([a_document("old"), a_document("kept")])
        yield store


def write_again(store: Store) -> None:
    store.put([a_document("new")])
    store.put([a_document("new"), a_document("newer")])


def replace_old(store: Store) -> None:
    store.put([a_document("old", ["other words"]), a_document("new")])


def remove_and_write(store: Store) -> None:
    store.put([a_document("new")])
    store.remove([DocumentId("new"), DocumentId("old")])
    store.put([a_document("new"), a_document("old")])


def write_in_parts(store: Store) -> None:
    document = a_document("new")
    with store.stage(document.text) as staged:
        staged.add([document])
        staged.publish(document.row)
    store.put([document])


def give_up_parts(store: Store) -> None:
    document = a_document("new")
    with suppress(ZeroDivisionError), store.stage(document.text) as staged:
        staged.add([document])
        raise ZeroDivisionError
    store.put([document])


def record_before(store: Store) -> None:
    store.record([a_document("new").row])
    store.put([a_document("new")])


def refuse_then_write(store: Store) -> None:
    with suppress(LilbeeError):
        store.put([a_document("new", vectors=unit_vectors(2, 0, dimension=3))])
    store.put([a_document("new")])
    store.put([a_document("new")])


def write_by_another(store: Store) -> None:
    with Store.open(store.path) as other:
        other.put([a_document("new")])
    store.put([a_document("new")])


def begin_anew(store: Store) -> None:
    store.put([a_document("new")])
    store.reset()
    store.put([a_document("new"), a_document("old")])
    store.put([a_document("new"), a_document("kept")])


ACTS = [
    write_again, replace_old, remove_and_write, write_in_parts, give_up_parts, record_before, refuse_then_write,
    write_by_another, begin_anew,
]  # fmt: skip


@pytest.mark.parametrize("act", ACTS)
def test_every_document_is_there_once(store: Store, act: Callable[[Store], None]) -> None:
    with store.writing():
        store.sweep()
        act(store)
    act_ids = {row.id for row in store.rows()}
    assert {"old", "kept", "new"} <= act_ids
    assert store.check() == ()
    assert store.count() == sum(row.chunks for row in store.rows())
    with store.writing():
        store.put([a_document("new"), a_document("old")])
    assert store.check() == ()


def test_what_somebody_else_wrote_between_two_holds_is_replaced(store: Store, tmp_path: Path) -> None:
    with store.writing():
        store.sweep()
        store.put([a_document("a")])
    with Store.open(tmp_path) as other:
        other.put([a_document("b")])
    with store.writing():
        store.put([a_document("b")])
    assert store.check() == ()


@pytest.mark.slow
def test_many_batches_leave_few_files(tmp_path: Path) -> None:
    batches = FIRST_LIMIT + 2 * LOOK_EVERY
    with Store.open(tmp_path) as store, store.writing():
        store.sweep()
        for number in range(batches):
            store.put([a_document(f"doc{number}", ["alpha beta"])])
        for name in ("chunks", "texts", "documents"):
            stats = connect(tmp_path / "index").open_table(name).stats()
            assert stats["num_rows"] == batches
            assert stats["fragment_stats"]["num_fragments"] <= FIRST_LIMIT
        assert store.check() == ()
        assert len(ids(store.lexical(Words("alpha"), limit=500))) == batches
