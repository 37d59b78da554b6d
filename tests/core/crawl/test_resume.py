"""A crawl that was stopped anywhere goes on where it was: nothing is fetched twice, and nothing is missing (R056)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lilbee_core.crawl import CrawlLimits, plan_of
from lilbee_core.errors import Cancelled, CrawlError
from lilbee_core.events import CrawlStarted, Event, PageFetched
from lilbee_core.testing import RecordingSink, Switch
from tests.core.crawl.conftest import Bench
from tests.support.websites import Website

PAGES = 24
CHILD = """
import sys
from pathlib import Path
from lilbee_core.crawl import Crawler, CrawlLimits, Guard, Keeper, Manifest, Manners, Pace, Visitor, WebFetcher, plan_of
from lilbee_core.testing import ManualClock, Switch

folder, url = Path(sys.argv[1]), sys.argv[2]
manifest, web, clock = Manifest(folder), WebFetcher(Guard(["127.0.0.0/8"])), ManualClock()
visitor = Visitor(web, manifest, Pace(Manners(), clock), Keeper(manifest, lambda: ""), robots_fetcher=web)

def tell(event):
    if event.name == "PageFetched":
        print(event.path, flush=True)
        sys.stdin.readline()  # goes on when it is told to

crawler = Crawler(manifest, visitor, clock=clock, events=tell, limits=CrawlLimits(at_once=3))
crawler.run(plan_of([url], depth=None, pages=None), Switch())
"""


@pytest.fixture
def wide(site: Website) -> Website:
    """A site whose pages are found bit by bit."""
    for number in range(PAGES):
        links = "".join(f"<a href='/{one}'>x</a>" for one in (2 * number + 1, 2 * number + 2) if one < PAGES)
        site.pages[f"/{number}"] = f"<title>{number}</title><main><p>Page number {number}.</p>{links}</main>"
    site.pages["/23"] = "<p>Page number 23.</p><a href=/gone>gone</a>"
    return site


class StopsAfter:
    """Takes events, and cancels when it was told of so many pages."""

    def __init__(self, pages: int, switch: Switch) -> None:
        self.left, self.switch = pages, switch

    def __call__(self, event: Event) -> None:
        if isinstance(event, PageFetched):
            self.left -= 1
            if self.left == 0:
                self.switch.cancel()


def undisturbed(site: Website, folder: Path) -> dict[str, Any]:
    bench = Bench(folder)
    report = bench.crawl(site.url("/0"))
    bench.manifest.close()
    site.requests.clear()
    return {"files": bench.files, "pages": report.pages, "failed": report.failed}


@pytest.mark.parametrize("after", [1, 2, 7, 23])
def test_a_crawl_that_was_cancelled_goes_on(wide: Website, bench: Bench, tmp_path: Path, after: int) -> None:
    expected = undisturbed(wide, tmp_path / "whole")
    switch = Switch()
    bench.sink = StopsAfter(after, switch)  # type: ignore[assignment]
    first = bench.crawl(wide.url("/0"), cancel=switch)
    assert first.cancelled
    assert after <= first.pages < PAGES
    bench.sink = RecordingSink()
    second = bench.crawl(wide.url("/0"))
    assert (second.resumed, second.cancelled, second.waiting) == (True, False, 0)
    assert (second.pages, second.failed) == (expected["pages"], expected["failed"])
    assert bench.files == expected["files"]
    assert bench.sink.of(CrawlStarted)[0].resumed
    twice = [path for path in set(wide.asked) if wide.asked.count(path) > 1]
    assert len(twice) <= bench.limits.at_once, "at most what was under way is fetched again"
    assert not bench.crawl(wide.url("/0")).resumed


def test_the_limit_of_pages_holds_over_all_runs(wide: Website, bench: Bench) -> None:
    switch = Switch()
    bench.sink = StopsAfter(4, switch)  # type: ignore[assignment]
    assert bench.crawl(wide.url("/0"), pages=10, cancel=switch).cancelled
    assert bench.crawl(wide.url("/0"), pages=10).pages == 10
    assert len(bench.files) == 10


def test_another_crawl_or_a_fresh_one_starts_at_its_start(wide: Website, bench: Bench) -> None:
    for more in ({"depth": 1}, {"resume": False}):
        switch = Switch()
        bench.sink = StopsAfter(4, switch)  # type: ignore[assignment]
        assert bench.crawl(wide.url("/0"), cancel=switch, resume=False).cancelled
        report = bench.crawl(wide.url("/0"), **more)
        assert not report.resumed
        assert report.unchanged >= 2


def test_a_cancelled_crawl_that_waits_for_its_turn_ends_at_once(wide: Website, bench: Bench) -> None:
    report = bench.crawl(wide.url("/0"), cancel=Switch(after=0))
    assert report.cancelled
    assert report.waiting == 1
    assert wide.asked == []


@pytest.mark.slow
@pytest.mark.parametrize("after", [1, 5, 20])
def test_a_crawl_that_was_killed_goes_on(wide: Website, bench: Bench, tmp_path: Path, after: int) -> None:
    expected = undisturbed(wide, tmp_path / "whole")
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(bench.folder), wide.url("/0")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdin is not None
    assert child.stdout is not None
    told = []
    for _ in range(after):
        told.append(child.stdout.readline())
        if len(told) < after:
            child.stdin.write("\n")
            child.stdin.flush()
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()
    assert all(told)
    report = bench.crawl(wide.url("/0"))
    assert report.resumed
    assert bench.files == expected["files"]
    # The page that was being told of when it died is known, not yet counted: fetched again, it is as it was.
    assert (report.pages, report.failed) == (expected["pages"], expected["failed"])
    assert max(wide.asked.count(path) for path in wide.asked) <= 2
    assert not list(bench.folder.rglob("*.part"))


def test_the_same_crawl_does_not_run_twice_at_once(wide: Website, bench: Bench) -> None:
    seen: list[CrawlError] = []
    plain = bench.sink

    def tell(event: Event) -> None:
        plain(event)
        if isinstance(event, PageFetched) and not seen:
            try:
                Bench(bench.folder).crawl(wide.url("/0"))
            except CrawlError as error:
                seen.append(error)

    bench.sink = tell  # type: ignore[assignment]
    assert bench.crawl(wide.url("/0")).pages == PAGES
    assert [error.code for error in seen] == ["crawl.running"]
    assert not list((bench.folder / ".crawl").glob("*.lock"))


def test_a_bug_in_reading_a_page_is_not_swallowed(wide: Website, bench: Bench) -> None:
    def broken(url: str, *, timeout_s: float) -> Any:
        raise ZeroDivisionError("a bug")

    fetcher = type("Broken", (), {"fetch": staticmethod(broken)})()
    bench.robots = False
    with pytest.raises(ZeroDivisionError):
        bench.crawl(wide.url("/0"), fetcher=fetcher)


def test_a_cancel_during_a_sync_ends_the_crawl(wide: Website, bench: Bench) -> None:
    def sync() -> None:
        raise Cancelled("stopped during the sync")

    bench.sync = sync
    bench.limits = CrawlLimits(at_once=1, sync_every_s=1.0)
    report = bench.crawl(wide.url("/0"))
    assert report.cancelled
    assert bench.manifest.crawl(plan_of([wide.url("/0")], depth=None, pages=None).name) is not None
