"""The wiki: read, checked, and built when the cost is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import State

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.text import place_name
from lilbee_core.types import Citation, WikiPage, WikiPlan
from lilbee_server.library import library_of
from lilbee_server.web.forms import FORM, Filled, Form, Problem
from lilbee_server.web.places import read_url
from lilbee_server.web.rendering import Links, Place, to_html
from lilbee_server.web.shown import jobs
from lilbee_server.web.shown.wiki import PATH, by_kind, draft_url, finder, page_url, problems_by_kind
from lilbee_server.web.views import in_place, redirect, render

_DONE = {
    "accepted": "The draft is published.",
    "rejected": "The draft is gone; the same text is not drafted again.",
    "pruned": "Pages without sources are retired.",
}


@get(PATH, sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """List the pages, and the drafts that wait."""
    query, wiki = request.query_params, library_of(state).wiki
    words, pages = query.get("q") or "", wiki.pages()
    return render(
        request,
        "wiki.html",
        "pages",
        kinds=by_kind(pages, words),
        count=len(pages),
        drafts=wiki.drafts.list(),
        words=words,
        page_url=page_url,
        draft_url=draft_url,
        done=_DONE.get(query.get("done") or "", ""),
    )


@get(f"{PATH}/page", sync_to_thread=True)
def page(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Show a page with its links, those that lead to it, and the passages that it cites."""
    wiki = library_of(state).wiki
    found, pages = wiki.require(request.query_params.get("slug") or ""), wiki.pages()
    titles = {one.slug: one.title for one in pages}
    back = wiki.backlinks().get(found.slug, ())
    return render(
        request,
        "wiki_page.html",
        page=found,
        body=body_html(found, pages),
        backlinks=[(titles.get(slug, slug), page_url(slug)) for slug in back],
        has_draft=any(one.slug == found.slug for one in wiki.drafts.list()),
        draft_url=draft_url(found.slug),
    )


@get(f"{PATH}/build", sync_to_thread=True)
def plan(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Say what a build would do and what it would cost, before anything is written.

    That takes a while where there are many documents: it is worked out when the page is there.
    """
    query = request.query_params
    form = Form({name: query.getall(name, []) for name in ("plan", "topics", "retry", "most_calls")})
    return _plan_page(request, library_of(state), form)


@post(f"{PATH}/build", sync_to_thread=True, dependencies=FORM)
def build(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Start to write the pages whose sources changed, and show how far it is."""
    bee = library_of(state)
    try:
        job = bee.jobs.start("wiki", **_options(form))
    except LilbeeError as error:
        return _plan_page(request, bee, form, Problem(error, "most_calls"))
    return redirect(request, f"{jobs.PATH}/{job.id}")


@get(f"{PATH}/lint", sync_to_thread=True)
def lint(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Say what is wrong with pages."""
    found = library_of(state).wiki.lint()
    return render(
        request,
        "wiki_lint.html",
        problems=problems_by_kind(found),
        count=len(found),
        page_url=page_url,
        draft_url=draft_url,
    )


@post(f"{PATH}/prune", sync_to_thread=True)
def prune(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Retire pages of whose sources none is left."""
    library_of(state).wiki.prune()
    return redirect(request, f"{PATH}?done=pruned")


# ---------------------------------------------------------------------- inside


def body_html(page: WikiPage, pages: Sequence[WikiPage]) -> str:
    """Return the text of a page; its marks lead to the passages that it cites, its links to other pages."""
    return to_html(page.body, Links(cited=_cited(page.citations), page=finder(pages)), below=1)


def _cited(citations: Sequence[Citation]) -> Mapping[int, Place]:
    return {one.marker: Place(read_url(one), f"{place_name(one)}: {one.quote[:200]}") for one in citations}


def _options(form: Form) -> dict[str, Any]:
    return {"topics": form.ticked("topics"), "retry": form.ticked("retry"), "most_calls": form.number("most_calls")}


def _plan_page(
    request: Request[Any, Any, Any], bee: Lilbee, form: Form, problem: Problem | None = None
) -> Response[str]:
    found: WikiPlan | None = None
    if problem is None and form.ticked("plan"):
        try:
            found = bee.wiki.plan(**_options(form))
        except LilbeeError as error:
            problem = Problem(error)
    return render(
        request,
        "wiki_build.html",
        "plan",
        status=in_place(request, problem.error if problem else None),
        plan=found,
        form=form,
        problem=problem,
    )


ROUTES = (show, page, plan, build, lint, prune)
