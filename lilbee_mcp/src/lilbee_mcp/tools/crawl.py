"""Pages of the web, for agents that were allowed to fetch them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lilbee_core.errors import NotFound
from lilbee_mcp.offers import Arguments, Call, offer
from lilbee_mcp.tools.documents import Wait
from lilbee_mcp.work import followed, started

MOST_PAGES = 200


class Crawl(Arguments):
    """What `crawl` takes."""

    url: Annotated[str, Field(max_length=10_000)]
    depth: Annotated[int, Field(ge=0)] = 0
    pages: Annotated[int, Field(ge=1)] = 20
    wait_s: Wait = 0


class CrawlStatus(Arguments):
    """What `crawl_status` takes."""

    job: str
    wait_s: Wait = 0


@offer(Crawl, "Crawl", outside=True, repeats=True)
async def crawl(call: Call, asked: Crawl) -> dict[str, Any]:
    """Fetch a page of the web, and with `depth` those that it links to on its site, and index them.

    Returns a job at once; ask `crawl_status` with its id. Addresses inside the user's network are refused.
    """
    pages = min(asked.pages, MOST_PAGES)
    return await started(call, "crawl", wait_s=asked.wait_s, urls=[asked.url], depth=asked.depth, pages=pages)


@offer(CrawlStatus, "Crawl status", reads=True)
async def crawl_status(call: Call, asked: CrawlStatus) -> dict[str, Any]:
    """Say how far a crawl is, and what came of it once it is over; waits for that at most `wait_s`."""
    job = await call.run(call.library.jobs.require, asked.job)
    if job.kind != "crawl":
        raise NotFound(f"{asked.job!r} is no crawl", hint="Ask job_status for other jobs.")
    return await followed(call, job, wait_s=asked.wait_s)


OFFERS = (crawl, crawl_status)
