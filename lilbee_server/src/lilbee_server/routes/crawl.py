"""Pages of the web: fetched as a job, listed, forgotten."""

from __future__ import annotations

from typing import Any

from litestar import get, post
from litestar.datastructures import State
from litestar.params import JSONBody

from lilbee_core.errors import InvalidArgument
from lilbee_core.types import WebPage
from lilbee_server.bodies import Body
from lilbee_server.describe import JOB
from lilbee_server.library import library_of


class Crawl(Body):
    """What to fetch; the settings say what is left out here."""

    urls: list[str]
    depth: int | None = None
    pages: int | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    other_sites: bool = False
    render: str | None = None
    resume: bool = True


class Forget(Body):
    """Pages to delete."""

    urls: list[str]


@post("/api/crawl", status_code=202, sync_to_thread=True, opt={"gives": JOB})
def crawl(state: State, data: JSONBody[Crawl]) -> dict[str, Any]:
    """Start to fetch pages and those that they link to, and return the job at once.

    `GET /api/jobs/ID/events` streams its progress, `DELETE /api/jobs/ID` ends it. The same request goes on with a
    crawl that was stopped.
    """
    if not data.urls:
        raise InvalidArgument("urls names no address", hint="Name at least one page to start from.")
    library = library_of(state)
    job = library.jobs.start(
        "crawl",
        urls=data.urls,
        depth=data.depth,
        pages=data.pages,
        include=list(data.include),
        exclude=list(data.exclude),
        other_sites=data.other_sites,
        render=data.render,
        resume=data.resume,
    )
    return job.to_dict()


@get("/api/crawl/pages", sync_to_thread=True, opt={"gives": {"pages": [WebPage]}})
def pages(state: State) -> dict[str, Any]:
    """Return the pages that are kept."""
    return {"pages": [page.to_dict() for page in library_of(state).web.pages()]}


@post("/api/crawl/forget", status_code=200, sync_to_thread=True, opt={"gives": {"removed": [str]}})
def forget(state: State, data: JSONBody[Forget]) -> dict[str, Any]:
    """Delete pages, from the disk and from the index."""
    return {"removed": list(library_of(state).web.forget(*data.urls))}
