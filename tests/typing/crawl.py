"""The fetcher and the browser of crawls fit the protocols. Read by mypy and pyright, never run."""

from __future__ import annotations

from lilbee_core.crawl import BrowserRenderer, WebFetcher
from lilbee_core.protocols import Fetcher, Renderer, Revalidating


def conform(web: WebFetcher, browser: BrowserRenderer) -> None:
    fetcher: Fetcher = web
    asks: Revalidating = web
    renderer: Renderer = browser
    del fetcher, asks, renderer
