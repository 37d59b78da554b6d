"""Long work in the background: what runs, how far it is, an end on request."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

from litestar import delete, get
from litestar.datastructures import State
from litestar.params import HeaderParameter, PathParameter
from litestar.response import ServerSentEvent

from lilbee_core.errors import NotFound
from lilbee_core.tokens import Grant
from lilbee_server.describe import EVENTS, JOB
from lilbee_server.grants import Granted
from lilbee_server.library import feeds_of, library_of
from lilbee_server.streams import job_events

if TYPE_CHECKING:
    from lilbee_core.jobs import Job

Id = Annotated[str, PathParameter(description="The job's id, as starting it told.")]


@get("/api/jobs", sync_to_thread=True, opt={"scoped": True, "gives": {"jobs": [JOB]}})
def jobs(state: State, grant: Granted) -> dict[str, Any]:
    """Return all jobs that are remembered, newest first."""
    return {"jobs": [record.to_dict() for record in library_of(state).jobs.list() if grant.sees_job(record.options)]}


@get("/api/jobs/{job_id:str}", sync_to_thread=True, opt={"scoped": True, "gives": JOB})
def job(state: State, grant: Granted, job_id: Id) -> dict[str, Any]:
    """Return where a job stands, and its result once it is over."""
    return _require(state, grant, job_id).to_dict()


@delete("/api/jobs/{job_id:str}", status_code=202, sync_to_thread=True, opt={"scoped": True, "gives": JOB})
def cancel(state: State, grant: Granted, job_id: Id) -> dict[str, Any]:
    """Ask a job to end at its next safe point; what was finished stays."""
    found = _require(state, grant, job_id)
    found.cancel()
    return found.to_dict()


@get("/api/jobs/{job_id:str}/events", opt={"scoped": True, "gives": EVENTS})
async def events(
    state: State,
    grant: Granted,
    job_id: Id,
    last: Annotated[int | None, HeaderParameter(name="Last-Event-ID", description="Where to go on.")] = None,
) -> ServerSentEvent:
    """Stream a job's events, those of before first, until it is over. Its record comes last, as `JobFinished`."""
    found = await asyncio.to_thread(_require, state, grant, job_id)
    return ServerSentEvent(job_events(feeds_of(state), found, seen=max(0, last or 0)))


def _require(state: State, grant: Grant, job_id: str) -> Job:
    found = library_of(state).jobs.require(job_id)
    if not grant.sees_job(found.record.options):
        raise NotFound(f"there is no job {job_id!r}", hint="List the jobs to see their ids.")
    return found
