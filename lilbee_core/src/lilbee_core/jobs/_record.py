"""What is known of a job, as it is kept and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import cast

from lilbee_core.jobs._owner import Owner
from lilbee_core.jobs._words import outcome, subject


class JobState(StrEnum):
    """Where a job stands. ``lost`` means that its process ended before the job did."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    LOST = "lost"

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self not in (JobState.QUEUED, JobState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class JobRecord:
    """A job as it was last seen. Times are UTC ISO 8601; `result` and `error` are there once it is over."""

    id: str
    kind: str
    options: Mapping[str, object] = field(default_factory=dict[str, object])
    state: JobState = JobState.QUEUED
    phase: str = ""
    done: int = 0
    total: int | None = None
    unit: str = "files"
    result: Mapping[str, object] | None = None
    error: Mapping[str, object] | None = None
    created_at: str = ""
    started_at: str | None = None
    finished_at: str | None = None
    owner: Owner | None = None

    @property
    def subject(self) -> str:
        """What it was told to work on; empty where that is the whole library."""
        return subject(self.options)

    @property
    def outcome(self) -> str:
        """What came of it in a line: the error's message, or what was done."""
        if self.error is not None:
            return str(self.error.get("message", ""))
        return "" if self.result is None else outcome(self.result)

    @property
    def hint(self) -> str:
        """What to do about its error."""
        return "" if self.error is None else str(self.error.get("hint", ""))

    def to_dict(self) -> dict[str, object]:
        """Return what front ends show."""
        return {
            "id": self.id,
            "kind": self.kind,
            "options": dict(self.options),
            "state": str(self.state),
            "progress": {"phase": self.phase, "done": self.done, "total": self.total, "unit": self.unit},
            "result": None if self.result is None else dict(self.result),
            "error": None if self.error is None else dict(self.error),
            "created_at": self.created_at,
            "started_at": self.started_at,
            "finished_at": self.finished_at,
        }

    def to_state(self) -> dict[str, object]:
        """Return what is kept."""
        return {**self.to_dict(), "owner": self.owner.to_dict() if self.owner is not None else None}


def record_from(value: Mapping[str, object]) -> JobRecord:
    """Return the record that `JobRecord.to_state` made `value` of."""
    progress = cast("Mapping[str, object]", value["progress"])
    owner = cast("Mapping[str, object] | None", value.get("owner"))
    return JobRecord(
        id=cast("str", value["id"]),
        kind=cast("str", value["kind"]),
        options=cast("Mapping[str, object]", value["options"]),
        state=JobState(cast("str", value["state"])),
        phase=cast("str", progress["phase"]),
        done=cast("int", progress["done"]),
        total=cast("int | None", progress["total"]),
        unit=cast("str", progress["unit"]),
        result=cast("Mapping[str, object] | None", value["result"]),
        error=cast("Mapping[str, object] | None", value["error"]),
        created_at=cast("str", value["created_at"]),
        started_at=cast("str | None", value["started_at"]),
        finished_at=cast("str | None", value["finished_at"]),
        owner=Owner.of(owner) if owner is not None else None,
    )
