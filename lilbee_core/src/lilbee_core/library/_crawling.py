"""Crawls: settings and parts to a crawler, and what it keeps to the index."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from lilbee_core.errors import Cancelled, CrawlError, InvalidArgument, PluginError
from lilbee_core.events import EventSink, SafeSink
from lilbee_core.library._collections import Collections
from lilbee_core.library._parts import Parts
from lilbee_core.library._syncing import SyncRequest, run_add, run_sync
from lilbee_core.protocols import CancelToken, Fetcher, Renderer
from lilbee_core.types import CrawlReport, SyncReport

if TYPE_CHECKING:
    from lilbee_core.crawl import CrawlPlan, Scripts, Visitor, WebFetcher

_PATIENCE_S = 0.25
_SCRIPTS: Final = ("never", "auto", "always")
HTTP = "http"
"""The name of the fetcher that comes with lilbee."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlRequest:
    """What a crawl is asked for. Without `depth` and `pages` the settings say."""

    urls: Sequence[str]
    depth: int | None = None
    pages: int | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    other_sites: bool = False
    render: str | None = None
    resume: bool = True


def run_crawl(parts: Parts, request: CrawlRequest, cancel: CancelToken, events: EventSink | None = None) -> CrawlReport:
    """Fetch pages and index them, from time to time and at the end.

    Raises:
        BlockedAddress: If the start is not of the web, or inside the user's network.
        CrawlError: If it cannot be had.
        ExtraMissing: If what reads pages is not installed.
    """
    plan = _plan(parts, request)

    def sync() -> SyncReport:
        return run_sync(parts, SyncRequest(collections=(Collections(parts).add_web(),)), cancel, events)

    scripts = _scripts(request.render or parts.settings.crawl.crawl_render)
    report = _crawl(parts, plan, cancel, events, scripts=scripts, sync=sync, resume=request.resume)
    if not report.cancelled and next(parts.pages.pages(), None) is not None:
        # A page that was fetched again may have been taken out of the index, or never got into it.
        synced = sync()
        report = replace(report, sync=synced, cancelled=synced.cancelled)
    return report


def run_add_all(
    parts: Parts, paths: Sequence[str | Path], cancel: CancelToken, events: EventSink | None = None
) -> SyncReport:
    """Make files, folders and pages of the web part of the library and index them.

    Raises:
        CrawlError: If a page cannot be had; then nothing was indexed.
    """
    urls = [str(path) for path in paths if is_url(path)]
    if not urls:
        return run_add(parts, paths, cancel, events)
    kept = iter(_fetch_each(parts, urls, cancel, events))
    return run_add(parts, [next(kept) if is_url(path) else path for path in paths], cancel, events)


def is_url(path: str | Path) -> bool:
    """Say whether what shall be added is an address of the web."""
    return isinstance(path, str) and "://" in path


# ------------------------------------------------------------------ single pages


def _fetch_each(parts: Parts, urls: Sequence[str], cancel: CancelToken, events: EventSink | None) -> list[Path]:
    """Fetch each of these pages alone and return the files in which they are kept."""
    from lilbee_core.crawl import page_key

    plan = _plan(parts, CrawlRequest(urls=urls, depth=0))
    scripts = parts.settings.crawl.crawl_render
    report = _crawl(parts, replace(plan, pages=None), cancel, events, scripts=scripts, sync=None, resume=True)
    if report.cancelled:
        raise Cancelled("cancelled on request", hint="Add it again to go on.")
    if report.failed:
        first = report.failed[0]
        raise CrawlError(first.reason, hint="Check the address.", code=first.code)
    Collections(parts).add_web()
    files: list[Path] = []
    for url in urls:
        page = parts.pages.page(page_key(url))
        if page is None:
            raise CrawlError(f"{url} holds no text", hint="Check the address in a browser.")
        files.append(parts.home.web_dir / page.path)
    return files


# ------------------------------------------------------------------ the crawl


def _plan(parts: Parts, request: CrawlRequest) -> CrawlPlan:
    from lilbee_core.crawl import need_extra, plan_of

    need_extra("lxml", "markdownify", "protego", "idna", "httpcore")
    options = parts.settings.crawl
    return plan_of(
        request.urls,
        depth=request.depth if request.depth is not None else options.crawl_max_depth,
        pages=request.pages if request.pages is not None else options.crawl_max_pages,
        include=request.include,
        exclude=request.exclude,
        other_sites=request.other_sites,
    )


def _crawl(
    parts: Parts,
    plan: CrawlPlan,
    cancel: CancelToken,
    events: EventSink | None,
    *,
    scripts: Scripts,
    sync: Callable[[], object] | None,
    resume: bool,
) -> CrawlReport:
    from lilbee_core.crawl import Crawler, CrawlLimits

    options = parts.settings.crawl
    parts.home.prepare()
    with _turn(parts, cancel), ExitStack() as stack:
        crawler = Crawler(
            parts.pages,
            _visitor(parts, scripts, stack),
            clock=parts.clock,
            events=SafeSink(parts.events, events),
            limits=CrawlLimits(at_once=options.crawl_concurrent_requests, sync_every_s=options.crawl_sync_interval),
            sync=sync,
        )
        return crawler.run(plan, cancel, resume=resume)


@contextmanager
def _turn(parts: Parts, cancel: CancelToken) -> Generator[None]:
    """Let only so many crawls of this library run at the same time."""
    count = parts.settings.crawl.crawl_max_concurrent or os.cpu_count() or 1
    turns = parts.once("crawl.turns", lambda: threading.BoundedSemaphore(count))
    while not turns.acquire(timeout=_PATIENCE_S):
        cancel.check()
    try:
        yield
    finally:
        turns.release()


def _scripts(text: str) -> Scripts:
    for one in _SCRIPTS:
        if text == one:
            return one
    raise InvalidArgument(f"{text!r} is no way to render", hint=f"Choose one of {', '.join(_SCRIPTS)}.")


def _renderer(parts: Parts, fetcher: WebFetcher, scripts: Scripts, stack: ExitStack) -> Renderer | None:
    """Return what runs scripts, if any shall be run.

    Raises:
        ExtraMissing: If there is no browser, or nothing to drive it.
    """
    if scripts == "never":
        return None
    from lilbee_core.crawl import BrowserRenderer

    # As root a Chromium does not start inside its sandbox.
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    renderer = BrowserRenderer(fetcher, browser=parts.settings.crawl.crawl_browser, sandbox=not is_root)
    stack.callback(renderer.close)
    return renderer


def _visitor(parts: Parts, scripts: Scripts, stack: ExitStack) -> Visitor:
    """Return what fetches and reads single pages."""
    from lilbee_core.crawl import USER_AGENT, Guard, Keeper, Manners, Pace, Visitor, WebFetcher

    options = parts.settings.crawl
    guard = Guard(options.crawl_allowed_networks)
    web = WebFetcher(
        guard, max_bytes=options.crawl_max_page_mb * 1_000_000, user_agent=options.crawl_user_agent or USER_AGENT
    )
    stack.callback(web.close)
    given = _plugin_fetcher(parts)
    manners = Manners(
        mean_delay_s=options.crawl_mean_delay,
        delay_range_s=options.crawl_max_delay_range,
        retry=options.crawl_retry_on_rate_limit,
        retry_base_min_s=options.crawl_retry_base_delay_min,
        retry_base_max_s=options.crawl_retry_base_delay_max,
        retry_max_s=options.crawl_retry_max_backoff,
        attempts=options.crawl_retry_max_attempts,
    )
    manifest = parts.pages
    return Visitor(
        given or web,
        manifest,
        # Shared by all crawls of the library, which may ask the same site.
        parts.once("crawl.pace", lambda: Pace(manners, parts.clock)),
        Keeper(manifest, lambda: ""),
        robots_fetcher=web if options.crawl_robots else None,
        guard=guard if given is not None else None,
        scripts=scripts,
        renderer=_renderer(parts, web, scripts, stack),
        timeout_s=options.crawl_timeout,
    )


def _plugin_fetcher(parts: Parts) -> Fetcher | None:
    """Return the fetcher of a plugin: the one that is named, or the first that can be built; None for our own.

    Raises:
        InvalidArgument: If there is none of that name.
        PluginError: If that one cannot be built.
    """
    wanted = parts.settings.crawl.crawl_fetcher
    if wanted == HTTP:
        return None
    host = parts.host
    offers = [offer for offer in host.fetchers() if wanted in {"", offer.spec.name}]
    if wanted and not offers:
        known = ", ".join([HTTP, *(offer.spec.name for offer in host.fetchers())])
        raise InvalidArgument(
            f"crawl_fetcher names {wanted!r}, which no plugin offers (there is: {known})", hint="Choose one of these."
        )
    for offer in offers:
        build = offer.spec.build
        fetcher = host.attempt(offer, partial(build, offer.options))
        if fetcher is not None:
            return fetcher
    if wanted:
        raise PluginError(f"the fetcher {wanted!r} cannot be built", hint="Run `lilbee plugins` to see why.")
    return None
