"""A library that is watched: real files, real events, a real index (R318)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import pytest

from lilbee_core import AsyncLilbee, Lilbee
from lilbee_core.errors import NotFound
from lilbee_core.events import (
    ChangesSeen,
    DocumentMoved,
    DocumentRemoved,
    Event,
    Progress,
    SyncFinished,
    Warned,
    WatchFailed,
)
from lilbee_core.jobs import Job, JobState
from lilbee_core.library import _watching
from lilbee_core.testing import HashEmbedder

pytestmark = pytest.mark.slow
WAIT_S = 30.0
FAST = {"watch_debounce_s": 0.1, "watch_poll_s": 0.1}


@dataclass
class Watched:
    """A library whose folders are watched, and what is told meanwhile."""

    folder: Path
    bee: Lilbee
    job: Job
    seen: int = 0
    events: list[Event] = field(default_factory=list)

    def until(self, done: Callable[[], bool], what: str) -> None:
        """Take events until something is true."""
        deadline = time.monotonic() + WAIT_S
        while not done():
            fresh, self.seen, over = self.job.since(self.seen, timeout_s=0.2)
            self.events += fresh
            assert not over, self.job.record
            assert time.monotonic() < deadline, "; ".join(
                [what, *(str(event.to_dict()) for event in self.events[-10:])]
            )

    def until_synced(self, times: int = 1) -> list[Event]:
        """Wait for so many syncs more; return what was told meanwhile."""
        start = len(self.events)
        self.until(lambda: sum(isinstance(one, SyncFinished) for one in self.events[start:]) >= times, "a sync")
        return self.events[start:]

    def is_idle(self) -> bool:
        """Say whether the last sync is over, upkeep and all."""
        steps = [
            type(one)
            for one in self.events
            if isinstance(one, ChangesSeen) or (isinstance(one, Progress) and one.phase == "watching")
        ]
        return bool(steps) and steps[-1] is Progress

    def indexed(self) -> dict[str, str]:
        return {row.ref: row.id for row in self.bee.documents(state="indexed")}

    def write(self, path: str, text: str) -> None:
        (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / path).write_text(text, encoding="utf-8")


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Watched]:
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "bees.md").write_text("# Bees\n\nThe queen lays eggs.\n", encoding="utf-8")
    with Lilbee(folder, embedder=HashEmbedder(), overrides=dict(FAST)) as bee:
        found = Watched(folder, bee, bee.watch())
        found.until_synced()
        yield found


def _atomic(folder: Path) -> None:
    (folder / ".bees.md.tmp").write_text("# Bees\n\nDrones idle.\n", encoding="utf-8")
    (folder / ".bees.md.tmp").replace(folder / "bees.md")


def _with_backup(folder: Path) -> None:
    (folder / "bees.md").rename(folder / "bees.md~")
    (folder / "bees.md").write_text("# Bees\n\nDrones idle.\n", encoding="utf-8")
    (folder / "bees.md~").unlink()


def test_files_are_indexed_as_they_come_change_move_and_go(watched: Watched) -> None:
    assert watched.bee.watch() is watched.job, "once is enough"
    bees = watched.indexed()["notes/bees.md"]
    for save in (_atomic, _with_backup):
        save(watched.folder)
        told = watched.until_synced()
        assert not any(isinstance(one, DocumentRemoved) for one in told), "it never left"
        assert [hit.path for hit in watched.bee.search("term: drones")] == ["bees.md"]
        assert watched.indexed() == {"notes/bees.md": bees}
        watched.write("bees.md", "# Bees\n\nThe queen lays eggs.\n")
        watched.until_synced()
    watched.write("garden/deep/plums.txt", "The plum tree bears damsons.")
    watched.until(lambda: "notes/garden/deep/plums.txt" in watched.indexed(), "a file in a new folder")
    plums = watched.indexed()["notes/garden/deep/plums.txt"]
    (watched.folder / "garden").rename(watched.folder / "orchard")
    watched.until(lambda: "notes/orchard/deep/plums.txt" in watched.indexed(), "a renamed folder")
    assert watched.indexed()["notes/orchard/deep/plums.txt"] == plums
    watched.until(lambda: any(isinstance(one, DocumentMoved) for one in watched.events), "a move, and no new file")
    watched.write("orchard/deep/pears.txt", "Pears ripen late.")
    watched.until(lambda: "notes/orchard/deep/pears.txt" in watched.indexed(), "a file in a renamed folder")
    (watched.folder / "bees.md").unlink()
    watched.until(lambda: "notes/bees.md" not in watched.indexed(), "a file that goes")
    watched.job.cancel()
    record = watched.job.wait(WAIT_S)
    assert (record.state, record.kind) == (JobState.CANCELLED, "watch")
    assert watched.bee.watch() is not watched.job


def test_a_burst_of_changes_is_one_sync(watched: Watched) -> None:
    for number in range(2_000):
        watched.write(f"many/{number % 40}.txt", f"change {number}")
        if number % 500 == 0:
            (watched.folder / "node_modules").mkdir(exist_ok=True)
            watched.write(f"node_modules/{number}.js", "x")
    told = watched.until_synced()
    assert len(watched.indexed()) == 41
    # The system may tell of the first of them before the last one is written, but of no more than that.
    assert sum(isinstance(one, ChangesSeen) for one in told) <= 2
    watched.write("more.txt", "and one more")
    assert sum(isinstance(one, ChangesSeen) for one in watched.until_synced()) == 1


def test_a_collection_of_another_process_and_a_lost_disk(watched: Watched, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "boats.txt").write_text("The ferry leaves at noon.", encoding="utf-8")
    with Lilbee(watched.folder, embedder=HashEmbedder()) as elsewhere:
        elsewhere.collections.add(other)
    watched.until(lambda: "other/boats.txt" in watched.indexed(), "a collection that was added elsewhere")
    away = tmp_path / "away"
    other.rename(away)

    def states() -> list[str]:
        return [row.state for row in watched.bee.documents(collection="other")]

    watched.until(lambda: states() == ["missing"], "a folder that goes, whose documents are kept")
    watched.until(lambda: any("other" in one.message for one in watched.events if isinstance(one, Warned)), "a word")
    away.rename(other)
    watched.until(lambda: "other/boats.txt" in watched.indexed(), "a folder that comes back")
    watched.until(watched.is_idle, "the end of the sync, which still writes")
    # The library's own folder: no new index is begun where the old one is not.
    watched.folder.rename(away)
    watched.folder.mkdir()
    watched.until(
        lambda: any(isinstance(one, WatchFailed) and one.code == "library.gone" for one in watched.events),
        "the index that goes",
    )
    assert os.listdir(watched.folder) == []
    watched.folder.rmdir()
    away.rename(watched.folder)
    watched.write("late.txt", "It is late.")
    watched.until(lambda: "notes/late.txt" in watched.indexed(), "the index that comes back")


def test_another_writer_is_waited_for_and_a_busy_one_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("A text.", encoding="utf-8")
    with (
        Lilbee(folder, embedder=HashEmbedder()) as writer,
        Lilbee(folder, embedder=HashEmbedder(), overrides={**FAST, "lock_timeout_s": 0.2}) as bee,
    ):
        with writer._parts.store.writing():
            watched = Watched(folder, bee, bee.watch())
            watched.until(
                lambda: any(isinstance(one, WatchFailed) and one.code == "store.locked" for one in watched.events),
                "the lock",
            )
            with Lilbee(folder, embedder=HashEmbedder(), overrides={**FAST, "lock_timeout_s": 600}) as patient:
                waits = Watched(folder, patient, patient.watch())
                waits.until(lambda: any(isinstance(one, ChangesSeen) for one in waits.events), "a sync that waits")
                waits.job.cancel()
                assert waits.job.wait(WAIT_S).state is JobState.CANCELLED, "it does not wait for the lock"
        watched.until(lambda: "notes/a.txt" in watched.indexed(), "the lock that is free again")


def test_looking_now_and_then_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("old", encoding="utf-8")
    with Lilbee(folder, embedder=HashEmbedder(), overrides={**FAST, "watch_polling": "always"}) as bee:
        watched = Watched(folder, bee, bee.watch())
        watched.until_synced()
        (folder / "a.txt").rename(folder / "b.txt")
        watched.until(lambda: set(watched.indexed()) == {"notes/b.txt"}, "a renamed file")
        watched.write("b.txt", "new")
        watched.until(lambda: bool(bee.search("term: new").hits), "a changed file")


def test_an_embedder_that_is_away_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.support.openai_fake import FakeOpenAI

    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LILBEE_REQUEST_RETRIES", "0")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_text("A text about bees.", encoding="utf-8")
    with FakeOpenAI(models=("words",)) as server:
        monkeypatch.setenv("LILBEE_OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "openai/words")
        with Lilbee(folder, overrides=dict(FAST)) as bee:
            bee.sync()
            (folder / "b.txt").write_text("A text about boats.", encoding="utf-8")
            server.fail(503, "loading", times=2)
            watched = Watched(folder, bee, bee.watch())
            watched.until_synced()
            assert (bee.status().chunks, bee.status().embedded) == (2, 1), "words without vectors"
            watched.until(lambda: bee.status().embedded == 2, "vectors, though nothing changed")


def test_only_known_collections_are_watched_and_the_async_library_watches_too(watched: Watched) -> None:
    with pytest.raises(NotFound, match="there is no collection 'nope'"):
        watched.bee.watch(collections=["nope"])

    async def watch() -> str:
        async with AsyncLilbee(watched.folder, embedder=HashEmbedder(), overrides=dict(FAST)) as bee:
            job = await bee.watch(collections=["notes"])
            assert [one.id for one in await bee.jobs.running(_watching.WATCH)] == [job.id]
            assert job.record.options == {"collections": ["notes"]}
            async for event in job.follow():
                if isinstance(event, SyncFinished):
                    job.cancel()
            return str((await job.wait(WAIT_S)).state)

    assert anyio.run(watch) == "cancelled"
