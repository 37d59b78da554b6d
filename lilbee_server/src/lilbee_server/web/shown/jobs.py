"""Jobs: what runs, how far it is, what came of it, and what it told on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lilbee_core.events import Event, Progress
from lilbee_core.text import visible_line
from lilbee_server.web.shown.lists import moment, size

if TYPE_CHECKING:
    from lilbee_core.jobs import JobRecord

PATH = "/jobs"
TITLES = {
    "sync": "Sync",
    "add": "Add",
    "crawl": "Fetch pages of the web",
    "pull": "Fetch a model",
    "rebuild": "Rebuild the index",
    "wiki": "Write the wiki",
    "embed_anew": "Make vectors anew",
    "watch": "Watch for changes",
}
TONES = {"done": "good", "failed": "bad", "lost": "bad", "cancelled": "warn"}
_TELLING: Mapping[str, str] = {
    "DocumentIndexed": "indexed {path}",
    "DocumentSkipped": "skipped {path}: {reason}",
    "DocumentFailed": "failed {path}: {reason}",
    "DocumentRemoved": "removed {path}",
    "DocumentMoved": "moved {old_path} to {path}",
    "PageFetched": "fetched {url}",
    "PageSkipped": "skipped {url}: {reason}",
    "PageFailed": "failed {url}: {reason}",
    "SyncPlanned": "{to_read} to read, {unchanged} unchanged, {removed} to remove",
    "WatchFailed": "{reason}",
    "Warned": "{message}",
}
"""What is worth a line of its own, and how that is worded. Progress moves the bar instead."""
_BAD = frozenset({"DocumentFailed", "PageFailed", "WatchFailed", "Warned"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A job as the page shows it. `share` is None where nobody knows how much there is to do."""

    id: str
    title: str
    subject: str
    state: str
    tone: str
    is_over: bool
    far: str
    share: float | None
    outcome: str
    hint: str
    begun: str
    ended: str
    failed: tuple[Mapping[str, object], ...] = ()

    @property
    def url(self) -> str:
        """Where it is shown alone."""
        return f"{PATH}/{self.id}"


def shown(record: JobRecord) -> Shown:
    """Return a job as the page shows it."""
    is_over = record.state.is_over
    queued = str(record.state) == "queued"
    return Shown(
        id=record.id,
        title=TITLES.get(record.kind, record.kind),
        subject=record.subject,
        state=str(record.state),
        tone=TONES.get(str(record.state), ""),
        is_over=is_over,
        far=""
        if is_over
        else "waits for its turn"
        if queued
        else far(record.phase, record.done, record.total, record.unit),
        share=None if is_over or not record.total else min(1.0, record.done / record.total),
        outcome=record.outcome,
        hint=record.hint,
        begun=moment(record.started_at or record.created_at),
        ended=moment(record.finished_at),
        failed=_failed(record.result or {}),
    )


def far(phase: str, done: int, total: int | None, unit: str) -> str:
    """Say how far something is: ``reading, 3 of 10 files``."""
    if not phase:
        return "begins"
    if unit == "bytes":
        counted = f"{size(done) or '0 B'}{f' of {size(total)}' if total else ''}"
    else:
        counted = f"{done:,}{f' of {total:,}' if total else ''} {unit}"
    return f"{phase}, {counted}" if done or total else phase


def told(event: Event) -> dict[str, object] | None:
    """Return what an event says, for a script that shows it; None for what is not worth a word.

    ``far`` and ``share`` move the bar, ``line`` is one more line below it, which ``bad`` marks.
    """
    if isinstance(event, Progress):
        share = min(1.0, event.done / event.total) if event.total else None
        return {"far": far(event.phase, event.done, event.total, event.unit), "share": share}
    wording = _TELLING.get(event.name)
    if wording is None:
        return None
    return {"line": visible_line(wording.format_map(event.to_dict())), "bad": event.name in _BAD}


def _failed(result: Mapping[str, object]) -> tuple[Mapping[str, object], ...]:
    """Return the files or pages that a job could not take, as it named them."""
    parts = (result, _table(result.get("sync")), _table(result.get("report")))
    rows = [_table(row) for part in parts for row in _rows(part.get("failed"))]
    return tuple(
        {
            "what": _first(row, "path", "url", "about"),
            "why": _first(row, "message", "reason"),
            "code": _first(row, "code"),
        }
        for row in rows
    )


def _table(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _rows(value: object) -> list[object]:
    return list(cast("list[object]", value)) if isinstance(value, list | tuple) else []


def _first(row: Mapping[str, object], *names: str) -> str:
    return next((str(row[name]) for name in names if row.get(name)), "")
