"""Servers of all of a user's processes, by their state files: who runs, how to end them, what they say."""

from __future__ import annotations

from pathlib import Path

from lilbee_core.errors import FleetError
from lilbee_core.fleet import _logs
from lilbee_core.fleet._loading import endpoint_url
from lilbee_core.fleet._reaper import Processes, forget, survivors
from lilbee_core.fleet._state import GroupRecord, ServerRecord, StateFolder
from lilbee_core.types import ServerStatus


def running(state: StateFolder, processes: Processes) -> tuple[ServerStatus, ...]:
    """Return every server that is written down and still runs, by group and owner."""
    tidy(state, processes)
    return tuple(
        _status(record, server, processes)
        for record in state.scan()
        for server in record.servers
        if server.process is not None and processes.is_alive(server.process)
    )


def tidy(state: StateFolder, processes: Processes) -> None:
    """Forget what dead processes wrote down, where none of their servers runs any more. Ends nothing."""
    for record in list(state.scan()):
        if not processes.is_alive(record.owner) and not survivors(record, processes):
            forget(record)


def _status(record: GroupRecord, server: ServerRecord, processes: Processes) -> ServerStatus:
    owned = processes.is_alive(record.owner)
    return ServerStatus(
        id=server.id,
        role=server.role,
        model=server.model,
        state="starting" if server.port is None else "ready",
        group=record.group,
        pid=None if server.process is None else server.process.pid,
        url="" if server.port is None else endpoint_url(server.port),
        detached=record.detached and not owned,
        owner_pid=record.owner.pid,
        log_file=server.log_file,
        error="" if owned or record.detached else "its owner is gone; the next start ends it",
    )


def log_of(state: StateFolder, name: str, lines: int, *, ended: bool = False) -> str:
    """Return the last lines of the logs of a server, or of all servers of a role; of several, each under its name.

    Where none of them runs, or with `ended`, it is the last that was heard of those which have ended.

    Raises:
        FleetError: If there is no such server, and nothing is kept of one.
    """
    known = [(record, one) for record in state.scan() for one in record.servers]
    chosen = [(record, one) for record, one in known if not ended and name in (one.id, one.role)]
    if not chosen:
        old = _logs.ended(state.folder)
        kept = [one for one in old if name in (one.server, one.server.rpartition("-")[0])]
        if not kept:
            raise _unheard_of(name, {one.id for _, one in known}, {one.server for one in old})
        # Of each server the latest; with `ended` all that are kept of the one that was named. The latest comes last.
        latest = {one.server: one for one in reversed(kept)}
        shown = reversed(kept) if name in latest and ended else latest.values()
        return "\n\n".join(f"== {one.server}, ended {one.when}\n{_logs.tail(one.path, lines)}" for one in shown)
    if len(chosen) == 1:
        return _log(chosen[0][1], lines)
    return "\n\n".join(f"== {one.id} of process {record.owner.pid}\n{_log(one, lines)}" for record, one in chosen)


def _log(server: ServerRecord, lines: int) -> str:
    return _logs.tail(Path(server.log_file) if server.log_file else None, lines)


def _unheard_of(name: str, running: set[str], ended: set[str]) -> FleetError:
    there = ", ".join(sorted(running)) or "none"
    gone = f"; ended: {', '.join(sorted(ended))}" if ended else ""
    return FleetError(
        f"there is no log of a server {name!r} (running: {there}{gone})",
        hint="Run `lilbee engine status` to see what runs.",
        code="fleet.unserved",
    )
