"""One visit of one page: robots, pace, redirects, tries again, scripts, and reading what came. Threads may share it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from lilbee_core.crawl._addresses import Guard
from lilbee_core.crawl._keeping import Keeper
from lilbee_core.crawl._kinds import HTML, real_media_type
from lilbee_core.crawl._manifest import Kept, Manifest
from lilbee_core.crawl._pace import Pace
from lilbee_core.crawl._page import Page, read_html
from lilbee_core.crawl._robots import Robots, redirect_of
from lilbee_core.crawl._urls import normalized, page_key, parse, shown, site
from lilbee_core.errors import BlockedAddress, CrawlError
from lilbee_core.protocols import Fetched, Fetcher, Renderer, Revalidating

Scripts: TypeAlias = Literal["never", "auto", "always"]
"""When the scripts of pages are run: never, on pages that show next to nothing without them, or always."""

_MAX_HOPS = 10
_TOO_MANY = frozenset({429, 503})


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A page that was had. `kept` is set if the server says that it is still what is kept."""

    answer: Fetched
    media_type: str
    page: Page | None = None
    kept: Kept | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A page that is left out on purpose, and why; its links still count."""

    code: str
    reason: str
    links: tuple[str, ...] = ()


class Visitor:
    """Visits pages.

    Args:
        fetcher: Fetches pages; a plugin's, perhaps.
        manifest: What is kept already.
        pace: How fast each site is asked.
        keeper: Knows whether a kept page still has its file.
        robots_fetcher: Fetches ``robots.txt``; None is not to ask.
        guard: Looks at each address before a fetcher of a plugin does; None where the fetcher checks itself.
        renderer: Runs scripts.
        scripts: When it does.
        timeout_s: The longest time for one page.
    """

    def __init__(
        self,
        fetcher: Fetcher,
        manifest: Manifest,
        pace: Pace,
        keeper: Keeper,
        *,
        robots_fetcher: Fetcher | None = None,
        guard: Guard | None = None,
        renderer: Renderer | None = None,
        scripts: Scripts = "never",
        timeout_s: float = 30.0,
    ) -> None:
        self._fetcher = fetcher
        self._manifest = manifest
        self._pace = pace
        self._keeper = keeper
        self._guard = guard
        self._renderer = renderer
        self._scripts = scripts
        self._timeout_s = timeout_s
        self._robots = Robots(self._robots_getter(robots_fetcher)) if robots_fetcher is not None else None
        self._robots_lock = threading.Lock()

    def visit(self, url: str, depth: int, sites: Collection[str], check: Callable[[], None]) -> Seen | Left:
        """Return the page at an address, after its redirects, or why it is left out. `check` may raise meanwhile.

        Raises:
            BlockedAddress: If it, or where it leads, is not of the web or inside the user's network.
            CrawlError: If it cannot be had.
        """
        passed: set[str] = set()
        while True:
            if not self._allowed(url):
                reason = f"{parse(url).origin}/robots.txt does not allow robots to read it"
                if depth == 0:
                    raise CrawlError(f"{shown(url)}: {reason}", hint="Save the page yourself.", code="crawl.robots")
                return Left(code="crawl.robots", reason=reason)
            passed.add(url)
            answer, kept = self._answer(url, check)
            target = redirect_of(answer)
            if target is None:
                break
            if target in passed or len(passed) > _MAX_HOPS:
                raise CrawlError(f"{shown(url)} leads on and on", hint="Check the address.", code="crawl.http")
            if depth and sites and site(target) not in sites:
                return Left(code="crawl.other_site", reason=f"leads to {shown(target)}, another site")
            url = target
        return self._seen(answer, kept, depth)

    # ------------------------------------------------------------------ fetching

    def _answer(self, url: str, check: Callable[[], None]) -> tuple[Fetched, Kept | None]:
        """Fetch a page; after "too many requests" again, later."""
        host = parse(url).netloc
        kept = self._to_revalidate(url)
        delay_s = self._robots_delay(url)
        attempt = 0
        while True:
            self._pace.wait(host, check, at_least_s=delay_s)
            answer = self._fetch(url, kept)
            if answer.status not in _TOO_MANY:
                return answer, kept
            pause_s = self._pace.pause_s(attempt, _lowered(answer.headers))
            if pause_s is None:
                return answer, kept
            self._pace.hold(host, pause_s)
            attempt += 1

    def _fetch(self, url: str, kept: Kept | None) -> Fetched:
        self._look_at(url)
        if kept is not None and isinstance(self._fetcher, Revalidating):
            answer = self._fetcher.revalidate(
                url, timeout_s=self._timeout_s, etag=kept.etag, last_modified=kept.last_modified
            )
        else:
            answer = self._fetcher.fetch(url, timeout_s=self._timeout_s)
        final = normalized(answer.url)
        if final != url:
            self._look_at(final)
        return replace(answer, url=final, headers=_lowered(answer.headers))

    def _look_at(self, url: str) -> None:
        """Make sure that a fetcher of a plugin is not sent inside; how it reaches hosts that we do not find is its own.

        Raises:
            BlockedAddress: If the address lies inside.
        """
        if self._guard is None:
            return
        address = parse(url)
        try:
            self._guard.addresses(address.host, address.port)
        except BlockedAddress:
            raise
        except CrawlError:
            return

    def _to_revalidate(self, url: str) -> Kept | None:
        """Return what is kept of a page if the server can be asked whether it changed."""
        if self._scripts == "always":
            return None
        key = page_key(url)
        kept = self._manifest.page(key)
        if kept is None or kept.key != key or not (kept.etag or kept.last_modified):
            return None
        return kept if self._keeper.has_file(kept) else None

    # ------------------------------------------------------------------ robots

    def _allowed(self, url: str) -> bool:
        if self._robots is None:
            return True
        with self._robots_lock:
            return self._robots.allows(url)

    def _robots_delay(self, url: str) -> float:
        if self._robots is None:
            return 0.0
        with self._robots_lock:
            return self._robots.delay_s(url)

    def _robots_getter(self, fetcher: Fetcher) -> Callable[[str], Fetched]:
        def get(url: str) -> Fetched:
            self._look_at(url)
            return fetcher.fetch(url, timeout_s=self._timeout_s)

        return get

    # ------------------------------------------------------------------ reading

    def _seen(self, answer: Fetched, kept: Kept | None, depth: int) -> Seen | Left:
        if answer.status == 304 and kept is not None:
            return Seen(answer=answer, media_type=kept.media_type, kept=kept)
        if not 200 <= answer.status < 300:
            raise _refusal(answer)
        if not answer.body:
            return self._empty(answer, (), depth)
        media_type = real_media_type(answer.headers.get("content-type") or answer.media_type, answer.body, answer.url)
        if media_type not in HTML:
            return Seen(answer=answer, media_type=media_type)
        answer, page = self._read(answer)
        if page.facts.noindex and depth:
            return Left(code="crawl.noindex", reason="the page asks not to be indexed", links=page.links)
        if not page.text.strip():
            return self._empty(answer, page.links, depth, scripts=page.looks_empty)
        return Seen(answer=answer, media_type=media_type, page=page)

    def _read(self, answer: Fetched) -> tuple[Fetched, Page]:
        page = _page_of(answer)
        if self._renderer is None or self._scripts == "never" or (self._scripts == "auto" and not page.looks_empty):
            return answer, page
        rendered = replace(self._renderer.render(answer, timeout_s=self._timeout_s), url=answer.url)
        return rendered, replace(_page_of(rendered), looks_empty=False)

    @staticmethod
    def _empty(answer: Fetched, links: tuple[str, ...], depth: int, *, scripts: bool = False) -> Left:
        reason = "shows nothing without its scripts: run them with crawl_render" if scripts else "holds no text"
        if depth == 0 and not links:
            raise CrawlError(f"{shown(answer.url)} {reason}", hint="Check the address in a browser.")
        return Left(code="crawl.empty", reason=reason, links=links)


def _page_of(answer: Fetched) -> Page:
    return read_html(answer.body, answer.headers.get("content-type", ""), answer.url, answer.headers)


def _lowered(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


_SAID = {
    401: "asks for a password",
    403: "is forbidden",
    404: "is not there",
    410: "is gone",
    429: "was asked for too often",
    503: "is not available now",
}


def _refusal(answer: Fetched) -> CrawlError:
    said = _SAID.get(answer.status, "cannot be had")
    code = "crawl.rate_limited" if answer.status in _TOO_MANY else "crawl.http"
    hint = "Try again later." if code == "crawl.rate_limited" or answer.status >= 500 else "Check the address."
    return CrawlError(f"{shown(answer.url)} {said} (status {answer.status})", hint=hint, code=code)
