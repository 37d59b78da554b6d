"""Servers that an earlier lilbee left running on purpose: taken over if they are what we would start, else ended."""

from __future__ import annotations

import contextlib
import logging
import signal
from collections.abc import Sequence
from pathlib import Path

from lilbee_core.fleet import _logs
from lilbee_core.fleet._groups import Group
from lilbee_core.fleet._reaper import Processes, forget, signal_group, survivors
from lilbee_core.fleet._state import GroupRecord, ProcessMark, StateFolder

log = logging.getLogger(__name__)


class AdoptedProcess:
    """A process that is not our child. Threads may share it."""

    def __init__(self, mark: ProcessMark, log_file: Path | None, processes: Processes) -> None:
        self._mark = mark
        self._log_file = log_file
        self._processes = processes

    @property
    def pid(self) -> int:
        return self._mark.pid

    def poll(self) -> int | None:
        # How it ended is told to its parent alone.
        return None if self._processes.is_alive(self._mark) else 0

    def terminate(self) -> None:
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))

    def wait(self, timeout_s: float) -> int | None:
        import psutil

        with contextlib.suppress(psutil.Error):
            psutil.Process(self._mark.pid).wait(timeout_s)
        return self.poll()

    def log_tail(self, lines: int = 50) -> str:
        return _logs.tail(self._log_file, lines)

    def detach(self) -> None:
        """Let it run on, as it did before us."""

    def _signal(self, number: int) -> None:
        if self._processes.is_alive(self._mark):
            signal_group(self.pid, number)


def adopt_groups(
    left: Sequence[GroupRecord], groups: Sequence[Group], state: StateFolder, processes: Processes, *, version: str
) -> None:
    """Take over the servers of each record that we can use, and end the others. No record is left afterwards."""
    by_name = {group.name: group for group in groups}
    for record in left:
        group = by_name.get(record.group)
        adopted: set[int] = set()
        if group is not None and record.version == version and record.engine == group.engine_version:
            adopted = _adopt(record, group, processes)
        rest = [mark for mark in survivors(record, processes) if mark.pid not in adopted]
        if rest:
            log.info("ending %d server(s) of %s that do not fit any more", len(rest), record.group)
            processes.end(rest)
        if adopted and record.path is not None and group is not None:
            if record.path != group.path:  # it is ours by now if this very process left them running
                record.path.unlink(missing_ok=True)
        elif not adopted:
            forget(record)


def _adopt(record: GroupRecord, group: Group, processes: Processes) -> set[int]:
    adopted: set[int] = set()
    servers = {one.id: one for one in group.servers}
    for one in record.servers:
        server = servers.get(one.id)
        if server is None or one.process is None or server.endpoint is not None:
            continue
        log_file = Path(one.log_file) if one.log_file else None
        if server.adopt(one, AdoptedProcess(one.process, log_file, processes)):
            adopted.add(one.process.pid)
    return adopted
