"""Where the pages of the web among the hits came from."""

from __future__ import annotations

from dataclasses import replace

from lilbee_core.errors import CrawlError
from lilbee_core.library._parts import Parts
from lilbee_core.types import Hit, SearchResult


def with_urls(parts: Parts, result: SearchResult) -> SearchResult:
    """Return the result, each hit in a page of the web with the page's address."""
    web = parts.once("web.collection", lambda: parts.home.web_collection(parts.settings))
    if web is None or all(hit.collection != web for hit in result.hits):
        return result
    try:
        return replace(result, hits=tuple(_with_url(parts, hit, web) for hit in result.hits))
    except CrawlError as error:
        # What was found is worth more than where it came from.
        return replace(result, warnings=(*result.warnings, error.message))


def _with_url(parts: Parts, hit: Hit, web: str) -> Hit:
    page = parts.pages.at(hit.path) if hit.collection == web else None
    return hit if page is None else replace(hit, url=page.url)
