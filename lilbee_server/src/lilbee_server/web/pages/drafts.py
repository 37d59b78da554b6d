"""Drafts of the wiki: each beside the page that it would replace, published, changed or thrown away by a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import State

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.errors import WikiError
from lilbee_core.types import WikiPage
from lilbee_server.library import library_of
from lilbee_server.problems import status_of
from lilbee_server.web.forms import FORM, Filled, Form, Problem
from lilbee_server.web.pages.wiki import body_html
from lilbee_server.web.shown.wiki import PATH, diff_lines, draft_url, page_url, seen
from lilbee_server.web.views import redirect, render

DRAFT = f"{PATH}/draft"


@get(DRAFT, sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Show what a draft would change, line by line."""
    query = request.query_params
    return _page(request, library_of(state), Form({"slug": query.getall("slug", []), "edit": query.getall("edit", [])}))


@post(f"{DRAFT}/accept", sync_to_thread=True, dependencies=FORM)
def accept(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Publish a draft, if it still says what was read."""
    return _decided(request, state, form, lambda bee, slug: bee.wiki.drafts.accept(slug), "accepted")


@post(f"{DRAFT}/reject", sync_to_thread=True, dependencies=FORM)
def reject(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Throw a draft away, if it still says what was read."""
    return _decided(request, state, form, lambda bee, slug: bee.wiki.drafts.reject(slug), "rejected")


@post(f"{DRAFT}/edit", sync_to_thread=True, dependencies=FORM)
def edit(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Give a draft another text, which stays a draft. What was written is kept where that does not work."""
    bee = library_of(state)
    try:
        _unchanged(bee, form)
        bee.wiki.drafts.edit(form["slug"], form.raw("body"))
    except LilbeeError as error:
        return _page(request, bee, form, Problem(error, "body"), is_editing=True)
    return redirect(request, draft_url(form["slug"]))


def _unchanged(bee: Lilbee, form: Form) -> WikiPage:
    """Return the draft as somebody read it.

    Raises:
        NotFound: If there is none any more.
        WikiError: If it says something else since.
    """
    draft = bee.wiki.drafts.require(form["slug"])
    if seen(draft.body) != form["seen"]:
        raise WikiError(
            "the draft has changed since you opened it", hint="Look at what it says now.", code="wiki.changed"
        )
    return draft


def _decided(
    request: Request[Any, Any, Any],
    state: State,
    form: Form,
    decide: Callable[[Lilbee, str], object],
    done: str,
) -> Response[str]:
    bee = library_of(state)
    try:
        _unchanged(bee, form)
        decide(bee, form["slug"])
    except WikiError as error:
        return _page(request, bee, form, Problem(error))
    return redirect(request, f"{PATH}?done={done}")


def _page(
    request: Request[Any, Any, Any],
    bee: Lilbee,
    form: Form,
    problem: Problem | None = None,
    *,
    is_editing: bool = False,
) -> Response[str]:
    drafts, slug = bee.wiki.drafts, form["slug"]
    draft, diff = drafts.require(slug), drafts.diff(slug)
    status = 200 if problem is None else status_of(problem.error)
    return render(
        request,
        "wiki_draft.html",
        status=409 if status == 500 else status,
        draft=draft,
        diff=diff,
        lines=diff_lines(diff.diff),
        body=body_html(draft, bee.wiki.pages()),
        seen=seen(draft.body),
        text=form.raw("body") if is_editing else draft.body,
        is_editing=is_editing or form.ticked("edit"),
        page_url=page_url(slug),
        draft_url=draft_url(slug),
        problem=problem,
    )


ROUTES = (show, accept, reject, edit)
