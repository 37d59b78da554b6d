"""Crawls of scripted sites (R055-R058, R060-R062, R064, R066): what is fetched, how often, and what is kept of it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.crawl import CrawlLimits, Manners, plan_of
from lilbee_core.errors import BlockedAddress, CrawlError, InvalidArgument
from lilbee_core.events import CrawlFinished, CrawlStarted, PageFailed, PageFetched, PageSkipped, Progress
from lilbee_core.protocols import Fetched
from tests.core.crawl.conftest import Bench
from tests.support.websites import Answer, Website, endless, redirect


def page(text: str, *links: str, title: str = "", head: str = "") -> str:
    anchors = "".join(f"<a href='{link}'>to {link}</a> " for link in links)
    return f"<html><head><title>{title}</title>{head}</head><body><main><p>{text}</p>{anchors}</main></body></html>"


def chain(length: int) -> dict[str, Any]:
    """Return pages of which each leads to the next."""
    return {f"/{number}": page(f"Page number {number}.", f"/{number + 1}") for number in range(length)}


# ------------------------------------------------------------------ one page once


def test_ways_to_one_page_are_one_page_and_limits_count_pages(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/": page("Start.", "/a", "/a/", "/a#x", "/a?utm_source=y", "/b"),
        "/a": page("The Smew page."),
        "/a/": page("The Smew page."),
        "/b": page("The Teal page."),
    }
    report = bench.crawl(site.url(), pages=10)
    assert (report.pages, report.new, report.failed) == (3, 3, ())
    assert sorted(site.asked) == ["/", "/a", "/b"]
    assert sorted(bench.files) == ["a.md", "b.md", "index.md"]
    assert f'url: "{site.url("/a")}"' in bench.files["a.md"]


def test_pages_that_say_the_same_are_kept_once(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/": page("Start.", "/print/a", "/a?view=print", "/a"),
        "/print/a": page("The Smew page.", title="Smew"),
        "/a": page("The Smew page.", title="Smew"),
        "/a?view=print": page("The Smew page.", title="Smew"),
    }
    report = bench.crawl(site.url())
    assert (report.new, report.duplicates) == (2, 2)
    assert len(bench.files) == 2
    again = bench.crawl(site.url())
    assert (again.new, again.updated, again.unchanged, again.duplicates) == (0, 0, 2, 2)


def test_of_two_addresses_the_one_counts_that_the_page_calls_its_own(site: Website, bench: Bench) -> None:
    bench.limits = CrawlLimits(at_once=1)
    canonical = "<link rel=canonical href='/a'>"
    site.pages |= {
        "/": page("Start.", "/a?sort=1", "/a"),
        "/a?sort=1": page("The Smew page.", head=canonical),
        "/a": page("The Smew page.", head=canonical),
    }
    report = bench.crawl(site.url())
    assert (report.pages, report.duplicates) == (2, 1)
    assert sorted(one.url for one in bench.manifest.pages()) == [site.url("/"), site.url("/a")]
    assert any(f'url: "{site.url("/a")}"' in text for text in bench.files.values())


def test_a_page_that_wrongly_calls_another_its_own_is_not_lost(site: Website, bench: Bench) -> None:
    """Many sites name their front page on every page, or the first of several pages on each."""
    front = "<link rel=canonical href='/'>"
    site.pages |= {
        "/": page("Start.", "/list", "/list?page=2", head=front),
        "/list": page("Smew.", head=front),
        "/list?page=2": page("Teal.", head="<link rel=canonical href='/list'>"),
    }
    assert bench.crawl(site.url()).pages == 3
    assert {"Smew", "Teal"} <= {word for text in bench.files.values() for word in ("Smew", "Teal") if word in text}


def test_names_that_would_clash_do_not(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/": page("Start.", "/a", "/A", "/a.md", "/a.html"),
        "/a": page("Lower."),
        "/A": page("Upper."),
        "/a.md": Answer(body="# Markdown\n", media_type="text/markdown"),
        "/a.html": page("Ending."),
    }
    assert bench.crawl(site.url()).pages == 5
    assert len({name.casefold() for name in bench.files}) == 5
    assert bench.crawl(site.url()).unchanged == 5


# ------------------------------------------------------------------ limits and loops


@pytest.mark.parametrize(("depth", "pages"), [(0, 1), (1, 2), (3, 4), (None, 8)])
def test_depth_counts_links_from_the_start(site: Website, bench: Bench, depth: int | None, pages: int) -> None:
    site.pages |= chain(8)
    site.pages["/7"] = page("The end.", "/0")
    assert bench.crawl(site.url("/0"), depth=depth).pages == pages
    assert len(site.asked) == pages


def test_the_limit_of_pages_counts_what_is_kept(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/": page("Start.", *(f"/{number}" for number in range(40))),
        **{f"/{number}": Answer(status=404) for number in range(10)},
        **{f"/{number}": page(f"Page {number}.") for number in range(10, 40)},
    }
    report = bench.crawl(site.url(), pages=5)
    assert report.pages == 5
    assert len(site.asked) <= 15


def test_the_pages_of_a_crawl_are_under_way_three_at_a_time(site: Website, bench: Bench) -> None:
    bench.manners = Manners(mean_delay_s=0.0, delay_range_s=0.0)
    together = threading.Barrier(3)
    now, most = [0], [0]
    lock = threading.Lock()

    def slowly(request: object) -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        together.wait(timeout=20)  # passes only when three are here
        with lock:
            now[0] -= 1
        return page(f"Page {request}.")

    site.pages |= {"/": page("Start.", *(f"/{number}" for number in range(9)))}
    site.pages |= {f"/{number}": slowly for number in range(9)}
    assert bench.crawl(site.url()).pages == 10
    assert most == [3]


def test_folders_without_end_end(site: Website, bench: Bench) -> None:
    class Endless(dict[str, Any]):
        def get(self, path: str, default: object = None) -> object:
            return page(f"At {path}.", path.rstrip("/") + "/next/") if path.startswith("/next") else default

    site.pages = Endless()
    report = bench.crawl(site.url("/next/"))
    assert 1 < report.pages < 10


def test_redirects_are_followed_and_loops_end(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/": page("Start.", "/moved", "/loop", "/self", "/many0"),
        "/moved": redirect("/target", 301),
        "/target": page("Where it moved."),
        "/loop": redirect("/loop2"),
        "/loop2": redirect("/loop"),
        "/self": redirect("/self"),
        **{f"/many{number}": redirect(f"/many{number + 1}") for number in range(30)},
    }
    report = bench.crawl(site.url())
    assert report.pages == 2
    assert {(one.url, one.code) for one in report.failed} == {
        (site.url(path), "crawl.http") for path in ("/loop", "/self", "/many0")
    }
    assert bench.manifest.page(f"127.0.0.1:{site.port}/moved") is not None
    assert len(site.asked) < 30


def test_a_start_that_leads_to_another_host_makes_that_the_site(site: Website, bench: Bench) -> None:
    with Website() as other:
        site.pages["/"] = redirect(other.url("/home"))
        other.pages |= {"/home": page("Home.", "/more", site.url("/also")), "/more": page("More.")}
        site.pages["/also"] = page("Also.")
        assert bench.crawl(site.url()).pages == 3


# ------------------------------------------------------------------ sites, patterns, robots


def test_other_sites_are_left_alone_unless_asked_for(site: Website, bench: Bench) -> None:
    with Website() as other:
        other.pages |= {"/x": page("Elsewhere.")}
        site.pages |= {"/": page("Start.", other.url("/x"), "/leads"), "/leads": redirect(other.url("/x"))}
        report = bench.crawl(site.url())
        assert report.pages == 1
        assert [(one.code, one.url) for one in report.skipped] == [
            ("crawl.other_site", site.url("/leads")),
            ("crawl.other_site", other.url("/x")),
        ]
        assert other.requests == []
        assert bench.crawl(site.url(), other_sites=True, depth=1).pages == 2


def test_what_is_left_out_is_counted_by_reason_and_named(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/robots.txt": Answer(body="User-agent: *\nDisallow: /private", media_type="text/plain"),
        "/": page("Start.", "/a", "/private", "/film.mp4", "/x/x/x/x/x", "/old/a", "http://other.example/", "/"),
        "/a": page("A.", "/deep/1", "/deep/2", "/deep/1#again", "/film.mp4", "/late"),
        "/late": page("Late."),
    }
    report = bench.crawl(site.url(), depth=1, exclude=["/old/*"])
    assert dict(report.skipped_counts) == {
        "crawl.depth": 3,
        "crawl.robots": 1,
        "crawl.unsupported": 1,
        "crawl.endless": 1,
        "crawl.excluded": 1,
        "crawl.other_site": 1,
    }
    assert {one.url for one in report.skipped if one.code == "crawl.depth"} == {
        site.url("/deep/1"),
        site.url("/deep/2"),
        site.url("/late"),
    }
    assert report.to_dict()["skipped_counts"] == dict(report.skipped_counts)
    assert bench.crawl(site.url(), depth=0).skipped_counts == ()


def test_pages_beyond_the_ceiling_are_counted_and_a_link_found_nearer_is_not_left_out(
    site: Website, bench: Bench
) -> None:
    names = [f"/p{n}" for n in range(120)]
    site.pages |= {"/": page("Start.", *names), **{name: page(f"Text of {name}.") for name in names}}
    bench.limits = CrawlLimits(at_once=1)
    report = bench.crawl(site.url(), pages=3)
    assert (report.pages, dict(report.skipped_counts)) == (3, {"crawl.pages": 118})
    assert len(report.skipped) == 50
    assert report.skipped[0].reason == "the crawl ended at its limit of 3 pages"
    site.pages |= {"/": page("Start.", "/one", "/two"), "/one": page("1", "/three"), "/two": page("2", "/three")}
    site.pages |= {"/three": page("3")}
    assert dict(bench.crawl(site.url(), depth=1).skipped_counts) == {"crawl.depth": 1}
    assert bench.crawl(site.url(), depth=2).skipped_counts == ()


def test_patterns_choose_but_never_against_the_start(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/": page("Start.", "/docs/a", "/docs/old/b", "/blog/c"),
        "/docs/a": page("A."),
        "/docs/old/b": page("B."),
        "/blog/c": page("C."),
    }
    bench.crawl(site.url(), include=["/docs/*"], exclude=["*/old/*"])
    assert sorted(bench.files) == ["docs/a.md", "index.md"]


def test_what_robots_may_not_read_is_not_read(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/robots.txt": Answer(body="User-agent: *\nDisallow: /private", media_type="text/plain"),
        "/": page("Start.", "/private/a", "/open", "/noindex"),
        "/private/a": page("Secret."),
        "/open": page("Open.", "/private/b"),
        "/noindex": page("Hidden.", "/behind", head="<meta name=robots content=noindex>"),
        "/behind": page("Behind."),
    }
    report = bench.crawl(site.url())
    assert sorted(bench.files) == ["behind.md", "index.md", "open.md"]
    assert {one.code for one in report.skipped} == {"crawl.robots", "crawl.noindex"}
    assert not any("private" in path for path in site.asked)
    with pytest.raises(CrawlError, match=r"robots\.txt does not allow") as caught:
        bench.crawl(site.url("/private/a"))
    assert caught.value.code == "crawl.robots"
    bench.robots = False
    assert bench.crawl(site.url("/private/a")).pages == 1


def test_requests_to_a_site_keep_their_distance(site: Website, bench: Bench) -> None:
    bench.manners = Manners(mean_delay_s=0.5, delay_range_s=0.0)
    site.pages |= chain(5)
    site.pages["/robots.txt"] = Answer(body="User-agent: *\nCrawl-delay: 2", media_type="text/plain")
    bench.crawl(site.url("/0"))
    # Four waits of the two seconds that the site asks for; the missing fifth page waits too.
    assert bench.clock.monotonic() == pytest.approx(10.0)


# ------------------------------------------------------------------ tries again


def test_a_page_that_was_asked_for_too_often_is_tried_again(site: Website, bench: Bench) -> None:
    busy = Answer(status=429, headers={"Retry-After": "5"})
    site.pages |= {"/": [busy, Answer(status=503), page("Here at last.")]}
    assert bench.crawl(site.url()).pages == 1
    assert site.asked == ["/"] * 3
    assert bench.clock.monotonic() >= 5 + 2 * 1.0


def test_tries_end_after_three(site: Website, bench: Bench) -> None:
    site.pages |= {"/": page("Start.", "/busy"), "/busy": Answer(status=503)}
    report = bench.crawl(site.url())
    assert site.asked.count("/busy") == 3
    assert [one.code for one in report.failed] == ["crawl.rate_limited"]
    assert "status 503" in report.failed[0].reason


def test_tries_can_be_switched_off_and_other_failures_are_final(site: Website, bench: Bench) -> None:
    bench.manners = Manners(retry=False)
    site.pages |= {"/": page("Start.", "/busy", "/broken"), "/busy": Answer(status=429), "/broken": Answer(status=500)}
    assert {one.code for one in bench.crawl(site.url()).failed} == {"crawl.rate_limited", "crawl.http"}
    assert sorted(site.asked) == ["/", "/broken", "/busy"]


# ------------------------------------------------------------------ hostile answers


def test_bad_pages_cost_only_themselves(site: Website, bench: Bench) -> None:
    bench.timeout_s = 0.5
    done = threading.Event()

    def drip() -> Iterator[bytes]:
        for _ in range(500):
            yield b"<p>x"
            done.wait(0.02)

    site.pages |= {
        "/": page("Start.", "/huge", "/slow", "/binary", "/film", "/empty", "/inside", "/file", "/good"),
        "/huge": Answer(body=endless(b"x" * 1_000_000, most=50)),
        "/slow": Answer(body=drip),
        "/binary": Answer(body=b"\x00\x01\x02" * 99, media_type="text/html"),
        "/film": Answer(body=b"x", media_type="video/mp4"),
        "/empty": "<html><body></body></html>",
        "/inside": redirect("http://169.254.169.254/latest"),
        "/file": redirect("file:///etc/passwd"),
        "/good": page("Good."),
    }
    report = bench.crawl(site.url(), other_sites=True, depth=1)
    done.set()
    assert sorted(bench.files) == ["good.md", "index.md"]
    assert {(one.url.rsplit("/", 1)[1], one.code) for one in report.failed} == {
        ("huge", "crawl.too_large"),
        ("slow", "crawl.timeout"),
        ("inside", "crawl.blocked_address"),
        ("file", "crawl.blocked_address"),
        ("film", "crawl.unsupported"),
    }
    assert {(one.url.rsplit("/", 1)[1], one.code) for one in report.skipped} == {
        ("binary", "crawl.unsupported"),
        ("empty", "crawl.empty"),
    }


def test_files_that_are_no_pages_are_kept_with_their_ending(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/": page("Start.", "/paper", "/notes.txt", "/data.csv", "/picture", "/lie.html"),
        "/paper": Answer(body=b"%PDF-1.4 ...", media_type="application/pdf"),
        "/notes.txt": Answer(body="Plain notes.", media_type="text/plain; charset=utf-8"),
        "/data.csv": Answer(body="a,b\n1,2\n", media_type="application/octet-stream"),
        "/picture": Answer(body=b"\x89PNG\r\n\x1a\n....", media_type="image/png"),
        "/lie.html": Answer(body=b"%PDF-1.7 ...", media_type="text/html"),
    }
    report = bench.crawl(site.url())
    assert report.pages == 6
    assert sorted(bench.files) == ["data.csv", "index.md", "lie.html.pdf", "notes.txt", "paper.pdf", "picture.png"]
    kinds = {one.path.rpartition("/")[2]: one.media_type for one in bench.manifest.pages()}
    assert kinds["lie.html.pdf"] == "application/pdf"
    assert kinds["index.md"] == "text/markdown"


def test_a_start_that_cannot_be_had_is_an_error_that_says_why(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/r1": redirect("http://169.254.169.254/latest"),
        "/r2": redirect("file:///etc/passwd"),
        "/r3": redirect("http://10.0.0.1:1/admin"),
        "/film": Answer(body="x", media_type="audio/mpeg"),
    }
    for path in ("/r1", "/r2", "/r3"):
        with pytest.raises(BlockedAddress):
            bench.crawl(site.url(path))
    with pytest.raises(CrawlError, match="status 404"):
        bench.crawl(site.url("/nothing"))
    with pytest.raises(CrawlError, match="holds no text"):
        bench.crawl(site.url("/film"))
    assert bench.files == {}
    bench.allowed = ()
    with pytest.raises(BlockedAddress):
        bench.crawl(site.url())


def test_a_list_of_pages_from_somebody_else_cannot_lead_out_of_the_folder(
    site: Website, bench: Bench, tmp_path: Path
) -> None:
    import sqlite3

    site.pages |= {"/": page("Start.", "/a"), "/a": page("First.")}
    bench.crawl(site.url())
    bench.manifest.close()
    with sqlite3.connect(bench.folder / ".crawl" / "manifest.sqlite") as connection:
        connection.execute("UPDATE pages SET path = '../../evil.md', folded = '../../evil.md' WHERE url LIKE '%/a'")
    connection.close()
    outside = tmp_path / "outside"
    outside.mkdir()
    (bench.folder / "127.0.0.1_1").symlink_to(outside)
    site.pages["/a"] = page("Second.")
    report = bench.crawl(site.url())
    assert report.updated == 1
    assert not (tmp_path / "evil.md").exists()
    assert not (bench.folder.parent.parent / "evil.md").exists()
    assert "Second" in bench.files["a.md"]


# ------------------------------------------------------------------ again and again


def test_a_second_crawl_updates_what_has_changed(site: Website, bench: Bench) -> None:
    site.pages |= {
        "/": page("Start.", "/tagged", "/dated", "/plain", "/changing"),
        "/tagged": lambda request: (
            Answer(status=304, media_type=None)
            if request.headers.get("if-none-match") == '"v1"'
            else Answer(body=page("Tagged.", "/behind"), headers={"ETag": '"v1"'})
        ),
        "/behind": page("Behind."),
        "/dated": lambda request: (
            Answer(status=304, media_type=None)
            if "if-modified-since" in request.headers
            else Answer(body=page("Dated."), headers={"Last-Modified": "Mon, 02 Mar 2026 10:00:00 GMT"})
        ),
        "/plain": page("Plain."),
        "/changing": [page("Old words."), page("New words.")],
    }
    assert bench.crawl(site.url()).new == 6
    before = {path: path.stat().st_mtime_ns for path in bench.folder.rglob("*.md")}
    report = bench.crawl(site.url())
    assert (report.new, report.updated, report.unchanged) == (0, 1, 5)
    assert "New words." in bench.files["changing.md"]
    changed = {path.name for path, at in before.items() if path.stat().st_mtime_ns != at}
    assert changed == {"changing.md"}
    # A page that is as it was still leads on.
    assert site.asked.count("/behind") == 2


def test_a_page_whose_file_is_gone_is_fetched_whole(site: Website, bench: Bench) -> None:
    site.pages["/"] = lambda request: (
        Answer(status=304, media_type=None)
        if "if-none-match" in request.headers
        else Answer(body=page("Tagged."), headers={"ETag": '"v1"'})
    )
    bench.crawl(site.url())
    next(bench.folder.rglob("*.md")).unlink()
    assert bench.crawl(site.url()).updated == 1
    assert list(bench.files) == ["index.md"]


def test_a_page_that_becomes_a_file_takes_its_place(site: Website, bench: Bench) -> None:
    site.pages["/a"] = [page("A page."), Answer(body=b"%PDF-1.4", media_type="application/pdf")]
    bench.crawl(site.url("/a"))
    assert bench.crawl(site.url("/a")).updated == 1
    assert list(bench.files) == ["a.pdf"]


def test_a_page_that_is_gone_stays_kept_and_is_told(site: Website, bench: Bench) -> None:
    site.pages |= {"/": page("Start.", "/a"), "/a": [page("Once."), Answer(status=410)]}
    bench.crawl(site.url())
    report = bench.crawl(site.url())
    assert "is gone" in report.failed[0].reason
    assert "Once." in bench.files["a.md"]


# ------------------------------------------------------------------ live


def test_events_tell_of_every_page_as_it_comes(site: Website, bench: Bench) -> None:
    site.pages |= {"/": page("Start.", "/a", "/gone", "/empty", title="Front"), "/a": page("A."), "/empty": "<p></p>"}
    report = bench.crawl(site.url())
    sink = bench.sink
    assert sink.names[0] == "CrawlStarted"
    assert sink.names[-1] == "CrawlFinished"
    assert sink.of(CrawlStarted)[0].urls == (site.url(),)
    first = sink.of(PageFetched)[0]
    assert (first.url, first.state, first.title) == (site.url(), "new", "Front")
    assert [one.url for one in sink.of(PageFailed)] == [site.url("/gone")]
    assert [one.code for one in sink.of(PageSkipped)] == ["crawl.empty"]
    steps = sink.of(Progress)
    assert [one.done for one in steps] == [1, 2, 3, 4]
    assert steps[-1].total == 4
    assert {one.unit for one in steps} == {"pages"}
    assert sink.of(CrawlFinished)[0].new == report.new == 2
    json.dumps(report.to_dict())


@pytest.mark.parametrize(("every", "syncs"), [(2.0, 4), (5.0, 1), (0.0, 0)])
def test_what_was_kept_is_indexed_from_time_to_time(site: Website, bench: Bench, every: float, syncs: int) -> None:
    """Pages come one a second on the test's clock; zero is not to sync in between."""
    called: list[float] = []
    bench.sync = lambda: called.append(bench.clock.monotonic())
    bench.manners = Manners(mean_delay_s=1.0, delay_range_s=0.0)
    bench.limits = CrawlLimits(at_once=1, sync_every_s=every)
    site.pages |= chain(8)
    bench.crawl(site.url("/0"))
    assert len(called) == syncs
    assert all(later - sooner >= every for sooner, later in pairwise(called))


# ------------------------------------------------------------------ other fetchers


class Canned:
    """A fetcher of a plugin that follows redirects itself."""

    def __init__(self, final: str) -> None:
        self.final = final
        self.asked: list[str] = []

    def fetch(self, url: str, *, timeout_s: float) -> Fetched:
        self.asked.append(url)
        return Fetched(
            url=self.final, status=200, media_type="text/html", body=b"<p>Canned heron.</p>",
            headers={"Content-Type": "text/html"},
        )  # fmt: skip


def test_a_fetcher_of_a_plugin_is_asked_only_for_addresses_that_pass(bench: Bench) -> None:
    bench.robots = False
    fetcher = Canned("http://127.0.0.1:8/final")
    assert bench.crawl("http://127.0.0.1:8/", fetcher=fetcher).pages == 1
    assert "Canned heron." in bench.files["final.md"]
    with pytest.raises(BlockedAddress):
        bench.crawl("http://10.0.0.1/", fetcher=fetcher)
    assert fetcher.asked == ["http://127.0.0.1:8/"]
    with pytest.raises(BlockedAddress):
        bench.crawl("http://127.0.0.1:8/other", fetcher=Canned("http://192.168.0.1/"))


class Shows:
    """A renderer that fills in what scripts would."""

    def __init__(self) -> None:
        self.pages: list[str] = []

    def render(self, page: Fetched, *, timeout_s: float) -> Fetched:
        self.pages.append(page.url)
        body = page.body.replace(b"<div id=app></div>", b"<h1>Made by scripts</h1>")
        return Fetched(url=page.url, status=200, media_type="text/html", body=body, headers=page.headers)


@pytest.mark.parametrize(("scripts", "rendered"), [("never", 0), ("auto", 1), ("always", 2)])
def test_scripts_run_where_they_are_needed(site: Website, bench: Bench, scripts: str, rendered: int) -> None:
    site.pages |= {
        "/": page("Start with enough to read.", "/app"),
        "/app": "<html><body><div id=app></div><p>Loading</p><script src=/x.js></script></body></html>",
    }
    renderer = Shows()
    report = bench.crawl(site.url(), renderer=renderer, scripts=scripts)
    assert len(renderer.pages) == rendered
    assert ("Made by scripts" in bench.files["app.md"]) is (rendered > 0)
    assert bool(report.warnings) is (rendered == 0)


# ------------------------------------------------------------------ what is asked for


@pytest.mark.parametrize(
    ("urls", "more"),
    [
        ((), {}),
        (("not a url",), {}),
        (("http://example.org",), {"depth": -1}),
        (("http://example.org",), {"pages": 0}),
        (("http://example.org",), {"other_sites": True}),
    ],
)
def test_plans_that_make_no_sense(urls: tuple[str, ...], more: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        plan_of(urls, **{"depth": None, "pages": None, **more})


def test_a_plan_names_each_start_once_and_is_known_by_what_it_asks_for() -> None:
    plan = plan_of(["http://example.org/a", "http://example.org/a/#x", "http://example.org/b"], depth=1, pages=None)
    assert plan.urls == ("http://example.org/a", "http://example.org/b")
    assert plan.name == plan_of(list(plan.urls), depth=1, pages=None).name
    assert plan.name != plan_of(list(plan.urls), depth=2, pages=None).name
