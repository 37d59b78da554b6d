"""`lilbee crawl` and `lilbee add URL` (R055-R056): what is said, what is counted, and the exit codes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import Run
from tests.support.websites import Answer, Website

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


def test_a_crawl_is_told_and_found(synced: Run, site: Website) -> None:
    done = synced("crawl", site.url())
    assert done.code == 0
    assert done.out.startswith("pages: 2 new")
    assert "2 added" in done.out
    found = synced("search", "ferry")
    assert site.url("/ferry") in found.out
    hit = synced("search", "ferry noon", "--json").json()["hits"][0]
    assert hit["url"] == site.url("/ferry")
    assert site.url("/ferry") in synced("ask", "When does the ferry leave?").out
    again = synced("crawl", site.url(), "--json").json()
    assert (again["pages"], again["unchanged"], again["sync"]["unchanged"]) == (2, 2, 2)


def test_depth_pages_and_patterns(synced: Run, site: Website) -> None:
    assert synced("crawl", site.url(), "--depth", "0", "--json").json()["pages"] == 1
    assert synced("crawl", site.url(), "--pages", "1", "--json").json()["pages"] == 1
    assert synced("crawl", site.url(), "--exclude", "/ferry", "--json").json()["pages"] == 1
    assert synced("crawl", site.url(), "--include", "/f*", "--fresh", "--json").json()["pages"] == 2


def test_what_was_left_out_is_counted_and_named_on_request(synced: Run, site: Website) -> None:
    told = synced("crawl", site.url(), "--exclude", "/ferry").out
    assert "1 skipped" in told
    assert "skipped: 1 by include or exclude (`--verbose` names them)" in told
    named = synced("crawl", site.url(), "--exclude", "/ferry", "--verbose").out
    assert f"  {site.url('/ferry')}: is left out by include or exclude [crawl.excluded]" in named
    as_json = synced("crawl", site.url(), "--exclude", "/ferry", "--json").json()
    assert as_json["skipped_counts"] == {"crawl.excluded": 1}
    assert as_json["skipped"][0]["url"] == site.url("/ferry")


def test_progress_goes_to_stderr_and_json_stays_alone(synced: Run, site: Website) -> None:
    site.pages |= {f"/{number}": f"<p>Page {number}.</p><a href=/{number + 1}>n</a>" for number in range(12)}
    done = synced("crawl", site.url("/0"), "-v")
    assert "fetched 10 of" in done.err
    assert f"new       {site.url('/3')}" in done.err
    assert f"failed    {site.url('/12')}" in done.err
    assert done.code == 3, "a link of the site leads nowhere"
    quiet = synced("crawl", site.url("/0"), "--json")
    assert quiet.err == ""
    assert quiet.json()["failed"][0]["code"] == "crawl.http"


def test_pages_are_added_listed_and_forgotten(synced: Run, site: Website) -> None:
    assert "1 added" in synced("add", site.url("/ferry")).out
    assert site.url("/ferry") in synced("crawl", "--list").out
    (page,) = synced("crawl", "--list", "--json").json()["pages"]
    assert (page["url"], page["title"], page["collection"]) == (site.url("/ferry"), "Ferry", "web")
    assert synced("crawl", "--forget", site.url("/ferry")).code == 0
    assert synced("crawl", "--forget", site.url("/ferry")).code == 4
    assert synced("crawl", "--list", "--json").json() == {"pages": []}
    assert synced("search", "ferry", "--json").json()["hits"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "error"),
    [
        (("crawl",), 2, "usage"),
        (("crawl", "--depth", "-1", "http://example.org"), 2, "usage"),
        (("crawl", "not a url"), 2, "argument.invalid"),
        (("crawl", "--other-sites", "http://127.0.0.1:9/"), 2, "argument.invalid"),
        (("crawl", "file:///etc/passwd"), 1, "crawl.blocked_address"),
        (("crawl", "http://10.0.0.1/"), 1, "crawl.blocked_address"),
        (("add", "http://169.254.169.254/latest"), 1, "crawl.blocked_address"),
    ],
)
def test_errors(synced: Run, site: Website, arguments: tuple[str, ...], code: int, error: str) -> None:
    done = synced(*arguments, "--json")
    assert (done.code, done.json()["error"]["code"]) == (code, error)


def test_what_a_site_says_cannot_move_the_cursor(synced: Run, site: Website) -> None:
    site.pages["/evil"] = Answer(body="<title>Evil \x1b[2J\u202e title</title><p>Evil words.</p>")
    done = synced("crawl", site.url("/evil"), "-v")
    assert "\x1b" not in done.err + done.out + synced("crawl", "--list").out
