"""The state of the library and of its jobs, in short."""

from __future__ import annotations

from typing import Any

from lilbee_core.errors import NotFound
from lilbee_mcp.offers import Arguments, Call, fitting, offer
from lilbee_mcp.tools.documents import Wait
from lilbee_mcp.work import followed, short

_FEW = 10


class Status(Arguments):
    """No arguments."""


class JobStatus(Arguments):
    """What `job_status` takes."""

    job: str | None = None
    wait_s: Wait = 0


@offer(Status, "Status", reads=True, scoped=True)
async def status(call: Call, asked: Status) -> dict[str, Any]:
    """Say how many documents are indexed, skipped or failed, which collections there are, and what is wrong."""
    return await call.run(_status, call)


def _status(call: Call) -> dict[str, Any]:
    if call.grant.collections is not None:
        own = [one for one in call.library.collections.list() if call.grant.sees(one.name)]
        return {"collections": [{"name": one.name, "documents": one.documents} for one in own]}
    value = call.library.status()
    collections = fitting({"name": one.name, "documents": one.documents} for one in value.collections)
    told: dict[str, Any] = {
        "documents": dict(value.states),
        "chunks": value.chunks,
        "embedder": value.embedder,
        "last_sync": value.last_sync,
        "collections": collections,
        "warnings": list(value.warnings)[:_FEW],
    }
    if len(value.collections) > len(collections):
        told["collections_count"] = len(value.collections)
    running = [short(one) for one in call.library.jobs.list() if not one.state.is_over]
    return {**told, "jobs": running[:_FEW]} if running else told


@offer(JobStatus, "Job status", reads=True, scoped=True)
async def job_status(call: Call, asked: JobStatus) -> dict[str, Any]:
    """Say how far a job is and what came of it, after waiting up to `wait_s`; without `job` list the latest jobs."""
    if asked.job is None:
        records = await call.run(call.library.jobs.list)
        seen = [short(one) for one in records if call.grant.sees_job(one.options)]
        return {"jobs": fitting(seen[:_FEW])}
    job = await call.run(call.library.jobs.require, asked.job)
    if not call.grant.sees_job(job.record.options):
        raise NotFound(f"there is no job {asked.job!r}", hint="List the jobs to see their ids.")
    return await followed(call, job, wait_s=asked.wait_s)
