"""One writer at a time, and a clear word about who it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lilbee_core.errors import Cancelled, StoreError, StoreLocked
from lilbee_core.store import Store
from lilbee_core.store._lock import WriterLock
from tests.core.store._build import a_document
from tests.core.store._workers import ROOT

HOLD = """
import sys
from lilbee_core.store import Store
from lilbee_core.store._lock import WriterLock
with Store.open({place!r}) as store, store.writing():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def other_process(tmp_path: Path):  # type: ignore[no-untyped-def]
    """A process that holds the lock until its input ends."""
    code = HOLD.format(place=str(tmp_path))
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_another_process_is_named(tmp_path: Path, other_process: subprocess.Popen[str]) -> None:
    with Store.open(tmp_path, lock_timeout_s=0.1) as store:
        for write in (lambda: store.put([a_document()]), lambda: store.writing(timeout_s=0).__enter__()):
            with pytest.raises(StoreLocked) as caught:
                write()
            assert caught.value.code == "store.locked"
            assert f"process {other_process.pid}" in str(caught.value)
            assert caught.value.hint
        assert store.count() == 0


@pytest.mark.slow
def test_a_writer_waits_for_another_and_a_dead_one_holds_nothing(
    tmp_path: Path, other_process: subprocess.Popen[str]
) -> None:
    with Store.open(tmp_path, lock_timeout_s=30) as store:
        threading.Timer(0.3, other_process.kill).start()
        store.put([a_document()])
        assert store.count() == 2


def test_it_is_reentrant_across_stores_of_one_thread(tmp_path: Path) -> None:
    with Store.open(tmp_path) as first, Store.open(tmp_path, lock_timeout_s=0.1) as second:
        with first.writing(), first.writing(), second.writing():
            note = json.loads((tmp_path / "lock.json").read_text())
            assert note["pid"] == os.getpid()
            second.put([a_document()])
        assert not (tmp_path / "lock.json").exists()
        with second.writing():
            pass


def test_threads_of_one_process_wait_for_each_other(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        refused: list[StoreLocked] = []
        order: list[str] = []

        def impatient() -> None:
            try:
                with store.writing(timeout_s=0.05):
                    order.append("too early")
            except StoreLocked as error:
                refused.append(error)

        def patient() -> None:
            with store.writing(timeout_s=30):
                order.append("second")

        with store.writing():
            one, two = threading.Thread(target=impatient), threading.Thread(target=patient)
            one.start()
            two.start()
            one.join()
            order.append("first")
        two.join()
        assert order == ["first", "second"]
        assert len(refused) == 1


def test_a_failure_inside_frees_it(tmp_path: Path) -> None:
    with Store.open(tmp_path) as store:
        with pytest.raises(ZeroDivisionError), store.writing():
            raise ZeroDivisionError
        with store.writing(timeout_s=0):
            pass


def test_whoever_waits_can_be_told_to_end(tmp_path: Path) -> None:
    class Told:
        def __init__(self) -> None:
            self.asked = 0

        def check(self) -> None:
            self.asked += 1
            if self.asked == 2:
                raise Cancelled("enough")

    lock, told = WriterLock(tmp_path), Told()
    held, release = threading.Event(), threading.Event()

    def hold() -> None:
        with lock.hold(5):
            held.set()
            release.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert held.wait(20)
        with pytest.raises(Cancelled), lock.hold(600, told):
            pass
        assert told.asked == 2
        other = WriterLock(tmp_path)  # as another process has it
        told.asked = 0
        with pytest.raises(Cancelled), other.hold(600, told):
            pass
    finally:
        release.set()
        thread.join()
    with lock.hold(5):
        pass


def test_nothing_is_begun_anew_where_the_folder_was_a_moment_ago(tmp_path: Path) -> None:
    data = tmp_path / "notes" / ".lilbee"
    lock = WriterLock(data)
    with lock.hold(1):
        pass
    data.parent.rename(tmp_path / "away")
    with pytest.raises(StoreError, match="not there any more") as caught, lock.hold(1):
        pass
    assert caught.value.code == "library.gone"
    assert not data.parent.exists()
    (tmp_path / "away").rename(data.parent)
    with lock.hold(1):
        assert lock.held
