"""The folders of the library: listed, added, renamed and forgotten."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import State

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.errors import InvalidArgument
from lilbee_server.library import library_of
from lilbee_server.problems import status_of
from lilbee_server.routes.documents import confined_path
from lilbee_server.web.forms import FORM, Filled, Form, Problem
from lilbee_server.web.shown import jobs
from lilbee_server.web.shown.lists import address
from lilbee_server.web.views import redirect, render

PATH = "/collections"
_DONE = {
    "renamed": "The collection has another name now; its documents keep their vectors.",
    "forgotten": "The collection is forgotten, and its documents left the index. Its files stay.",
}


@get(PATH, sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """List the collections."""
    done = _DONE.get(request.query_params.get("done") or "", "")
    return _page(request, library_of(state), Form(), done=done)


@post(PATH, sync_to_thread=True, dependencies=FORM)
def add(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Make a folder below those of the library a collection of its own, and start to read it."""
    bee = library_of(state)
    try:
        if not form["path"]:
            raise InvalidArgument("no folder is named", hint="Name a folder of this library.")
        one = bee.collections.add(
            confined_path(bee, form["path"]),
            name=form["name"] or None,
            include=form.lines("include"),
            exclude=form.lines("exclude"),
        )
    except LilbeeError as error:
        return _page(request, bee, form, Problem(error, "name" if "collection" in error.message else "path"))
    return redirect(request, f"{jobs.PATH}/{bee.jobs.start('sync', collections=[one.name]).id}")


@get(f"{PATH}/change", sync_to_thread=True)
def ask_change(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Offer to rename or to forget a collection."""
    name = request.query_params.get("name") or ""
    return _change_page(request, library_of(state), Form({"name": [name], "to": [name]}))


@post(f"{PATH}/rename", sync_to_thread=True, dependencies=FORM)
def rename(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Give a collection another name."""
    bee = library_of(state)
    try:
        bee.collections.rename(form["name"], form["to"])
    except LilbeeError as error:
        return _change_page(request, bee, form, Problem(error, "to"))
    return redirect(request, address(PATH, done="renamed"))


@post(f"{PATH}/forget", sync_to_thread=True, dependencies=FORM)
def forget(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Forget a collection, if its name was typed again."""
    bee = library_of(state)
    try:
        if form["sure"] != form["name"]:
            raise InvalidArgument("the name is not the same", hint=f"Type {form['name']} to forget it.")
        bee.collections.remove(form["name"])
    except LilbeeError as error:
        return _change_page(request, bee, form, Problem(error, "sure"))
    return redirect(request, address(PATH, done="forgotten"))


def _page(
    request: Request[Any, Any, Any], bee: Lilbee, form: Form, problem: Problem | None = None, *, done: str = ""
) -> Response[str]:
    return render(
        request,
        "collections.html",
        status=200 if problem is None else status_of(problem.error),
        collections=bee.collections.list(),
        form=form,
        problem=problem,
        done=done,
        documents_url=_documents_url,
        change_url=_change_url,
    )


def _documents_url(name: str) -> str:
    return address("/documents", collection=name)


def _change_url(name: str) -> str:
    return address(f"{PATH}/change", name=name)


def _change_page(
    request: Request[Any, Any, Any], bee: Lilbee, form: Form, problem: Problem | None = None
) -> Response[str]:
    name = form["name"]
    found = bee.collections.get(name)
    if found is None:
        bee.collections.filter(name)  # says that there is none, and which there are
    return render(
        request,
        "collection_change.html",
        status=200 if problem is None else status_of(problem.error),
        one=found,
        form=form,
        problem=problem,
    )


ROUTES = (show, add, ask_change, rename, forget)
