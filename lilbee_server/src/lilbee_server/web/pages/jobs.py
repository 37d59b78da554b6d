"""Jobs: what runs and what ran, how far it is while one looks on, and an end on request."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import HeaderParameter, PathParameter, QueryParameter
from litestar.response import ServerSentEvent

from lilbee_core.events import Event
from lilbee_server.library import feeds_of, library_of
from lilbee_server.streams import job_events
from lilbee_server.web.shown.jobs import PATH, Shown, shown, told
from lilbee_server.web.shown.lists import Pages, address, page_number
from lilbee_server.web.views import redirect, render

Id = Annotated[str, PathParameter()]


@get(PATH, sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """List the jobs, newest first."""
    jobs = library_of(state).jobs.list()
    pages = Pages.of(page_number(request.query_params.get("page") or ""), len(jobs))
    listed: list[Shown] = [shown(one) for one in jobs[pages.start : pages.start + pages.size]]
    return render(
        request,
        "jobs.html",
        "jobs",
        jobs=listed,
        pages=pages,
        at=_at,
        waits=any(not one.is_over for one in listed),
    )


@get(f"{PATH}/{{job_id:str}}", sync_to_thread=True)
def job(request: Request[Any, Any, Any], state: State, job_id: Id) -> Response[str]:
    """Show a job: how far it is, what it told until now, and what came of it."""
    found = library_of(state).jobs.require(job_id)
    events, seen, silent = found.since(0, timeout_s=0)
    lines = [one for event in events if (one := told(event)) is not None and "line" in one]
    is_elsewhere = silent and not found.state.is_over
    return render(
        request, "job.html", "job", job=shown(found.record), lines=lines, seen=seen, is_elsewhere=is_elsewhere
    )


@post(f"{PATH}/{{job_id:str}}/cancel", sync_to_thread=True)
def cancel(request: Request[Any, Any, Any], state: State, job_id: Id) -> Response[str]:
    """Ask a job to end at its next safe point; what was finished stays."""
    library_of(state).jobs.require(job_id).cancel()
    return redirect(request, f"{PATH}/{job_id}")


@get(f"{PATH}/{{job_id:str}}/events")
async def events(
    state: State,
    job_id: Id,
    after: Annotated[int, QueryParameter(ge=0, le=1_000_000_000)] = 0,
    last: Annotated[int | None, HeaderParameter(name="Last-Event-ID")] = None,
) -> ServerSentEvent:
    """Stream what a job tells after what the page has shown, or where it was cut off; its end comes last."""
    found = await asyncio.to_thread(library_of(state).jobs.require, job_id)
    return ServerSentEvent(job_events(feeds_of(state), found, seen=max(0, last or after), tell=_worded))


def _at(page: int) -> str:
    return address(PATH, page=page)


def _worded(event: Event) -> tuple[str, dict[str, object]] | None:
    words = told(event)
    return None if words is None else ("told", words)


ROUTES = (show, job, cancel, events)
"""The addresses of this page."""
