"""The models: which role has which, what is here, what can be fetched, and where they run."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import State

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.errors import InvalidArgument, PlacementError
from lilbee_core.types import FleetPlan, ModelEntry
from lilbee_server.library import library_of
from lilbee_server.problems import status_of
from lilbee_server.routes.models import assign_model, model_name
from lilbee_server.routes.placement import placeable
from lilbee_server.web.forms import FORM, Filled, Form, Problem
from lilbee_server.web.shown import jobs
from lilbee_server.web.shown.lists import address
from lilbee_server.web.shown.models import PATH, ROLES, cards, entry, roles
from lilbee_server.web.shown.settings import plain
from lilbee_server.web.views import redirect, render

_DONE = {
    "assigned": "The model is used from now on.",
    "default": "What lilbee chooses by itself is used from now on.",
    "deleted": "The model is deleted.",
    "placed": "The placement is used from now on; servers that it moves are started anew.",
    "planned": "lilbee plans by itself again.",
}


@get(PATH, sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Show the roles, the models that are here, and those that the hub has for some words."""
    query = request.query_params
    done = _DONE.get(query.get("done") or "", "")
    return _page(request, library_of(state), Form({"words": query.getall("words", [])}), done=done)


@get(f"{PATH}/plan", sync_to_thread=True)
def plan(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Show where models run. It asks the cards, so the page is there before it."""
    bee = library_of(state)
    found: FleetPlan | None = None
    problem: Problem | None = None
    try:
        found = bee.placement.show()
    except LilbeeError as error:
        problem = Problem(error)
    return _page(request, bee, Form(), plan=found, plan_problem=problem)


@post(f"{PATH}/assign", sync_to_thread=True, dependencies=FORM)
def assign(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Give a role another model, or back the one that lilbee chooses by itself.

    Another embedding model means other vectors: where there are some, they are made anew, as a job.
    """
    bee, role = library_of(state), form["role"]
    try:
        if role not in ROLES:
            raise InvalidArgument(f"there is no role {role!r}", hint=f"Choose one of {', '.join(ROLES)}.")
        if form.ticked("default"):
            assign_model(bee, ROLES[role][0], None)
            return redirect(request, address(PATH, done="default"))
        if not form["model"]:
            raise InvalidArgument("no model is named", hint="Name one that is here, or none.")
        if role == "embed" and form.ticked("anew"):
            job = bee.jobs.start("embed_anew", model=form["model"])
            return redirect(request, f"{jobs.PATH}/{job.id}")
        assign_model(bee, ROLES[role][0], form["model"])
    except LilbeeError as error:
        return _page(request, bee, form, Problem(error, f"model-{role}"))
    return redirect(request, address(PATH, done="assigned"))


@post(f"{PATH}/pull", sync_to_thread=True, dependencies=FORM)
def pull(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Start to fetch a model, and show how far it is."""
    bee = library_of(state)
    try:
        job = bee.jobs.start("pull", model=model_name(form["model"]))
    except LilbeeError as error:
        return _page(request, bee, form, Problem(error, "pull"))
    return redirect(request, f"{jobs.PATH}/{job.id}")


@get(f"{PATH}/delete", sync_to_thread=True)
def ask_delete(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Ask whether a model is to be deleted."""
    found = _here(library_of(state), request.query_params.get("model") or "")
    return render(request, "model_delete.html", model=entry(found))


@post(f"{PATH}/delete", sync_to_thread=True, dependencies=FORM)
def delete(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Delete a model that was fetched."""
    bee = library_of(state)
    try:
        bee.models.remove(model_name(form["model"]))
    except LilbeeError as error:
        return _page(request, bee, form, Problem(error))
    return redirect(request, address(PATH, done="deleted"))


@post(f"{PATH}/placement", sync_to_thread=True, dependencies=FORM)
def place(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Try a placement, use it from now on, or let lilbee plan by itself again."""
    bee, todo = library_of(state), form["do"]
    try:
        if todo == "try":
            return _page(request, bee, form, plan=bee.placement.preview(form["placement"] or None), tried=True)
        if todo == "clear":
            placeable(bee).placement.clear()
            return redirect(request, address(PATH, done="planned"))
        if not form["placement"]:
            raise PlacementError("no placement is written", hint="Write one, or let lilbee plan.")
        placeable(bee).placement.set(form["placement"])
    except LilbeeError as error:
        return _page(request, bee, form, Problem(error, "placement"))
    return redirect(request, address(PATH, done="placed"))


# ---------------------------------------------------------------------- inside


def _here(bee: Lilbee, ref: str) -> ModelEntry:
    found = next((one for one in bee.models.list() if one.ref == ref), None)
    return found if found is not None else bee.models.show(model_name(ref))


def _page(
    request: Request[Any, Any, Any],
    bee: Lilbee,
    form: Form,
    problem: Problem | None = None,
    *,
    plan: FleetPlan | None = None,
    plan_problem: Problem | None = None,
    tried: bool = False,
    done: str = "",
) -> Response[str]:
    here = bee.models.list()
    values = {name: (plain(value), origin) for name, value, origin in bee.config.items() if name.endswith("_model")}
    catalog, hub_problem = _catalog(bee, form["words"])
    status = 200 if problem is None else status_of(problem.error)
    return render(
        request,
        "models.html",
        "plan",
        status=status,
        roles=roles(values, here),
        here=[entry(one) for one in here],
        catalog=[entry(one) for one in catalog],
        hub_problem=hub_problem,
        plan=plan,
        cards=cards(plan) if plan is not None else (),
        plan_problem=plan_problem,
        tried=tried,
        placeable=bool(bee.settings.get("allow_http_placement")),
        placement=form["placement"] or plain(bee.settings.get("placement")),
        has_vectors=any(one.documents for one in bee.collections.list()),
        folder=bee.models.folder,
        form=form,
        problem=problem,
        done=done,
        delete_url=_delete_url,
    )


def _delete_url(ref: str) -> str:
    return address(f"{PATH}/delete", model=ref)


def _catalog(bee: Lilbee, words: str) -> tuple[tuple[ModelEntry, ...], LilbeeError | None]:
    """Return models of the hub, or why there are none: a page without it is of use all the same."""
    try:
        return bee.models.catalog(words), None
    except LilbeeError as error:
        return (), error


ROUTES = (show, plan, assign, pull, ask_delete, delete, place)
