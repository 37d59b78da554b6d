"""The wiki: read, built as a job, checked, and its drafts reviewed as a diff."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Router, get, post, put
from litestar.datastructures import State
from litestar.params import JSONBody, PathParameter, QueryParameter

from lilbee_core.types import Citation, WikiDiff, WikiPage, WikiPlan, WikiProblem, WikiReport
from lilbee_server.bodies import Body
from lilbee_server.describe import JOB
from lilbee_server.library import library_of

Slug = Annotated[str, PathParameter(description="The page's name.")]
Name = Annotated[str, QueryParameter(description="The page's name.")]
Topics = Annotated[bool, QueryParameter(description="Overviews of topics, instead of pages about documents.")]
Retry = Annotated[bool, QueryParameter(description="Ask again where a reply could not be read.")]
Most = Annotated[int | None, QueryParameter(ge=0, le=1_000_000, description="Most calls of the chat model.")]
Line = Annotated[int | None, QueryParameter(ge=1, le=1_000_000_000, description="Only what these lines cite.")]


class Edited(Body):
    """Another text of a draft."""

    body: str


@get("/pages", sync_to_thread=True, opt={"gives": {"pages": [WikiPage]}})
def pages(state: State) -> dict[str, Any]:
    """Return the pages of the wiki."""
    return {"pages": [one.to_dict() for one in library_of(state).wiki.pages()]}


@get("/pages/{slug:path}", sync_to_thread=True, opt={"gives": WikiPage})
def page(state: State, slug: Slug) -> dict[str, Any]:
    """Return a page of the wiki, with what it cites."""
    return library_of(state).wiki.require(slug.removeprefix("/")).to_dict()


@get("/citations", sync_to_thread=True, opt={"gives": {"slug": str, "citations": [Citation]}})
def citations(state: State, slug: Name, line_start: Line = None, line_end: Line = None) -> dict[str, Any]:
    """Return the passages of documents that a page, or lines of it, cite."""
    found = library_of(state).wiki.citations(slug, line_start=line_start, line_end=line_end)
    return {"slug": slug, "citations": [one.to_dict() for one in found]}


@get("/links", sync_to_thread=True, opt={"gives": {"links": dict[str, Any], "backlinks": dict[str, Any]}})
def links(state: State) -> dict[str, Any]:
    """Return which page links to which, both ways."""
    wiki = library_of(state).wiki
    return {
        "links": {slug: list(others) for slug, others in wiki.links().items()},
        "backlinks": {slug: list(others) for slug, others in wiki.backlinks().items()},
    }


@get("/lint", sync_to_thread=True, opt={"gives": {"problems": [WikiProblem]}})
def lint(state: State) -> dict[str, Any]:
    """Return what is wrong with pages."""
    return {"problems": [one.to_dict() for one in library_of(state).wiki.lint()]}


@get("/plan", sync_to_thread=True, opt={"gives": WikiPlan})
def plan(state: State, topics: Topics = False, retry: Retry = False, most_calls: Most = None) -> dict[str, Any]:
    """Say what a build would do, with its calls of the chat model and their tokens; nothing is written."""
    return library_of(state).wiki.plan(topics=topics, retry=retry, most_calls=most_calls).to_dict()


@post("/build", status_code=202, sync_to_thread=True, opt={"gives": JOB})
def build(state: State, topics: Topics = False, retry: Retry = False, most_calls: Most = None) -> dict[str, Any]:
    """Start to write the pages whose sources changed, and return the job at once.

    `GET /api/jobs/ID/events` streams its progress, `DELETE /api/jobs/ID` ends it before its next call; the next build
    goes on behind it.
    """
    job = library_of(state).jobs.start("wiki", topics=topics, retry=retry, most_calls=most_calls)
    return job.to_dict()


@post("/prune", status_code=200, sync_to_thread=True, opt={"gives": WikiReport})
def prune(state: State) -> dict[str, Any]:
    """Retire pages of whose sources none is left."""
    return library_of(state).wiki.prune().to_dict()


@get("/drafts", sync_to_thread=True, opt={"gives": {"drafts": [WikiPage]}})
def drafts(state: State) -> dict[str, Any]:
    """Return what waits for a person."""
    return {"drafts": [one.to_dict() for one in library_of(state).wiki.drafts.list()]}


@get("/drafts/{slug:str}", sync_to_thread=True, opt={"gives": WikiDiff})
def diff(state: State, slug: Slug) -> dict[str, Any]:
    """Return a draft beside the page that it would replace."""
    return library_of(state).wiki.drafts.diff(slug).to_dict()


@put("/drafts/{slug:str}", sync_to_thread=True, opt={"gives": WikiPage})
def edit(state: State, slug: Slug, data: JSONBody[Edited]) -> dict[str, Any]:
    """Give a draft another text."""
    return library_of(state).wiki.drafts.edit(slug, data.body).to_dict()


@post("/drafts/{slug:str}/accept", status_code=200, sync_to_thread=True, opt={"gives": WikiPage})
def accept(state: State, slug: Slug) -> dict[str, Any]:
    """Publish a draft in place of the page of its name."""
    return library_of(state).wiki.drafts.accept(slug).to_dict()


@post("/drafts/{slug:str}/reject", status_code=200, sync_to_thread=True, opt={"gives": {"slug": str, "rejected": bool}})
def reject(state: State, slug: Slug) -> dict[str, Any]:
    """Delete a draft; the same text is not drafted again."""
    library_of(state).wiki.drafts.reject(slug)
    return {"slug": slug, "rejected": True}


router = Router(
    "/api/wiki",
    route_handlers=[
        pages,
        page,
        citations,
        links,
        lint,
        plan,
        build,
        prune,
        drafts,
        diff,
        edit,
        accept,
        reject,
    ],
)
