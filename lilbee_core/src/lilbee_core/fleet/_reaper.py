"""Servers that outlived their owner: found by the state files, told apart from strangers, and ended."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lilbee_core.fleet import _logs
from lilbee_core.fleet._state import GroupRecord, ProcessMark, ServerRecord, StateFolder, plain_name

if TYPE_CHECKING:
    import psutil

log = logging.getLogger(__name__)

GRACE_S = 5.0
"""How long a server may take to end when asked to, before it is made to."""


class Processes(Protocol):
    """What the system knows of processes. The seam for tests."""

    def is_alive(self, mark: ProcessMark) -> bool: ...

    def is_server(self, mark: ProcessMark, record: ServerRecord) -> bool:
        """Whether the process at this id is the server of a record that has no time of start."""
        ...

    def find(self, record: ServerRecord) -> Sequence[ProcessMark]:
        """Return the processes whose command names the key file of a record, which no other server has."""
        ...

    def end(self, marks: Sequence[ProcessMark]) -> None:
        """End process groups and wait until they are gone, so that their memory is free."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Reaped:
    """What was ended: the ids of the processes, and the groups whose records are gone."""

    pids: tuple[int, ...] = ()
    groups: tuple[str, ...] = ()


def reap(
    state: StateFolder, processes: Processes, *, spare_detached: bool, everything: bool = False, only: str | None = None
) -> Reaped:
    """End the servers of owners that are dead, and forget them.

    A living owner's servers are left alone. Those that were left running on purpose are spared with `spare_detached`;
    `everything` ends all of them, whoever's they are. `only` names the one file to look at.
    """
    pids: list[int] = []
    groups: list[str] = []
    for record in list(state.scan()):
        if only is not None and (record.path is None or record.path.name != only):
            continue
        if not everything and (processes.is_alive(record.owner) or (record.detached and spare_detached)):
            continue
        marks = survivors(record, processes)
        # First the record: a living owner whose server is gone together with it does not start it again.
        forget(record)
        if marks:
            log.info("ending %d server(s) of %s", len(marks), record.group)
            processes.end(marks)
        pids += [mark.pid for mark in marks]
        groups.append(record.group)
    return Reaped(pids=tuple(pids), groups=tuple(groups))


def survivors(record: GroupRecord, processes: Processes) -> list[ProcessMark]:
    """Return the processes of a record that still run, each told apart from a stranger that got its id."""
    found: dict[int, ProcessMark] = {}
    for server in record.servers:
        for mark in _running(server, processes):
            found[mark.pid] = mark
    return list(found.values())


def _running(server: ServerRecord, processes: Processes) -> Iterable[ProcessMark]:
    mark = server.process
    if mark is not None and mark.started is not None:
        return [mark] if processes.is_alive(mark) else []
    if mark is not None and processes.is_server(mark, server):
        return [mark]
    # Its owner died between starting it and writing down which process it is.
    return processes.find(server) if server.key_file else []


def forget(record: GroupRecord) -> None:
    """Remove a record and what belongs to its servers; their logs are put aside."""
    for one in record.servers:
        if one.log_file:
            _logs.keep(Path(one.log_file), plain_name(one.id))
    files = [Path(one.key_file) for one in record.servers if one.key_file]
    for path in (*files, *([record.path] if record.path is not None else [])):
        with contextlib.suppress(OSError):
            path.unlink()


class SystemProcesses:
    """The processes of this machine."""

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        self._grace_s = grace_s

    def is_alive(self, mark: ProcessMark) -> bool:
        return mark.is_alive

    def is_server(self, mark: ProcessMark, record: ServerRecord) -> bool:
        import psutil

        try:
            command = psutil.Process(mark.pid).cmdline()
        except psutil.Error:
            return False
        return _is_engine(command) and bool(record.signature) and record.model in command

    def find(self, record: ServerRecord) -> Sequence[ProcessMark]:
        import psutil

        found: list[ProcessMark] = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                if record.key_file in process.cmdline():
                    found.append(ProcessMark(process.pid, process.create_time()))
        return found

    def end(self, marks: Sequence[ProcessMark]) -> None:
        import psutil

        members = [member for mark in marks for member in _members(mark)]
        for mark in marks:
            signal_group(mark.pid, signal.SIGTERM)
        _, left = psutil.wait_procs(members, timeout=self._grace_s)
        if left:
            for mark in marks:
                signal_group(mark.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
            for process in left:
                with contextlib.suppress(psutil.Error):
                    process.kill()
            psutil.wait_procs(left, timeout=self._grace_s)


def _members(mark: ProcessMark) -> list[psutil.Process]:
    import psutil

    try:
        process = psutil.Process(mark.pid)
        return [process, *process.children(recursive=True)]
    except psutil.Error:
        return []


def signal_group(pid: int, number: int) -> None:
    """Signal a server and all that it started: it leads a group of its own."""
    import psutil

    with contextlib.suppress(OSError, psutil.Error):
        if sys.platform != "win32" and os.getpgid(pid) == pid:
            os.killpg(pid, number)
        else:
            psutil.Process(pid).send_signal(number)


def _is_engine(command: Sequence[str]) -> bool:
    return any("llama-server" in word or word == "lilbee_core.fleet._host" for word in command[:4])
