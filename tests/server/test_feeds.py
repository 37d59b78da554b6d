"""Jobs told to many: one thread each, a heartbeat where nothing happens, and nobody else waits (R325, R328)."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar.response.sse import ServerSentEventMessage

from lilbee_core import Lilbee
from lilbee_core.events import Event, Progress
from lilbee_core.jobs import JobState
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import Vectors
from lilbee_server.app import create_app
from lilbee_server.feeds import Feeds
from lilbee_server.streams import job_events
from tests.server.conftest import TOKEN, serving

MANY = 30


class HeldJob:
    """A job that does what the test says."""

    id = "held"

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.events: list[Event] = []
        self.state = JobState.RUNNING
        self.silent = False

    def tell(self, done: int) -> None:
        with self.changed:
            self.events.append(Progress(phase="reading", done=done, total=9, unit="files"))
            self.changed.notify_all()

    def end(self) -> None:
        with self.changed:
            self.state = JobState.DONE
            self.changed.notify_all()

    def since(self, seen: int, *, timeout_s: float | None = None) -> tuple[Sequence[Event], int, bool]:
        with self.changed:
            self.changed.wait_for(lambda: len(self.events) > seen or self.quiet, timeout_s)
            return self.events[seen:], len(self.events), self.quiet

    def wait(self, timeout_s: float | None = None) -> object:
        with self.changed:
            return self.changed.wait_for(lambda: self.state.is_over, timeout_s)

    @property
    def quiet(self) -> bool:
        return self.silent or self.state.is_over

    def to_dict(self) -> dict[str, object]:
        return {"state": self.state.value}


def feed_threads() -> int:
    return sum(one.name == "lilbee-feed" for one in threading.enumerate())


def join_feeds() -> None:
    """Wait for the threads of jobs that nobody follows any longer."""
    for one in threading.enumerate():
        if one.name == "lilbee-feed":
            one.join(5)


async def told(stream: AsyncIterator[ServerSentEventMessage]) -> list[str]:
    return [message.encode().decode() async for message in stream]


def test_everybody_gets_all_events_from_one_thread() -> None:
    join_feeds()  # those of tests before

    async def main() -> None:
        feeds, job = Feeds(), HeldJob()
        job.tell(1)
        streams: list[Any] = [job_events(feeds, job, seen=at % 2) for at in range(MANY)]  # type: ignore[arg-type]
        tasks = [asyncio.create_task(told(one)) for one in streams]
        await asyncio.sleep(0)
        assert feed_threads() == 1
        job.tell(2)
        await asyncio.to_thread(job.end)
        all_told = await asyncio.gather(*tasks)
        for at, messages in enumerate(all_told):
            numbers = [one.partition("\r\n")[0] for one in messages[:-1]]
            assert numbers == ["id: 1", "id: 2"][at % 2 :]
            assert messages[-1] == 'event: JobFinished\r\ndata: {"state": "done"}\r\n\r\n'

    asyncio.run(main())
    join_feeds()
    assert feed_threads() == 0


def test_a_silent_stream_has_a_heartbeat() -> None:
    async def main() -> None:
        feeds, job = Feeds(), HeldJob()
        stream: Any = job_events(feeds, job, heartbeat_s=0.01)  # type: ignore[arg-type]
        assert (await anext(stream)).encode() == b": still at work\r\n\r\n"
        assert (await anext(stream)).encode() == b": still at work\r\n\r\n"
        job.tell(1)
        while (message := (await anext(stream)).encode()) == b": still at work\r\n\r\n":
            pass
        assert message.startswith(b"id: 1\r\nevent: Progress\r\ndata: {")
        await stream.aclose()

    asyncio.run(main())


def test_a_job_of_another_process_is_followed_to_its_end() -> None:
    async def main() -> None:
        feeds, job = Feeds(), HeldJob()
        job.silent = True  # its events stay in the other process
        stream: Any = job_events(feeds, job, heartbeat_s=0.02)  # type: ignore[arg-type]
        assert (await anext(stream)).encode() == b": still at work\r\n\r\n"
        job.end()
        messages = await told(stream)
        assert messages[-1].startswith("event: JobFinished")

    asyncio.run(main())


class HeldEmbedder(HashEmbedder):
    """Embeds nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        self.go.wait(60)
        return super().embed_batch(texts)


@pytest.fixture
def held(tmp_path: Path) -> Iterator[tuple[httpx.Client, HeldEmbedder]]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    embedder = HeldEmbedder()
    with ExitStack() as stack:
        bee = stack.enter_context(Lilbee(root, embedder=embedder))
        embedder.go.set()
        bee.sync()
        embedder.go.clear()
        stack.callback(embedder.go.set)
        address = stack.enter_context(serving(create_app(bee, token=TOKEN)))
        limits = httpx.Limits(max_connections=MANY + 5)
        headers = {"Authorization": f"Bearer {TOKEN}"}
        client = httpx.Client(base_url=address, headers=headers, timeout=30, limits=limits)
        (root / "ants.md").write_text("# Ants\n\nAnts carry leaves.\n", encoding="utf-8")
        yield stack.enter_context(client), embedder


@pytest.mark.slow
def test_who_follows_a_job_keeps_nobody_waiting(held: tuple[httpx.Client, HeldEmbedder]) -> None:
    client, embedder = held
    join_feeds()  # a test before this one may have followed a job until just now
    job = client.post("/api/sync", json={}).json()["id"]
    with ExitStack() as stack:
        streams = [stack.enter_context(client.stream("GET", f"/api/jobs/{job}/events")) for _ in range(MANY)]
        before = time.monotonic()
        answer = client.get("/api/search", params={"query": "term: queen"})
        assert answer.json()["hits"][0]["path"] == "bees.md"
        assert time.monotonic() - before < 8  # a heartbeat takes ten seconds: nobody waited for one
        assert feed_threads() == 1
        embedder.go.set()
        for one in streams:
            *_, last = [line for line in one.iter_lines() if line.startswith("data: ")]
            assert json.loads(last.removeprefix("data: "))["state"] == "done"
