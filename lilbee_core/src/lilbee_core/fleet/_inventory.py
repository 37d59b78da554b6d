"""Servers of all of a user's processes, by their state files: who runs, how to end them, what they say."""

from __future__ import annotations

from pathlib import Path

from lilbee_core.errors import FleetError
from lilbee_core.fleet import _logs
from lilbee_core.fleet._loading import endpoint_url
from lilbee_core.fleet._reaper import Processes
from lilbee_core.fleet._state import GroupRecord, ServerRecord, StateFolder
from lilbee_core.types import ServerStatus


def running(state: StateFolder, processes: Processes) -> tuple[ServerStatus, ...]:
    """Return every server that is written down and still runs, by group and owner."""
    return tuple(
        _status(record, server, processes)
        for record in state.scan()
        for server in record.servers
        if server.process is not None and processes.is_alive(server.process)
    )


def _status(record: GroupRecord, server: ServerRecord, processes: Processes) -> ServerStatus:
    orphaned = not record.detached and not processes.is_alive(record.owner)
    return ServerStatus(
        id=server.id,
        role=server.role,
        model=server.model,
        state="starting" if server.port is None else "ready",
        group=record.group,
        pid=None if server.process is None else server.process.pid,
        url="" if server.port is None else endpoint_url(server.port),
        detached=record.detached,
        owner_pid=record.owner.pid,
        log_file=server.log_file,
        error="its owner is gone; the next start ends it" if orphaned else "",
    )


def log_of(state: StateFolder, name: str, lines: int) -> str:
    """Return the last lines of the logs of a server, or of all servers of a role; of several, each under its name.

    Raises:
        FleetError: If there is no such server.
    """
    known = [(record, one) for record in state.scan() for one in record.servers]
    chosen = [(record, one) for record, one in known if name in (one.id, one.role)]
    if not chosen:
        ids = ", ".join(sorted({one.id for _, one in known})) or "none"
        raise FleetError(
            f"there is no running server {name!r} (there are: {ids})",
            hint="Run `lilbee engine status` to see what runs.",
            code="fleet.unserved",
        )
    if len(chosen) == 1:
        return _log(chosen[0][1], lines)
    return "\n\n".join(f"== {one.id} of process {record.owner.pid}\n{_log(one, lines)}" for record, one in chosen)


def _log(server: ServerRecord, lines: int) -> str:
    return _logs.tail(Path(server.log_file) if server.log_file else None, lines)
