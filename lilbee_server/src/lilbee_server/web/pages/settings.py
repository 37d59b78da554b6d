"""The settings: what holds, where that comes from, and a change of those that the page may change."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import State

from lilbee_core import Lilbee, LilbeeError
from lilbee_server.library import library_of
from lilbee_server.problems import status_of
from lilbee_server.routes.config import change_settings
from lilbee_server.web.forms import FORM, Filled, Form, Problem
from lilbee_server.web.shown.lists import address
from lilbee_server.web.shown.settings import PATH, found
from lilbee_server.web.views import redirect, render

_DONE = {"set": "is changed.", "reset": "is back to what holds without this library's own value."}


@get(PATH, sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """List the settings, one of them to be changed if the address names it."""
    query = request.query_params
    form = Form({name: query.getall(name, []) for name in ("q", "edit")})
    return _page(request, library_of(state), form, done=query.get("done") or "", of=query.get("of") or "")


@post(PATH, sync_to_thread=True, dependencies=FORM)
def change(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Change a setting, or go back to what holds without the library's own value."""
    bee, name, reset = library_of(state), form["edit"], form.ticked("reset")
    try:
        change_settings(bee, {name: None if reset else form.raw("value")})
    except LilbeeError as error:
        return _page(request, bee, form, Problem(error, name))
    done = "reset" if reset else "set"
    return redirect(request, f"{address(PATH, q=form['q'], done=done, of=name)}#{name}")


def _page(
    request: Request[Any, Any, Any],
    bee: Lilbee,
    form: Form,
    problem: Problem | None = None,
    *,
    done: str = "",
    of: str = "",
) -> Response[str]:
    sections = found(bee.config.items(), form["q"])
    names = {one.name for section in sections for one in section.settings}
    return render(
        request,
        "settings.html",
        "sections",
        status=200 if problem is None else status_of(problem.error),
        sections=sections,
        count=len(names),
        words=form["q"],
        edit=form["edit"],
        value=form.raw("value") if problem is not None else None,
        problem=problem,
        done=f"{of} {_DONE[done]}" if done in _DONE and of in bee.settings.names() else "",
        file=bee.config.file,
    )


ROUTES = (show, change)
