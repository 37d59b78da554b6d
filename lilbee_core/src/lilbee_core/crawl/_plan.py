"""What a crawl is asked for, and which links it follows."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lilbee_core.crawl._kinds import may_be_page
from lilbee_core.crawl._urls import is_trap, matches, normalized, page_key, site
from lilbee_core.errors import InvalidArgument


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a link is not followed."""

    code: str
    reason: str


_OTHER_SITE = Refusal(code="crawl.other_site", reason="leads to another site")
_ENDLESS = Refusal(code="crawl.endless", reason="looks like one of endlessly many addresses")
_UNREAD = Refusal(code="crawl.unsupported", reason="ends like a file that holds no text")
_EXCLUDED = Refusal(code="crawl.excluded", reason="is left out by include or exclude")


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlPlan:
    """What a crawl is asked for. `depth` counts links from the start, `pages` what is kept; None has no end."""

    urls: tuple[str, ...]
    depth: int | None = None
    pages: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    other_sites: bool = False

    @property
    def name(self) -> str:
        """Names the crawl, so that the same one is taken up again."""
        told = (self.urls, self.depth, self.pages, self.include, self.exclude, self.other_sites)
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The reasons for which links are not followed."""
        return _OTHER_SITE, _ENDLESS, _UNREAD, _EXCLUDED, self._too_deep

    @property
    def at_limit(self) -> Refusal:
        """The reason for which pages are not fetched that the crawl still knew of at its end."""
        return Refusal(code="crawl.pages", reason=f"the crawl ended at its limit of {self.pages} pages")

    @property
    def _too_deep(self) -> Refusal:
        return Refusal(code="crawl.depth", reason=f"lies more than {self.depth} links from the start")

    def refusal(self, link: str, depth: int, sites: Collection[str]) -> Refusal | None:
        """Return why a link is not followed, None if it is."""
        if not self.other_sites and site(link) not in sites:
            return _OTHER_SITE
        if is_trap(link):
            return _ENDLESS
        if not may_be_page(link):
            return _UNREAD
        if matches(link, self.exclude) or (self.include and not matches(link, self.include)):
            return _EXCLUDED
        return self._too_deep if self.depth is not None and depth > self.depth else None


def plan_of(
    urls: Sequence[str],
    *,
    depth: int | None,
    pages: int | None,
    include: Sequence[str] = (),
    exclude: Sequence[str] = (),
    other_sites: bool = False,
) -> CrawlPlan:
    """Return a plan for these addresses, in their one form and once each.

    Raises:
        BlockedAddress: If one is not of the web.
        InvalidArgument: If one is no address, or a limit is none.
    """
    if not urls:
        raise InvalidArgument("nothing to crawl", hint="Name an address.")
    if depth is not None and depth < 0:
        raise InvalidArgument(f"depth must be at least 0, got {depth}", hint="0 is the page alone.")
    if pages is not None and pages < 1:
        raise InvalidArgument(f"pages must be at least 1, got {pages}", hint="Ask for at least one page.")
    if other_sites and depth is None and pages is None:
        raise InvalidArgument("a crawl of other sites has no end", hint="Give a depth or a number of pages.")
    once = {page_key(url): normalized(url) for url in reversed(urls)}
    return CrawlPlan(
        urls=tuple(reversed(once.values())),
        depth=depth,
        pages=pages,
        include=tuple(include),
        exclude=tuple(exclude),
        other_sites=other_sites,
    )
