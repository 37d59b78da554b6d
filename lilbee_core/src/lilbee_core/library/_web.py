"""The pages of the web that a library keeps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from lilbee_core.arguments import checked
from lilbee_core.errors import NotFound
from lilbee_core.library._interrupts import interruptible
from lilbee_core.library._parts import Parts
from lilbee_core.protocols import CancelToken
from lilbee_core.types import CrawlReport, WebPage

if TYPE_CHECKING:
    from lilbee_core.crawl import Kept


@checked
class Web:
    """Crawls sites, lists the pages that are kept, and forgets them. The pages are a collection like any other."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def crawl(
        self,
        *urls: str,
        depth: int | None = None,
        pages: int | None = None,
        include: Sequence[str] = (),
        exclude: Sequence[str] = (),
        other_sites: bool = False,
        render: str | None = None,
        resume: bool = True,
        cancel: CancelToken | None = None,
    ) -> CrawlReport:
        """Fetch pages and those that they link to, and index them while the crawl goes on.

        A crawl that was stopped goes on where it was when it is asked for again; one that ended asks for what has
        changed since. Only links within the sites of `urls` are followed.

        Args:
            urls: Where to start.
            depth: Links to follow from the start, 0 for these pages alone; the setting `crawl_max_depth` else.
            pages: Pages to keep at most; the setting `crawl_max_pages` else.
            include: Only addresses that fit one of these (``/docs/*``); the start is always fetched.
            exclude: No addresses that fit one of these.
            other_sites: Also follow links that leave the site; needs `depth` or `pages`.
            render: When scripts are run: ``never``, ``auto`` (where a page shows next to nothing without) or
                ``always``; the setting `crawl_render` else. Needs the extra ``crawl-js`` and a Chromium.
            resume: Go on with the same crawl if it was stopped; False starts anew.
            cancel: Ends the crawl between two pages; the report then says ``cancelled``.

        Raises:
            BlockedAddress: If the start is not of the web, or inside the user's network.
            CrawlError: If it cannot be had.
            ExtraMissing: If the extra ``crawl`` is not installed.
        """
        from lilbee_core.library._crawling import CrawlRequest, run_crawl

        request = CrawlRequest(
            urls=urls,
            depth=depth,
            pages=pages,
            include=include,
            exclude=exclude,
            other_sites=other_sites,
            render=render,
            resume=resume,
        )
        with interruptible(cancel) as token:
            return run_crawl(self._parts, request, token)

    def pages(self) -> Iterator[WebPage]:
        """Yield the pages that are kept, in the order of their paths."""
        collection = self._parts.home.web_collection(self._parts.settings) or ""
        for page in self._parts.pages.pages():
            yield _shown(page, collection)

    def get(self, url: str) -> WebPage | None:
        """Return the page of an address, also of one that leads to it; None if it is not kept."""
        page = self._kept(url)
        return None if page is None else _shown(page, self._parts.home.web_collection(self._parts.settings) or "")

    def forget(self, *urls: str) -> tuple[str, ...]:
        """Delete pages, from the disk and from the index; return their paths.

        Raises:
            NotFound: If one is not kept; then nothing was deleted.
        """
        from lilbee_core.crawl import Keeper, shown
        from lilbee_core.library._syncing import SyncRequest, run_sync

        found = [(url, self._kept(url)) for url in urls]
        for url, page in found:
            if page is None:
                raise NotFound(f"there is no page of {shown(url)}", hint="Run `lilbee crawl --list` to see all pages.")
        kept = [page for _, page in found if page is not None]
        keeper = Keeper(self._parts.pages, lambda: "")
        for page in kept:
            keeper.forget(page)
        collection = self._parts.home.web_collection(self._parts.settings)
        if collection is not None and kept:
            with interruptible(None) as token:
                run_sync(self._parts, SyncRequest(collections=(collection,), prune=True), token)
        return tuple(page.path for page in kept)

    def _kept(self, url: str) -> Kept | None:
        from lilbee_core.crawl import page_key

        return self._parts.pages.page(page_key(url))


def _shown(page: Kept, collection: str) -> WebPage:
    return WebPage(
        url=page.url,
        path=page.path,
        collection=collection,
        title=page.title,
        media_type=page.media_type,
        bytes=page.bytes,
        fetched_at=page.fetched_at,
        saved_at=page.saved_at,
    )
