"""Jobs of the library, waited for as long as a client likes to, with word of how far they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import anyio

from lilbee_mcp.offers import Call

if TYPE_CHECKING:
    from lilbee_core.jobs import Job
    from lilbee_core.jobs._record import JobRecord

LONGEST_WAIT_S = 50.0
"""Many clients give up on a call after a minute."""
_STEP_S = 0.25
_FEW = 10
_PROBLEM = ("path", "url", "about", "code", "reason")
_COUNTS = ("pages", "new", "added", "updated", "moved", "removed", "unchanged", "chunks", "embedded", "owed", "waiting")


class Told:
    """Progress as the protocol wants it: a number that only grows, though each phase of a job counts anew."""

    def __init__(self, call: Call) -> None:
        self._call = call
        self._phase, self._base, self._last, self._sent = "", 0, 0, 0

    async def __call__(self, phase: str, done: int, total: int | None, unit: str) -> None:
        """Tell how far a phase is, if that is further than before."""
        if phase != self._phase:
            self._phase, self._base = phase, self._base + self._last
        self._last = max(done, 0)
        reached = self._base + self._last
        if phase and reached > self._sent:
            self._sent = reached
            end = self._base + total if total else None
            await self._call.tell(reached, end, f"{phase}: {done}{f' of {total}' if total else ''} {unit}")


async def started(call: Call, kind: str, *, wait_s: float, **options: object) -> dict[str, Any]:
    """Start a job, wait for it, and return what came of it so far. If the call is cancelled the job is, too."""
    job: Job = await call.run(call.library.jobs.start, kind, **options)
    try:
        return await followed(call, job, wait_s=wait_s)
    except anyio.get_cancelled_exc_class():
        job.cancel()
        raise


async def followed(call: Call, job: Job, *, wait_s: float) -> dict[str, Any]:
    """Wait for a job, at most so long, and return what came of it so far."""
    tell, end = Told(call), anyio.current_time() + min(max(wait_s, 0.0), LONGEST_WAIT_S)
    record: JobRecord = await call.run(lambda: job.record)
    while not record.state.is_over and (left := end - anyio.current_time()) > 0:
        record = await call.run(job.wait, min(left, _STEP_S))
        await tell(record.phase, record.done, record.total, record.unit)
    return short(record)


def short(record: JobRecord) -> dict[str, Any]:
    """Return what an agent needs of a job."""
    shown: dict[str, Any] = {"job": record.id, "kind": record.kind, "state": str(record.state)}
    if not record.state.is_over:
        shown["progress"] = record.to_dict()["progress"]
        shown["next"] = "Ask job_status with this job to learn its outcome."
    if record.result is not None:
        shown |= _outcome(record.result)
    if record.error is not None:
        shown["error"] = dict(record.error)
    return shown


def _outcome(result: Mapping[str, Any]) -> dict[str, Any]:
    shown: dict[str, Any] = {name: result[name] for name in _COUNTS if result.get(name)}
    if failed := _problems(result, "failed"):
        shown["failed"] = failed[:_FEW]
        shown["failed_count"] = len(failed)
    if skipped := _problems(result, "skipped"):
        counts = result.get("skipped_counts")
        shown["skipped_count"] = sum(counts.values()) if counts else len(skipped)
        if counts:
            shown["skipped_counts"] = counts
            shown["skipped"] = skipped[:_FEW]
    if result.get("warnings"):
        shown["warnings"] = list(result["warnings"])[:_FEW]
    return shown


def _problems(result: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    told = cast("list[dict[str, Any]]", result.get(name) or [])
    return [{key: one[key] for key in _PROBLEM if one.get(key)} for one in told]
