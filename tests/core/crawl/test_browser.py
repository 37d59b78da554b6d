"""Scripts of pages (R055): run in a Chromium that reaches nothing by itself."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core.crawl import BrowserRenderer, Guard, WebFetcher, find_browser
from lilbee_core.crawl._browser import BROWSERS
from lilbee_core.errors import CrawlError, ExtraMissing
from tests.core.crawl.conftest import Bench
from tests.support.websites import Answer, Website, redirect

needs_browser = pytest.mark.skipif(
    importlib.util.find_spec("playwright") is None or not any(map(shutil.which, BROWSERS)),
    reason="needs playwright (extra crawl-js) and a Chromium",
)
SHELL = "<html><head><title>App</title></head><body><div id=app></div><script src=/app.js></script></body></html>"
SCRIPT = """
const tell = text => { const p = document.createElement('p'); p.textContent = text; document.body.append(p); };
fetch('/data.json').then(one => one.json()).then(one => {
  document.getElementById('app').innerHTML = '<h1>' + one.title + '</h1><a href="/more">more</a>';
});
fetch('INSIDE/secret').then(one => one.text()).then(tell).catch(() => tell('refused inside'));
fetch('/leads').then(one => one.text()).then(tell).catch(() => tell('refused redirect'));
fetch('/write', {method: 'POST', body: 'x'}).then(() => tell('written')).catch(() => tell('refused post'));
try { const socket = new WebSocket('ws://HOST/socket'); socket.onerror = socket.onclose = () => tell('no socket'); }
catch (error) { tell('no socket'); }
document.cookie = 'who=you';
"""


@pytest.fixture
def fetcher() -> Iterator[WebFetcher]:
    made = WebFetcher(Guard(["127.0.0.1"]))
    yield made
    made.close()


@pytest.fixture
def renderer(fetcher: WebFetcher) -> Iterator[BrowserRenderer]:
    made = BrowserRenderer(fetcher, sandbox=hasattr(os, "geteuid") and os.geteuid() != 0)
    yield made
    made.close()


def app(site: Website, inside: str) -> None:
    script = SCRIPT.replace("INSIDE", inside).replace("HOST", f"127.0.0.1:{site.port}")
    site.pages |= {
        "/": SHELL,
        "/app.js": Answer(body=script, media_type="text/javascript"),
        "/data.json": Answer(body='{"title": "Made by scripts"}', media_type="application/json"),
        "/leads": redirect(f"{inside}/secret"),
        "/more": "<p>More of it.</p>",
    }


@needs_browser
@pytest.mark.slow
def test_scripts_run_and_reach_only_what_may_be_asked(
    site: Website, bench: Bench, fetcher: WebFetcher, renderer: BrowserRenderer
) -> None:
    # The same machine under a number that is not allowed.
    inside = f"http://127.0.0.3:{site.port}"
    site.pages["/secret"] = Answer(body="SECRET", media_type="text/plain")
    app(site, inside)
    bench.allowed = ("127.0.0.1",)
    report = bench.crawl(site.url(), renderer=renderer, scripts="auto")
    text = bench.files["index.md"]
    assert "# Made by scripts" in text
    assert report.pages == 2, "a link that a script made is followed"
    for said in ("refused inside", "refused redirect", "refused post", "no socket"):
        assert said in text
    assert "SECRET" not in "".join(bench.files.values())
    assert not {"/secret", "/write", "/socket"} & set(site.asked)
    assert site.asked.count("/") == 1, "the page itself is not fetched twice"
    assert all("cookie" not in one.headers for one in site.requests)


@needs_browser
@pytest.mark.slow
def test_a_page_whose_scripts_never_end_is_given_up(
    site: Website, fetcher: WebFetcher, renderer: BrowserRenderer
) -> None:
    site.pages |= {
        "/": "<p>x</p><script>while (true) {}</script>",
        "/good": "<p id=a></p><script>document.getElementById('a').textContent = 'after'</script>",
    }
    with pytest.raises(CrawlError) as caught:
        renderer.render(fetcher.fetch(site.url("/"), timeout_s=5), timeout_s=2)
    assert caught.value.code == "crawl.timeout"
    shown = renderer.render(fetcher.fetch(site.url("/good"), timeout_s=5), timeout_s=20)
    assert b"after" in shown.body
    renderer.close()
    with pytest.raises(CrawlError, match="closed"):
        renderer.render(shown, timeout_s=1)


@needs_browser
def test_a_browser_that_is_none_is_an_error_of_the_page(fetcher: WebFetcher, site: Website, tmp_path: Path) -> None:
    program = tmp_path / "chromium"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    broken = BrowserRenderer(fetcher, browser=str(program), sandbox=False)
    site.pages["/"] = SHELL
    page = fetcher.fetch(site.url("/"), timeout_s=5)
    for _ in range(2):
        with pytest.raises(CrawlError, match="could not be shown in a browser"):
            broken.render(page, timeout_s=5)
    broken.close()


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lilbee_core.crawl._browser.find_spec", lambda name: None)
    with pytest.raises(ExtraMissing) as caught:
        find_browser()
    assert caught.value.hint == "Run: pip install 'lilbee-core[crawl-js]'"
    monkeypatch.setattr("lilbee_core.crawl._browser.find_spec", lambda name: object())
    monkeypatch.setattr("lilbee_core.crawl._browser.shutil.which", lambda name: None)
    with pytest.raises(ExtraMissing, match="there is none") as caught:
        find_browser()
    assert "crawl_browser" in caught.value.hint
    with pytest.raises(ExtraMissing, match="/nowhere/chromium"):
        find_browser("/nowhere/chromium")
