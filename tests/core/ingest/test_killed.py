"""A sync that is killed again and again leaves what an undisturbed one leaves, and no reader sees half of it (R248)."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lilbee_core.concepts import can_cluster
from lilbee_core.store import Store
from lilbee_core.store._engine import connect
from tests.core.ingest._process import outcome, start
from tests.core.ingest.conftest import a_library
from tests.support.wholeness import Editions, Watcher, differences, editions, graph_of, uncommitted

KILLS = 5
BATCH = 4


def write(folder: Path, edition: int) -> None:
    """Write an edition of some notes and of a log that is too big for one batch."""
    folder.mkdir(exist_ok=True)
    for number in range(24 + 24 * edition):
        line = f"heron {number} of edition {edition} stands by weir"
        lines = [f"{line} {part}." for part in range(3 + 7 * (number % 5))]
        place(folder / f"{number:03}.md", "\n".join(lines), number)
    place(folder / "a.log", "".join(f"{edition} buoy {n * 7919 % 10_007} lit\n" for n in range(9_000)), 999 + edition)


def place(path: Path, text: str, age: int) -> None:
    path.write_text(text)
    os.utime(path, (1_700_000_000 + age, 1_700_000_000 + age))


def read(data: Path) -> Editions:
    with Store.open(data) as store:
        assert store.check() == ()
        return editions(store)


def sync(folder: Path, data: Path) -> None:
    with a_library(folder, data, batch_documents=BATCH) as bee:
        bee.sync()


@pytest.mark.slow
def test_a_sync_killed_anywhere_and_run_again_equals_an_undisturbed_one(tmp_path: Path) -> None:
    folder, data, undisturbed = tmp_path / "notes", tmp_path / "data", tmp_path / "undisturbed"
    write(folder, 0)
    for one in (data, undisturbed):
        sync(folder, one)
    before = read(data)
    write(folder, 1)
    sync(folder, undisturbed)
    after = read(undisturbed)
    chance = random.Random(3)
    with a_library(folder, data) as reader:
        watcher = Watcher(reader, [before, after], ["heron", "edition 1 weir", "buoy lit"])
        with watcher.watching():
            for _ in range(KILLS):
                (data / "lock.json").unlink(missing_ok=True)  # the note of the one that was killed
                process = start("sync", folder, data)
                wait_for_writing(process, data)
                time.sleep(chance.uniform(0.0, 0.8))  # the moment of the kill is what the test is about
                process.send_signal(signal.SIGKILL)
                process.communicate()
                with Store.open(data) as store:
                    assert len(uncommitted(store)) <= BATCH
            outcome(start("sync", folder, data))
        assert watcher.mixed == []
        assert watcher.errors == []
        assert watcher.reads > 0
    assert differences(read(data), after) == []
    with Store.open(data) as store, Store.open(undisturbed) as other:
        assert graph_of(store) == graph_of(other)
        assert not can_cluster() or len(graph_of(store)[1]) > 0


def wait_for_writing(process: subprocess.Popen[str], data: Path) -> None:
    """Wait until the process holds the writer lock, or has ended."""
    deadline = time.monotonic() + 60
    while not (data / "lock.json").exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)


def test_what_was_written_but_not_committed_is_whole_until_the_next_sync_does_it_again(tmp_path: Path) -> None:
    """Killed between chunks and ledger: see "A killed batch may be seen, whole" in the decisions."""
    folder, data = tmp_path / "notes", tmp_path / "data"
    folder.mkdir()
    for name in ("heron", "godwit"):
        (folder / f"{name}.md").write_text(f"The {name} stands by the weir.\n")
    sync(folder, data)
    whole = read(data)
    connect(data / "index").open_table("documents").delete("path = 'heron.md'")
    with a_library(folder, data) as bee:
        assert bee.search("term:heron")[0].chunk.text == "The heron stands by the weir."
        assert [row.path for row in bee.documents()] == ["godwit.md"]
        report = bee.sync()
        assert (report.added, report.unchanged) == (1, 1)
    assert differences(read(data), whole) == []
