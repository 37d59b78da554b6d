"""The ledger of files: listed and narrowed down, explained, excluded and taken back, brought up to date."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from litestar import Request, Response, get, post
from litestar.datastructures import State

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.types import PathReport
from lilbee_server.library import library_of
from lilbee_server.problems import status_of
from lilbee_server.routes.documents import confined_path
from lilbee_server.web.forms import FORM, Filled, Form, Problem
from lilbee_server.web.shown import jobs
from lilbee_server.web.shown.documents import PATH, STATES, Asked, Ledger, key_of, ledger, ref_of
from lilbee_server.web.shown.lists import address, page_number
from lilbee_server.web.views import in_place, redirect, render

_DONE = {
    "excluded": "Taken out of the index, and kept out. The files stay where they are; Take back brings them back.",
    "removed": "The page is deleted, from the disk and from the index.",
}


@get(PATH, sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """List the documents that the address asks for."""
    query, bee = request.query_params, library_of(state)
    problem: Problem | None = None
    asked = Asked(
        words=query.get("q") or "",
        state=query.get("state") or "",
        collection=query.get("collection") or "",
        page=page_number(query.get("page") or ""),
    )
    try:
        if asked.state and asked.state not in STATES:
            raise InvalidArgument(f"there is no state {asked.state!r}", hint=f"Choose one of {', '.join(STATES)}.")
        found = _found(bee, asked)
    except (InvalidArgument, NotFound) as error:
        problem = Problem(error)
        asked = Asked(words=asked.words)
        found = _found(bee, asked)
    return render(
        request,
        "documents.html",
        "ledger",
        status=in_place(request, problem.error if problem else None),
        headers={"HX-Replace-Url": asked.url},
        asked=asked,
        found=found,
        states=STATES,
        collections=[one.name for one in bee.collections.list()],
        running=_running(bee),
        done=_DONE.get(query.get("done") or "", ""),
        problem=problem,
    )


@post(f"{PATH}/sync", sync_to_thread=True, dependencies=FORM)
def sync(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Start to bring the index up to date, and show how far it is."""
    chosen = [form["collection"]] if form["collection"] else []
    options = {"retry": form.ticked("retry"), "prune": form.ticked("prune")}
    job = library_of(state).jobs.start("sync", collections=chosen, **options)
    return redirect(request, f"{jobs.PATH}/{job.id}")


# ---------------------------------------------------------------------- why a file is, or is not, here


@get(f"{PATH}/why", sync_to_thread=True)
def why(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Say why a file is, or is not, in the index."""
    bee, path = library_of(state), (request.query_params.get("path") or "").strip()
    report: PathReport | None = None
    problem: Problem | None = None
    try:
        report = bee.explain_path(_file(bee, path)) if path else None
    except LilbeeError as error:
        problem = Problem(error, "path")
    return render(
        request,
        "document_why.html",
        "answer",
        status=in_place(request, problem.error if problem else None),
        path=path,
        report=report,
        key_of=key_of,
        problem=problem,
    )


# ---------------------------------------------------------------------- out of the index, and back


@get(f"{PATH}/exclude", sync_to_thread=True)
def ask_exclude(request: Request[Any, Any, Any]) -> Response[str]:
    """Ask whether documents are to be taken out."""
    fields = {name: request.query_params.getall(name, []) for name in ("document", "q", "state")}
    return _asked_to_exclude(request, Form(fields))


@post(f"{PATH}/exclude", sync_to_thread=True, dependencies=FORM)
def exclude(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Take documents out of the index, and keep them out."""
    try:
        library_of(state).remove(*_chosen(form))
    except LilbeeError as error:
        return _asked_to_exclude(request, form, Problem(error))
    return redirect(request, address(PATH, state=form["state"], q=form["q"], done="excluded"))


@post(f"{PATH}/include", sync_to_thread=True, dependencies=FORM)
def include(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Bring documents back: they are read again."""
    bee = library_of(state)
    paths = [confined_path(bee, str(_file(bee, ref))) for ref in _chosen(form)]
    return redirect(request, f"{jobs.PATH}/{bee.jobs.start('add', paths=paths).id}")


# ---------------------------------------------------------------------- inside


def _found(bee: Lilbee, asked: Asked) -> Ledger:
    # Rows are made one by one: a page of a long list reads no more of them than it shows.
    rows = bee.documents(collection=asked.collection or None, state=asked.core_state)
    try:
        counts: Mapping[str, int] = bee.collections.states(asked.collection or None)
        return ledger(rows, asked, counts, embeds=_embeds(bee))
    except NotFound:
        if asked.collection:
            raise
        return ledger((), asked, {}, embeds=False)  # nothing was ever indexed here


def _embeds(bee: Lilbee) -> bool:
    return str(bee.settings.get("embedding_model")).lower() != "none"


def _running(bee: Lilbee) -> tuple[jobs.Shown, ...]:
    """Return the jobs that change the list while one looks at it."""
    found = [one for kind in ("sync", "add", "crawl", "rebuild") for one in bee.jobs.running(kind)]
    return tuple(jobs.shown(one.record) for one in found)


def _chosen(form: Form) -> tuple[str, ...]:
    chosen = form.several("only") or form.several("document")
    if not chosen:
        raise InvalidArgument("no document is chosen", hint="Go back, and tick the documents that are meant.")
    return tuple(map(ref_of, chosen))


def _file(bee: Lilbee, ref: str) -> Path:
    """Return where a document lies that is named by its collection and path; anything else is a path itself."""
    name, _, path = ref.partition("/")
    found = bee.collections.get(name) if name and path else None
    return Path(found.root, path) if found is not None and found.root else Path(ref)


def _asked_to_exclude(request: Request[Any, Any, Any], form: Form, problem: Problem | None = None) -> Response[str]:
    if problem is None:
        try:
            _chosen(form)
        except InvalidArgument as error:
            problem = Problem(error)
    return render(
        request,
        "document_exclude.html",
        status=200 if problem is None else status_of(problem.error),
        form=form,
        ref_of=ref_of,
        problem=problem,
    )


ROUTES = (show, sync, why, ask_exclude, exclude, include)
