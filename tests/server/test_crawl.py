"""Crawls over HTTP: started as a job, followed as a stream, ended on request (R052, R253)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_server.app import create_app
from tests.support.websites import Answer, Website

Client = TestClient[Litestar]
PAGES = {
    "/": "<title>Harbor</title><h1>Harbor</h1><p>Boats lie here.</p><a href=/ferry>f</a>",
    "/ferry": "<title>Ferry</title><p>The ferry leaves at noon.</p>",
}


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Website]:
    monkeypatch.setenv("LILBEE_CRAWL_ALLOWED_NETWORKS", "127.0.0.1")
    monkeypatch.setenv("LILBEE_CRAWL_MEAN_DELAY", "0")
    monkeypatch.setenv("LILBEE_CRAWL_MAX_DELAY_RANGE", "0")
    with Website(PAGES) as running:
        yield running


@pytest.fixture
def web(site: Website, tmp_path: Path) -> Iterator[Client]:
    """A client of an empty library that may crawl the site."""
    (tmp_path / "notes").mkdir()
    with Lilbee(tmp_path / "notes", embedder=HashEmbedder()) as bee:
        app = create_app(bee, token=None, hosts=("testserver.local",))
        with TestClient(app, base_url="http://testserver.local") as client:
            yield client


def messages(stream: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of a stream: name and data."""
    found: list[tuple[str, dict[str, Any]]] = []
    for block in stream.replace("\r\n", "\n").strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n") if not line.startswith(":"))
        if "event" in lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def test_a_crawl_is_started_followed_and_found(web: Client, site: Website) -> None:
    started = web.post("/api/crawl", json={"urls": [site.url()], "depth": 1})
    assert started.status_code == 202
    job = started.json()
    assert (job["kind"], job["options"]["depth"]) == ("crawl", 1)
    told = messages(web.get(f"/api/jobs/{job['id']}/events").text)
    names = [name for name, _ in told]
    assert (names[0], names[-1]) == ("CrawlStarted", "JobFinished")
    assert {data["url"] for name, data in told if name == "PageFetched"} == {site.url(), site.url("/ferry")}
    assert any(name == "Progress" for name in names)
    assert told[-1][1]["state"] == "done"
    assert told[-1][1]["result"]["new"] == 2
    assert told[-1][1]["result"]["skipped_counts"] == {}
    assert web.get("/api/search", params={"query": "ferry noon"}).json()["hits"][0]["url"] == site.url("/ferry")
    kept = web.get("/api/crawl/pages").json()["pages"]
    assert {page["url"] for page in kept} == {site.url(), site.url("/ferry")}
    assert web.get("/api/jobs").json()["jobs"][0]["id"] == job["id"]


def test_a_stream_that_was_cut_off_goes_on(web: Client, site: Website) -> None:
    job = web.post("/api/crawl", json={"urls": [site.url()]}).json()
    whole = messages(web.get(f"/api/jobs/{job['id']}/events").text)
    rest = messages(web.get(f"/api/jobs/{job['id']}/events", headers={"Last-Event-ID": "2"}).text)
    assert rest == whole[2:]


def test_pages_are_forgotten(web: Client, site: Website) -> None:
    job = web.post("/api/crawl", json={"urls": [site.url()]}).json()
    web.get(f"/api/jobs/{job['id']}/events")
    gone = web.post("/api/crawl/forget", json={"urls": [site.url("/ferry")]})
    assert gone.status_code == 200
    assert len(gone.json()["removed"]) == 1
    assert len(web.get("/api/crawl/pages").json()["pages"]) == 1
    missing = web.post("/api/crawl/forget", json={"urls": [site.url("/ferry")]})
    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "library.not_found")


def test_a_crawl_is_ended_on_request(web: Client, site: Website) -> None:
    site.pages |= {
        f"/{number}": Answer(body=f"<p>Page {number}.</p><a href=/{number + 1}>n</a>") for number in range(500)
    }
    job = web.post("/api/crawl", json={"urls": [site.url("/0")]}).json()
    assert web.delete(f"/api/jobs/{job['id']}").status_code == 202
    told = messages(web.get(f"/api/jobs/{job['id']}/events").text)
    assert told[-1][1]["state"] == "cancelled"
    assert web.get(f"/api/jobs/{job['id']}").json()["state"] == "cancelled"


def test_what_cannot_be_crawled_is_told_by_the_job(web: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for url, code in (("http://10.0.0.1/", "crawl.blocked_address"), ("file:///etc/passwd", "crawl.blocked_address")):
        job = web.post("/api/crawl", json={"urls": [url]}).json()
        last = messages(web.get(f"/api/jobs/{job['id']}/events").text)[-1][1]
        assert (last["state"], last["error"]["code"]) == ("failed", code)


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({}, 400, "argument.invalid"),
        ({"urls": []}, 400, "argument.invalid"),
        ({"urls": ["http://x.example/"], "depth": "deep"}, 400, "argument.invalid"),
    ],
)
def test_wrong_requests_are_refused(web: Client, body: dict[str, object], status: int, code: str) -> None:
    answer = web.post("/api/crawl", json=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


def test_unknown_jobs_are_not_found(web: Client) -> None:
    for answer in (web.get("/api/jobs/nope"), web.delete("/api/jobs/nope"), web.get("/api/jobs/nope/events")):
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "library.not_found")
