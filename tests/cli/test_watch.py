"""`lilbee watch` and `lilbee jobs`: what is printed, how it ends, and from where (R248, R318)."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from lilbee_cli.render.watching import WatchSink
from lilbee_core import Lilbee
from lilbee_core.events import DocumentFailed, DocumentIndexed, DocumentMoved, WatchFailed, WatchStarted
from tests.cli.conftest import Run

# A process that is started in the background ignores Ctrl-C; a shell gives it back to what it runs in front.
_MAIN = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from lilbee_cli.main import main; main()"
)


@contextmanager
def running(folder: Path, *flags: str) -> Iterator[subprocess.Popen[str]]:
    """Run `lilbee watch` on a folder, as a user does."""
    command = [sys.executable, "-c", _MAIN, "watch", "--library", str(folder), *flags]
    env = {**os.environ, "LILBEE_WATCH_DEBOUNCE_S": "0.1"}
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def until(process: subprocess.Popen[str], fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Read events, a line each, until one fits."""
    assert process.stdout is not None
    for line in process.stdout:
        event: dict[str, Any] = json.loads(line)
        if fits(event):
            return event
    raise AssertionError(f"it ended: {process.stderr.read() if process.stderr else ''}")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is another thing there")
def test_it_tells_each_event_until_ctrl_c(synced: Run, folder: Path) -> None:
    with running(folder, "--json") as process:
        started = until(process, lambda event: event["event"] == "WatchStarted")
        assert started["collections"] == ["notes"]
        until(process, lambda event: event["event"] == "SyncFinished")
        (folder / "pears.txt").write_text("Pears ripen late.", encoding="utf-8")
        assert until(process, lambda event: event["event"] == "DocumentIndexed")["path"] == "pears.txt"
        until(process, lambda event: event["event"] == "SyncFinished")
        jobs = synced("jobs", "list", "--json").json()["jobs"]
        assert [(one["kind"], one["state"]) for one in jobs] == [("watch", "running")]
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in said
    assert "Traceback" not in said
    assert synced("search", "pears", "--json").json()["hits"][0]["path"] == "pears.txt"
    assert synced("jobs", "list", "--json").json()["jobs"][0]["state"] == "cancelled"


@pytest.mark.slow
def test_another_process_ends_it_and_nobody_reading_does_too(synced: Run, folder: Path) -> None:
    with running(folder, "--json") as process:
        until(process, lambda event: event["event"] == "SyncFinished")
        job = synced("jobs", "list", "--json").json()["jobs"][0]["id"]
        assert "running" in synced("jobs", "show", job).out
        assert "asked to end" in synced("jobs", "cancel", job).out
        assert process.wait(60) == 0
    assert "is over already: cancelled" in synced("jobs", "cancel", job).out
    assert "cancelled: True" in synced("jobs", "show", job).out
    with running(folder, "--json") as process:
        until(process, lambda event: event["event"] == "SyncFinished")
        assert process.stdout is not None
        process.stdout.close()
        (folder / "plums.txt").write_text("Plums are blue.", encoding="utf-8")
        assert process.wait(60) == 0


def test_jobs_are_listed_and_shown(synced: Run, folder: Path) -> None:
    assert synced("jobs", "list").out == ""
    with Lilbee(folder) as bee:
        for _ in range(21):
            bee.jobs.start("sync").wait(30)
        failed = bee.jobs.start("crawl", urls=["ftp://nowhere"])
        failed.wait(30)
    listed = synced("jobs", "list")
    assert len(listed.out.splitlines()) == 20
    assert "and 2 more" in listed.err
    assert len(synced("jobs", "list", "--all").out.splitlines()) == 22
    shown = synced("jobs", "show", failed.id)
    assert "crawl" in shown.out
    assert "urls: ['ftp://nowhere']" in shown.out
    assert synced("jobs", "show", failed.id, "--json").json()["state"] == "failed"
    assert synced("jobs", "show", "nope", "--json").code == 4


def test_a_collection_that_is_not_there_is_said(synced: Run) -> None:
    assert synced("watch", "nope", "--json").json()["error"]["code"] == "library.not_found"


def test_people_read_a_line_for_each_thing(capsys: pytest.CaptureFixture[str]) -> None:
    sink = WatchSink(as_json=False, quiet=False, verbose=0)
    sink(WatchStarted(collections=("notes", "share"), polled=("share",)))
    sink(DocumentIndexed(collection="notes", path="a\x1b.md", chunks=1))
    sink(DocumentIndexed(collection="notes", path="a.md", chunks=2, updated=True))
    sink(DocumentMoved(collection="notes", path="b.md", old_path="a.md"))
    sink(DocumentFailed(collection="notes", path="c.pdf", code="x", reason="broken"))
    sink(WatchFailed(code="store.locked", reason="it is locked", hint="Wait.", retry_s=2.0))
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "added    notes/a\\x1b.md  1 chunk",
        "updated  notes/a.md  2 chunks",
        "moved    notes/b.md  from a.md",
        "failed   notes/c.pdf  broken",
    ]
    assert "watching notes, share, share by looking now and then; Ctrl-C ends it" in printed.err
    assert "it is locked. Wait. It is tried again in 2 s." in printed.err
    WatchSink(as_json=False, quiet=True, verbose=0)(DocumentIndexed(collection="notes", path="a.md", chunks=1))
    assert capsys.readouterr().out == ""
