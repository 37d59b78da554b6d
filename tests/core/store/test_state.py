"""Small state: what is saved stays, for every thread and process."""

from __future__ import annotations

import sqlite3
import threading
from pathlib import Path

import pytest

from lilbee_core.errors import StoreError
from lilbee_core.store import SqliteState
from lilbee_core.testing.contracts import StateContract


class TestStateContract(StateContract):
    @pytest.fixture(autouse=True)
    def _place(self, tmp_path: Path) -> None:
        self.place = tmp_path
        self.made = 0

    def make(self) -> SqliteState:
        self.made += 1
        return SqliteState(self.place / str(self.made))


def test_it_is_kept_and_shared(tmp_path: Path) -> None:
    first, second = SqliteState(tmp_path), SqliteState(tmp_path)
    first.save("notes", "a", {"text": "ü 🐝", "list": [1, None, {"x": True}]})
    assert second.load("notes", "a") == {"text": "ü 🐝", "list": [1, None, {"x": True}]}
    second.save("notes", "a", {"text": "new"})
    assert dict(first.items("notes")) == {"a": {"text": "new"}}
    assert list(first.items("other")) == []
    assert first.delete("notes", "a")
    assert not second.delete("notes", "a")
    first.close()
    first.close()
    second.close()


def test_reading_makes_no_file(tmp_path: Path) -> None:
    state = SqliteState(tmp_path / "absent")
    assert state.load("a", "b") is None
    assert not state.delete("a", "b")
    assert not (tmp_path / "absent").exists()
    state.close()


def test_threads_share_it(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)

    def write(worker: int) -> None:
        for turn in range(20):
            state.save(f"kind{worker}", str(turn), {"turn": turn})

    threads = [threading.Thread(target=write, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(list(state.items(f"kind{worker}"))) for worker in range(4)] == [20] * 4
    state.close()


def test_readers_do_not_wait_for_a_writer(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    state.save("a", "b", {"x": 1})
    writer = sqlite3.connect(tmp_path / "state.sqlite", isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("UPDATE state SET value = '{}'")
    assert state.load("a", "b") == {"x": 1}
    writer.execute("ROLLBACK")
    writer.close()
    state.close()


def test_a_state_opened_for_reading_refuses_to_write(tmp_path: Path) -> None:
    writer = SqliteState(tmp_path)
    writer.save("a", "b", {"x": 1})
    writer.close()
    reader = SqliteState(tmp_path, read_only=True)
    assert reader.load("a", "b") == {"x": 1}
    for change in (lambda: reader.save("a", "c", {}), lambda: reader.delete("a", "b")):
        with pytest.raises(StoreError) as caught:
            change()
        assert caught.value.code == "store.read_only"
    reader.close()


def test_another_process_waits_for_a_transaction_and_sees_all_of_it(tmp_path: Path) -> None:
    first, second = SqliteState(tmp_path), SqliteState(tmp_path)
    first.save("count", "n", {"n": 0})

    def add(state: SqliteState) -> None:
        for _ in range(25):
            with state.transaction():
                value = state.load("count", "n")
                assert value is not None
                state.save("count", "n", {"n": int(str(value["n"])) + 1})

    threads = [threading.Thread(target=add, args=(state,)) for state in (first, second, first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert first.load("count", "n") == {"n": 100}
    first.close()
    second.close()


def test_one_damaged_value_costs_only_itself(tmp_path: Path) -> None:
    state = SqliteState(tmp_path)
    state.save("note", "good", {"x": 1})
    state.save("note", "bad", {"x": 2})
    writer = sqlite3.connect(tmp_path / "state.sqlite")
    with writer:
        writer.execute("UPDATE state SET value = '{\"x\": ' WHERE key = 'bad'")
    writer.close()
    assert state.keys("note") == ("bad", "good")
    assert state.load("note", "good") == {"x": 1}
    with pytest.raises(StoreError, match="the note bad in the state is damaged") as caught:
        state.load("note", "bad")
    assert caught.value.code == "store.damaged"
    assert "state.sqlite" in caught.value.hint
    state.close()


def test_a_damaged_file_is_named_and_no_rebuild_advised(tmp_path: Path) -> None:
    (tmp_path / "state.sqlite").write_bytes(b"this is no database, and long enough to be looked at " * 40)
    state = SqliteState(tmp_path)
    for use in (lambda: state.load("a", "b"), lambda: state.save("a", "b", {}), lambda: state.keys("a")):
        with pytest.raises(StoreError) as caught:
            use()
        assert caught.value.code == "store.damaged"
        assert "state.sqlite" in caught.value.message
        assert "rebuild" not in caught.value.hint
    state.close()
