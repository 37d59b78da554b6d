"""Long work in the background: progress, one after the other, cancelled from anywhere, never left hanging (R248)."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.errors import InvalidArgument, LibraryError, NotFound, StoreError
from lilbee_core.events import EventSink, Progress
from lilbee_core.jobs import Job, JobRecord, Jobs, JobState
from lilbee_core.jobs._owner import Owner
from lilbee_core.protocols import CancelToken
from lilbee_core.testing import HashEmbedder, ManualClock, MemoryState
from tests.support.clocks import RealClock

WAIT_S = 20.0
ERRORS: dict[str, BaseException] = {
    "full": StoreError("the disk is full", hint="Free some.", code="store.full"),
    "bug": ValueError("a bug"),
    "exit": SystemExit(3),
}


class Works:
    """Kinds of jobs in a test's hands."""

    def __init__(self) -> None:
        self.entered, self.release = threading.Event(), threading.Event()
        self.order: list[object] = []

    def kinds(self) -> Mapping[str, Callable[..., Mapping[str, object]]]:
        return {"count": self.count, "hold": self.hold, "fail": self.fail}

    def count(self, cancel: CancelToken, events: EventSink, *, to: int = 3) -> Mapping[str, object]:
        self.order.append(to)
        for done in range(1, to + 1):
            cancel.check()
            events(Progress(phase="counting", done=done, total=to, unit="numbers"))
        return {"counted": to}

    def hold(self, cancel: CancelToken, events: EventSink) -> Mapping[str, object]:
        self.entered.set()
        while not self.release.wait(0.01):
            cancel.check()
        return {"cancelled": True}

    def fail(self, cancel: CancelToken, events: EventSink, *, how: str) -> Mapping[str, object]:
        raise ERRORS[how]


@pytest.fixture
def works() -> Works:
    return Works()


@pytest.fixture
def state() -> MemoryState:
    return MemoryState()


@pytest.fixture
def jobs(works: Works, state: MemoryState) -> Iterator[Jobs]:
    jobs = Jobs(works.kinds(), state, RealClock())
    yield jobs
    works.release.set()
    jobs.close()


def test_a_job_runs_in_the_background_and_tells_how_far_it_is(jobs: Jobs) -> None:
    job = jobs.start("count", to=4)
    events = list(job.follow())
    assert [event.done for event in events if isinstance(event, Progress)] == [1, 2, 3, 4]
    record = job.wait(WAIT_S)
    assert (record.state, record.result, record.error) == (JobState.DONE, {"counted": 4}, None)
    assert (record.phase, record.done, record.total, record.unit) == ("counting", 4, 4, "numbers")
    assert record.created_at <= (record.started_at or "") <= (record.finished_at or "")
    assert list(job.follow()) == events, "what is over can still be read"
    assert job.to_dict()["progress"] == {"phase": "counting", "done": 4, "total": 4, "unit": "numbers"}


def test_jobs_run_one_after_the_other_in_order(jobs: Jobs, works: Works) -> None:
    first = jobs.start("hold")
    others = [jobs.start("count", to=number) for number in (5, 2, 9)]
    assert works.entered.wait(WAIT_S)
    assert [job.state for job in others] == [JobState.QUEUED] * 3
    works.release.set()
    assert first.wait(WAIT_S).state is JobState.CANCELLED, "a result that says cancelled"
    assert [job.wait(WAIT_S).state for job in others] == [JobState.DONE] * 3
    assert works.order == [5, 2, 9]
    assert {record.id for record in jobs.list()} == {job.id for job in (first, *others)}


def test_what_has_no_end_of_its_own_runs_beside_the_others(works: Works, state: MemoryState) -> None:
    jobs = Jobs(works.kinds(), state, RealClock(), beside={"hold"})
    endless = [jobs.start("hold"), jobs.start("hold")]
    assert works.entered.wait(WAIT_S)
    assert jobs.start("count", to=2).wait(WAIT_S).state is JobState.DONE
    assert {job.id for job in jobs.running("hold")} == {job.id for job in endless}
    assert jobs.running("count") == ()
    endless[0].cancel()
    assert endless[0].wait(WAIT_S).state is JobState.CANCELLED
    assert [job.id for job in jobs.running("hold")] == [endless[1].id]
    jobs.close()
    assert endless[1].state is JobState.CANCELLED, "closing waits for it, too"


def test_a_job_is_cancelled_while_it_runs_and_while_it_waits(jobs: Jobs, works: Works) -> None:
    running, waiting, last = jobs.start("hold"), jobs.start("count"), jobs.start("count", to=1)
    assert works.entered.wait(WAIT_S)
    waiting.cancel()
    running.cancel()
    assert running.wait(WAIT_S).state is JobState.CANCELLED
    assert waiting.wait(WAIT_S).state is JobState.CANCELLED
    assert last.wait(WAIT_S).state is JobState.DONE
    assert works.order == [1]
    running.cancel()
    assert running.state is JobState.CANCELLED


def test_another_process_sees_a_job_and_cancels_it(jobs: Jobs, works: Works, state: MemoryState) -> None:
    elsewhere = Jobs(works.kinds(), state, RealClock())
    job = jobs.start("hold")
    assert works.entered.wait(WAIT_S)
    seen = elsewhere.require(job.id)
    assert (seen.state, seen.kind) == (JobState.RUNNING, "hold")
    assert list(seen.follow()) == []
    seen.cancel()
    assert seen.wait(WAIT_S).state is JobState.CANCELLED
    assert job.state is JobState.CANCELLED
    assert list(state.items("job.cancel")) == [], "the word that was left is taken away"


@pytest.mark.parametrize(("how", "code"), [("full", "store.full"), ("bug", "job.failed"), ("exit", "job.failed")])
def test_a_job_that_fails_says_why_and_the_next_one_runs(jobs: Jobs, how: str, code: str) -> None:
    record = jobs.start("fail", how=how).wait(WAIT_S)
    assert record.state is JobState.FAILED
    assert record.error is not None
    assert record.error["code"] == code
    assert jobs.start("count").wait(WAIT_S).state is JobState.DONE


def test_what_cannot_be_started_is_refused_at_once(jobs: Jobs) -> None:
    with pytest.raises(InvalidArgument, match="no job of kind 'dance'") as caught:
        jobs.start("dance")
    assert "count, fail, hold" in caught.value.hint
    with pytest.raises(InvalidArgument, match="does not take these options") as caught:
        jobs.start("count", until=3)
    assert caught.value.hint == "It takes to."
    with pytest.raises(InvalidArgument, match="cannot be kept"):
        jobs.start("count", to=object())
    with pytest.raises(NotFound):
        jobs.require("nothing")
    assert jobs.get("nothing") is None
    assert jobs.list() == ()


def test_closing_cancels_what_runs_and_what_waits(works: Works, state: MemoryState) -> None:
    jobs = Jobs(works.kinds(), state, RealClock())
    held, waiting = jobs.start("hold"), jobs.start("count")
    assert works.entered.wait(WAIT_S)
    jobs.close()
    assert [held.state, waiting.state] == [JobState.CANCELLED] * 2
    assert works.order == []
    with pytest.raises(LibraryError):
        jobs.start("count")
    jobs.close()


def test_a_job_whose_process_is_gone_is_lost(works: Works, state: MemoryState) -> None:
    dead = replace(Owner.me(), started=1.0)
    record = JobRecord(id="abc", kind="count", state=JobState.RUNNING, created_at="2026-01-01", owner=dead)
    state.save("job", record.id, record.to_state())
    jobs = Jobs(works.kinds(), state, ManualClock())
    (seen,) = jobs.list()
    assert seen.state is JobState.LOST
    assert seen.error is not None
    assert seen.error["code"] == "job.lost"
    assert jobs.require("abc").wait(0).state is JobState.LOST


def test_of_another_machine_nothing_is_known(works: Works, state: MemoryState) -> None:
    far = replace(Owner.me(), started=1.0, host="elsewhere.example")
    record = JobRecord(id="abc", kind="count", state=JobState.RUNNING, created_at="2026-01-01", owner=far)
    state.save("job", record.id, record.to_state())
    clock = ManualClock()
    job = Jobs(works.kinds(), state, clock).require("abc")
    before = clock.monotonic()
    assert job.wait(30).state is JobState.RUNNING
    assert clock.monotonic() - before >= 30


def test_only_the_latest_jobs_are_remembered(jobs: Jobs) -> None:
    last = [jobs.start("count", to=1).wait(WAIT_S).id for _ in range(103)]
    kept = jobs.list()
    assert 100 <= len(kept) <= 101
    assert {record.id for record in kept} >= set(last[-100:])


class Full(MemoryState):
    """A disk that is full from some moment on."""

    full = False

    def save(self, kind: str, key: str, value: Mapping[str, object]) -> None:
        if self.full:
            raise StoreError("the disk is full", hint="Free some.", code="store.full")
        super().save(kind, key, value)


def test_nobody_waits_for_ever_when_nothing_can_be_recorded(works: Works) -> None:
    state = Full()
    jobs = Jobs(works.kinds(), state, RealClock())
    held, waiting = jobs.start("hold"), jobs.start("count")
    assert works.entered.wait(WAIT_S)
    state.full = True
    works.release.set()
    assert held.wait(WAIT_S).state.is_over
    assert waiting.wait(WAIT_S).state.is_over
    with pytest.raises(StoreError):
        jobs.start("count")
    state.full = False
    assert jobs.start("count").wait(WAIT_S).state is JobState.DONE
    jobs.close()


# ------------------------------------------------------------------ the jobs of a library


def a_library(folder: Path) -> Lilbee:
    return Lilbee(folder, Settings().changed({"batch_documents": 4}), embedder=HashEmbedder())


@pytest.mark.slow
def test_a_sync_that_is_cancelled_as_a_job_can_go_on(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number:02}.md").write_text(f"The heron of note {number}.")
    with a_library(tmp_path) as bee:
        job = bee.jobs.start("sync")
        _cancel_in_the_middle(job)
        record = job.wait(WAIT_S)
        assert record.state is JobState.CANCELLED
        assert record.result is not None
        assert record.result["cancelled"]
        there = len(list(bee.documents()))
        assert there == record.result["added"]
        assert 0 < there < 60
        assert bee._parts.store.check() == ()
        resumed = bee.jobs.start("sync").wait(WAIT_S)
        assert resumed.state is JobState.DONE
        assert resumed.result is not None
        assert resumed.result["added"] == 60 - there
        assert bee.jobs.start("rebuild").wait(WAIT_S).state is JobState.DONE
        assert len(list(bee.documents())) == 60
    with a_library(tmp_path) as bee:
        assert [record.kind for record in bee.jobs.list()] == ["rebuild", "sync", "sync"]


def _cancel_in_the_middle(job: Job) -> None:
    for event in job.follow():
        if isinstance(event, Progress) and event.phase == "indexing":
            job.cancel()


@pytest.mark.slow
def test_a_library_that_is_closed_ends_its_jobs_first(tmp_path: Path) -> None:
    for number in range(60):
        (tmp_path / f"{number:02}.md").write_text(f"The heron of note {number}.")
    with a_library(tmp_path) as bee:
        job = bee.jobs.start("sync")
        next(iter(job.follow()))
    assert job.state.is_over
    with a_library(tmp_path) as bee:
        assert bee._parts.store.check() == ()
        bee.sync()
        assert len(list(bee.documents())) == 60


def test_this_process_is_alive_and_its_number_with_another_start_is_not() -> None:
    me = Owner.me()
    assert me.pid == os.getpid()
    assert me.is_alive
    assert Owner.of(me.to_dict()) == me
    assert not replace(me, started=me.started - 60).is_alive
    assert not replace(me, pid=2**22 + 1).is_alive


@pytest.mark.parametrize(
    ("options", "result", "about", "told"),
    [
        ({}, {"added": 2, "failed": [{"path": "a"}], "unchanged": 3}, "", "2 added, 1 failed"),
        ({"collections": ["notes", "mail"]}, {"unchanged": 3}, "notes mail", "nothing changed, 3 unchanged"),
        ({"urls": ["https://x"], "depth": 1}, {"sync": {"added": 1}, "pages": 1}, "https://x", "1 added"),
        ({"model": "ollama/e"}, {"report": {"embedded": 7}}, "ollama/e", "7 embedded"),
        ({"model": "a/b"}, {"ref": "a/b/c.gguf"}, "a/b", "a/b/c.gguf is here"),
        ({}, {"pages": [{}, {}], "drafts": ["x"]}, "", "2 pages changed, 1 draft to review"),
        ({}, None, "", ""),
    ],
)
def test_a_record_says_in_a_line_what_it_was_about_and_what_came_of_it(
    options: dict[str, object], result: dict[str, object] | None, about: str, told: str
) -> None:
    record = JobRecord(id="1", kind="sync", options=options, result=result)
    assert (record.subject, record.outcome, record.hint) == (about, told, "")
    failed = replace(record, error={"code": "x", "message": "no room", "hint": "Delete something."})
    assert (failed.outcome, failed.hint) == ("no room", "Delete something.")


def test_the_first_thing_that_is_done_with_a_library_can_be_a_job(tmp_path: Path) -> None:
    (tmp_path / "bees.md").write_text("Bees hum.\n", encoding="utf-8")
    with Lilbee(tmp_path, Settings(), data_dir=tmp_path / "no" / "such" / "folder", embedder=HashEmbedder()) as bee:
        assert bee.jobs.start("sync").wait(WAIT_S).state is JobState.DONE
        assert [row.path for row in bee.documents()] == ["bees.md"]
