"""Pages of the web in a library: added, crawled, found, updated, forgotten.

R012, R055, R059-R061, R063-R064, R248, R290.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import pytest

from lilbee_core import AsyncLilbee, Lilbee, Settings, load_settings
from lilbee_core.errors import BlockedAddress, CrawlError, ExtraMissing, InvalidArgument, NotFound
from lilbee_core.events import PageFetched, SyncFinished
from lilbee_core.plugins import FetcherSpec, PluginSpec, hookimpl
from lilbee_core.protocols import Fetched
from lilbee_core.settings import GATED
from lilbee_core.testing import HashEmbedder, ManualClock, RecordingSink, Switch
from tests.support.websites import Answer, Website, redirect

PAGES = {
    "/": "<title>Harbor</title><h1>Harbor</h1><p>Boats lie here.</p><a href=/ferry>f</a><a href=/fees>g</a>",
    "/ferry": "<title>Ferry</title><main><p>The ferry leaves at noon.</p></main>",
    "/fees": "<title>Fees</title><table><tr><th>Boat</th><th>Fee</th></tr><tr><td>Skiff</td><td>4</td></tr></table>",
}


@pytest.fixture
def site() -> Iterator[Website]:
    with Website(PAGES) as running:
        yield running


Open = Callable[..., Lilbee]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open the library, whose time stands still and whose loopback sites may be asked."""
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nBees fly.\n", "utf-8")
    libraries: list[Lilbee] = []

    def make(**more: Any) -> Lilbee:
        values = {"crawl_allowed_networks": ["127.0.0.1"], **more.pop("values", {})}
        options = {"embedder": HashEmbedder(), "clock": ManualClock(), "overrides": values, **more}
        libraries.append(Lilbee(root, **options))
        return libraries[-1]

    yield make
    for library in libraries:
        library.close()


def test_a_page_is_added_found_and_shown_with_its_address(site: Website, opened: Open) -> None:
    bee = opened()
    report = bee.add(site.url("/ferry"))
    assert report.added == 1
    assert site.asked == ["/ferry"]
    (hit,) = bee.search("ferry at noon", profile="keyword")
    assert (hit.collection, hit.url, hit.chunk.title) == ("web", site.url("/ferry"), "Ferry")
    assert hit.to_dict()["url"] == site.url("/ferry")
    answer = bee.ask("When does the ferry leave?")
    assert answer.citations[0].url == answer.citations[0].to_dict()["url"] == site.url("/ferry")
    row = next(bee.documents(collection="web"))
    assert row.metadata["url"] == site.url("/ferry")


def test_hits_in_files_have_no_address(site: Website, opened: Open) -> None:
    bee = opened()
    bee.add(site.url("/ferry"))
    bee.sync()
    (hit,) = bee.search("bees fly", profile="keyword")
    assert (hit.path, hit.url) == ("bees.md", None)


def test_files_and_pages_are_added_together_and_nothing_if_one_fails(
    site: Website, opened: Open, tmp_path: Path
) -> None:
    bee = opened()
    with pytest.raises(CrawlError, match="status 404"):
        bee.add(site.url("/ferry"), site.url("/nothing"), tmp_path / "notes")
    assert list(bee.documents()) == []
    report = bee.add(site.url("/ferry"), tmp_path / "notes")
    assert report.added == 2
    assert {row.ref for row in bee.documents()} == {
        "notes/bees.md",
        f"web/127.0.0.1_{site.port}/ferry.md",
    }


def test_a_crawl_is_indexed_and_its_pages_are_a_collection(site: Website, opened: Open) -> None:
    sink = RecordingSink()
    bee = opened(events=sink)
    report = bee.web.crawl(site.url())
    assert (report.pages, report.sync is not None and report.sync.added) == (3, 3)
    assert [one.name for one in bee.collections.list()] == ["notes", "web"]
    assert {page.url for page in bee.web.pages()} == {site.url(path) for path in PAGES}
    assert len(sink.of(PageFetched)) == 3
    (hit,) = bee.search("Skiff", profile="keyword")
    assert "| Skiff | 4 |" in hit.text
    again = bee.web.crawl(site.url())
    assert (again.new, again.unchanged) == (0, 3)
    assert again.sync is not None
    assert again.sync.unchanged == 3


def test_what_changed_is_found_and_what_it_said_before_is_not(site: Website, opened: Open) -> None:
    bee = opened()
    bee.web.crawl(site.url())
    site.pages["/ferry"] = "<title>Ferry</title><main><p>The ferry leaves at midnight.</p></main>"
    report = bee.web.crawl(site.url())
    assert (report.updated, report.sync is not None and report.sync.updated) == (1, 1)
    assert not bee.search("noon", profile="keyword").hits
    assert [hit.url for hit in bee.search("midnight", profile="keyword")] == [site.url("/ferry")]


def test_files_are_read_by_the_readers_of_their_kind(site: Website, opened: Open) -> None:
    site.pages |= {
        "/table.csv": Answer(body="bird,seen\nsmew,4\n", media_type="text/csv"),
        "/notes.txt": Answer(body="Wrasse by the pier.".encode("utf-16"), media_type="text/plain"),
    }
    bee = opened()
    bee.add(site.url("/table.csv"), site.url("/notes.txt"))
    (hit,) = bee.search("wrasse", profile="keyword")
    assert (hit.url, hit.path.rpartition("/")[2]) == (site.url("/notes.txt"), "notes.txt")
    assert {row.media_type for row in bee.documents(collection="web")} == {"text/csv", "text/plain"}


def test_a_list_of_pages_that_is_damaged_costs_the_addresses_alone(site: Website, opened: Open) -> None:
    first = opened()
    first.add(site.url("/ferry"))
    first.close()
    for one in (first.data_dir / "web" / ".crawl").glob("manifest.sqlite*"):
        one.write_bytes(b"not a database" * 999)
    bee = opened()
    result = bee.search("ferry at noon", profile="keyword")
    assert [hit.url for hit in result.hits] == [None]
    assert any("the list of pages" in warning for warning in result.warnings)
    with pytest.raises(CrawlError, match="cannot be used") as caught:
        bee.web.crawl(site.url())
    assert "manifest.sqlite" in caught.value.hint


def test_pages_are_forgotten_removed_and_taken_back(site: Website, opened: Open) -> None:
    bee = opened()
    bee.web.crawl(site.url())
    page = bee.web.get(site.url("/ferry"))
    assert page is not None
    bee.remove(f"web/{page.path}")
    assert not bee.search("noon", profile="keyword").hits
    bee.web.crawl(site.url())
    assert not bee.search("noon", profile="keyword").hits, "what was removed stays so, until it is added"
    bee.add(site.url("/ferry"))
    assert bee.search("noon", profile="keyword").hits
    assert bee.web.forget(site.url("/ferry")) == (page.path,)
    assert not bee.search("noon", profile="keyword").hits
    assert not (bee.data_dir / "web" / page.path).exists()
    assert bee.web.get(site.url("/ferry")) is None
    with pytest.raises(NotFound, match="no page of"):
        bee.web.forget(site.url("/ferry"))
    (last,) = bee.web.forget(*(one.url for one in list(bee.web.pages())[:1]))
    assert last


def test_addresses_inside_are_refused_before_anything_is_made(opened: Open) -> None:
    bee = opened(values={"crawl_allowed_networks": []})
    for url in ("http://127.0.0.1:1/", "http://[::1]/", "http://169.254.169.254/", "http://2130706433/",
                "http://localhost.:1/", "file:///etc/passwd", "ftp://example.org/x"):  # fmt: skip
        with pytest.raises(BlockedAddress):
            bee.web.crawl(url)
        with pytest.raises(BlockedAddress):
            bee.add(url)
    assert [one.name for one in bee.collections.list()] == ["notes"]


# ------------------------------------------------------------------ settings


def test_defaults() -> None:
    options = Settings().crawl
    assert (options.crawl_max_depth, options.crawl_max_pages, options.crawl_timeout) == (None, None, 30.0)
    assert (options.crawl_max_concurrent, options.crawl_sync_interval) == (0, 30.0)
    assert (options.crawl_mean_delay, options.crawl_max_delay_range, options.crawl_concurrent_requests) == (0.5, 0.5, 3)
    assert options.crawl_retry_on_rate_limit
    assert (options.crawl_retry_base_delay_min, options.crawl_retry_base_delay_max) == (1.0, 3.0)
    assert (options.crawl_retry_max_backoff, options.crawl_retry_max_attempts) == (30.0, 3)
    assert options.crawl_allowed_networks == ()


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("crawl_max_depth", "3", 3),
        ("crawl_max_depth", "", None),
        ("crawl_max_pages", "null", None),
        ("crawl_timeout", "7.5", 7.5),
        ("crawl_max_concurrent", "2", 2),
        ("crawl_sync_interval", "0", 0.0),
        ("crawl_mean_delay", "0", 0.0),
        ("crawl_retry_on_rate_limit", "false", False),
        ("crawl_allowed_networks", "10.0.0.0/8,::1", ("10.0.0.0/8", "::1")),
        ("crawl_render", "auto", "auto"),
    ],
)
def test_every_setting_has_a_variable(tmp_path: Path, name: str, text: str, value: object) -> None:
    env = {"LILBEE_CONFIG_DIR": str(tmp_path), f"LILBEE_{name.upper()}": text}
    assert load_settings(env=env).get(name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [("crawl_allowed_networks", ["everything"]), ("crawl_max_depth", -1), ("crawl_retry_base_delay_max", 0.1)],
)
def test_values_that_make_no_sense(name: str, value: object) -> None:
    from lilbee_core.errors import SettingsError

    with pytest.raises(SettingsError, match=name):
        Settings().changed({name: value})


def test_limits_of_the_settings_hold_unless_the_call_says_otherwise(site: Website, opened: Open) -> None:
    for number in range(6):
        site.pages[f"/{number}"] = f"<p>Page {number}.</p><a href=/{number + 1}>next</a>"
    bee = opened(values={"crawl_max_depth": 1, "crawl_max_pages": 4})
    assert bee.web.crawl(site.url("/0")).pages == 2
    assert bee.web.crawl(site.url("/0"), depth=2).pages == 3
    assert bee.web.crawl(site.url("/0"), depth=9).pages == 4
    assert bee.web.crawl(site.url("/0"), depth=9, pages=5).pages == 5
    assert opened().web.crawl(site.url("/0")).pages == 6


def test_who_may_be_asked_is_not_up_to_a_library(tmp_path: Path, opened: Open) -> None:
    """A library from somebody else cannot open the user's own network, or choose a program to start (R059)."""
    own = {
        "crawl_allowed_networks",
        "crawl_robots",
        "crawl_browser",
        "crawl_fetcher",
        "crawl_user_agent",
        "crawl_render",
    }
    assert own <= GATED
    data = tmp_path / "notes" / ".lilbee"
    data.mkdir()
    (data / "config.toml").write_text('library_id = "x"\ncrawl_allowed_networks = ["127.0.0.1"]\n', "utf-8")
    bee = Lilbee(tmp_path / "notes", embedder=HashEmbedder())
    assert bee.settings.crawl.crawl_allowed_networks == ()
    assert any("crawl_allowed_networks" in one for one in bee.settings.warnings)
    with pytest.raises(BlockedAddress):
        bee.add("http://127.0.0.1:1/")
    bee.close()


def test_pages_are_synced_while_the_crawl_goes_on(site: Website, opened: Open) -> None:
    for number in range(8):
        site.pages[f"/{number}"] = f"<p>Page {number}.</p><a href=/{number + 1}>next</a>"
    counts: dict[float, int] = {}
    for every in (2.0, 0.0):
        sink = RecordingSink()
        values = {
            "crawl_sync_interval": every,
            "crawl_mean_delay": 1.0,
            "crawl_max_delay_range": 0.0,
            "crawl_concurrent_requests": 1,
        }
        bee = opened(values=values, events=sink)
        bee.web.crawl(site.url("/0"))
        counts[every] = len(sink.of(SyncFinished))
        if every:
            at = [sink.names.index("SyncFinished"), len(sink.names) - 1 - sink.names[::-1].index("PageFetched")]
            assert at[0] < at[1], "the first sync comes before the last page"
            bee.web.forget(*(page.url for page in bee.web.pages()))
    assert counts[2.0] > 2
    assert counts[0.0] == 1


def test_only_so_many_crawls_run_at_the_same_time(site: Website, opened: Open) -> None:
    now, most = [0], [0]
    lock, reached = threading.Lock(), threading.Event()

    def slowly(request: object) -> str:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
            if now[0] == 2:
                reached.set()
        reached.wait(10)
        with lock:
            now[0] -= 1
        return f"<p>Page {request}.</p>"

    site.pages |= {f"/{number}": slowly for number in range(5)}
    bee = opened(values={"crawl_max_concurrent": 2, "crawl_mean_delay": 0.0, "crawl_max_delay_range": 0.0})
    threads = [
        threading.Thread(target=bee.web.crawl, args=(site.url(f"/{number}"),), kwargs={"depth": 0})
        for number in range(5)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [2]
    assert len(list(bee.web.pages())) == 5


# ------------------------------------------------------------------ jobs, async, cancel


def test_a_crawl_is_a_job_that_can_be_cancelled_and_goes_on(site: Website, opened: Open) -> None:
    bee = opened()
    job = bee.jobs.start("crawl", urls=[site.url()], depth=1)
    events = [event.name for event in job.follow()]
    record = job.wait()
    assert record.result is not None
    assert (record.state.value, record.result["pages"]) == ("done", 3)
    assert {"CrawlStarted", "PageFetched", "Progress", "CrawlFinished", "SyncFinished"} <= set(events)
    added = bee.jobs.start("add", paths=[site.url("/ferry")]).wait()
    assert added.state.value == "done"
    with pytest.raises(InvalidArgument):
        bee.jobs.start("crawl", url="x")


def test_a_cancelled_crawl_says_so_and_goes_on(site: Website, opened: Open) -> None:
    switch = Switch()
    bee = opened(
        values={"crawl_concurrent_requests": 1},
        events=lambda event: switch.cancel() if isinstance(event, PageFetched) else None,
    )
    report = bee.web.crawl(site.url(), cancel=switch)
    assert report.cancelled
    assert report.waiting > 0
    report = bee.web.crawl(site.url())
    assert (report.resumed, report.pages) == (True, 3)
    assert report.sync is not None
    assert len(list(bee.documents(collection="web"))) == 3


def test_the_async_library_crawls_too(site: Website, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))

    async def main() -> list[str]:
        settings = Settings().changed({"crawl_allowed_networks": ["127.0.0.1"], "crawl_mean_delay": 0.0})
        async with AsyncLilbee(tmp_path, settings, embedder=HashEmbedder(), clock=ManualClock()) as bee:
            assert (await bee.web.crawl(site.url(), depth=1)).pages == 3
            assert (await bee.web.get(site.url("/ferry"))) is not None
            await bee.web.forget(site.url("/fees"))
            return [page.path.rpartition("/")[2] async for page in bee.web.pages()]

    assert anyio.run(main) == ["ferry.md", "index.md"]


# ------------------------------------------------------------------ plugins, extras


class Canned:
    def fetch(self, url: str, *, timeout_s: float) -> Fetched:
        return Fetched(url=url, status=200, media_type="text/html", body=b"<p>Canned heron.</p>", headers={})


class CannedPlugin:
    def __init__(self, build: Callable[[Any], Any] = lambda options: Canned()) -> None:
        self.build = build

    @hookimpl
    def lilbee_plugin(self) -> PluginSpec:
        return PluginSpec(name="canned", version="1")

    @hookimpl
    def lilbee_fetchers(self) -> list[FetcherSpec]:
        return [FetcherSpec(name="canned-pages", build=self.build)]


@pytest.mark.parametrize(("wanted", "text"), [("", "Canned"), ("canned-pages", "Canned"), ("http", "noon")])
def test_the_fetcher_of_a_plugin_is_used_unless_the_setting_says_otherwise(
    site: Website, opened: Open, wanted: str, text: str
) -> None:
    bee = opened(plugins=[CannedPlugin()], values={"crawl_fetcher": wanted})
    bee.add(site.url("/ferry"))
    assert text in bee.get_text(f"web/127.0.0.1_{site.port}/ferry.md").text


def test_a_fetcher_that_is_not_there_or_cannot_be_built(site: Website, opened: Open) -> None:
    with pytest.raises(InvalidArgument, match="no plugin offers"):
        opened(values={"crawl_fetcher": "nothing"}).add(site.url("/ferry"))

    def broken(options: Any) -> Any:
        raise RuntimeError("no")

    bee = opened(plugins=[CannedPlugin(broken)])
    bee.add(site.url("/ferry"))
    assert "noon" in bee.get_text(f"web/127.0.0.1_{site.port}/ferry.md").text
    assert any("cannot be built" in failure.message for plugin in bee.plugins for failure in plugin.failures)


def test_without_the_extra_the_error_names_it(site: Website, opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name == "lxml" else found(name, *more))
    with pytest.raises(ExtraMissing, match="lxml") as caught:
        opened().add(site.url("/ferry"))
    assert caught.value.hint == "Run: pip install 'lilbee-core[crawl]'"
    assert site.requests == []


def test_a_redirect_of_an_added_page_is_found_under_both_addresses(site: Website, opened: Open) -> None:
    site.pages["/old"] = redirect("/ferry", 301)
    bee = opened()
    bee.add(site.url("/old"))
    first, second = bee.web.get(site.url("/old")), bee.web.get(site.url("/ferry"))
    assert first is not None
    assert first == second


def test_scripts_are_run_only_in_ways_there_are(site: Website, opened: Open) -> None:
    with pytest.raises(InvalidArgument, match="'sometimes' is no way to render"):
        opened().web.crawl(site.url(), render="sometimes")
    missing = "there is no browser /nowhere/chromium" if find_spec("playwright") else "a package that is not installed"
    with pytest.raises(ExtraMissing, match=missing):
        opened(values={"crawl_browser": "/nowhere/chromium"}).web.crawl(site.url(), render="always")
