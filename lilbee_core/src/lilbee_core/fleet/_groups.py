"""Servers that are started, stopped and written down together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lilbee_core.fleet._loading import Surroundings
from lilbee_core.fleet._server import Server
from lilbee_core.fleet._state import GroupRecord, ProcessMark, StateFolder
from lilbee_core.fleet._turns import Turns
from lilbee_core.types import MachineSnapshot, PlacedServer, ServerGroup

TURN_TIMEOUT_S = 300.0


class Group:
    """A group of servers with its own state file. Threads may share it."""

    def __init__(
        self,
        group: ServerGroup,
        placed: Sequence[PlacedServer],
        around: Surroundings,
        state: StateFolder,
        *,
        version: str,
        machine: MachineSnapshot,
        turn_timeout_s: float = TURN_TIMEOUT_S,
    ) -> None:
        self.group = group
        self.placed = tuple(placed)
        self._around, self._state = around, state
        self._version, self._machine = version, machine
        self._lock = threading.Lock()
        self._path = state.path_of(group.name, around.owner)
        self.servers = tuple(
            Server(one, around, record=self.write, is_recorded=self._path.exists) for one in self.placed
        )
        self.turns: Turns[Server] | None = None
        if group.swap:
            self.turns = Turns(timeout_s=turn_timeout_s, monotonic=around.clock.monotonic)

    @property
    def name(self) -> str:
        return self.group.name

    @property
    def path(self) -> Path:
        """Where it is written down."""
        return self._path

    @property
    def engine_version(self) -> str:
        return self._around.engine.version

    def record(self, *, detached: bool = False) -> GroupRecord:
        """Return what belongs on disk about the group."""
        records = (one.record() for one in self.servers)
        return GroupRecord(
            group=self.name,
            owner=self._around.owner,
            servers=tuple(record for record in records if record is not None),
            detached=detached,
            version=self._version,
            engine=self._around.engine.version,
            machine=self._machine,
        )

    def write(self) -> None:
        """Write down what runs; nothing is left on disk where nothing runs.

        Raises:
            OSError: If the folder cannot be written.
        """
        with self._lock:
            # What is kept warm may be taken over however we end: who is killed has no time to say so.
            record = self.record(detached=self._around.outlives)
            if record.servers:
                self._state.write(record)
            else:
                self._state.remove(self.name, self._around.owner)

    def ask_to_end(self) -> None:
        """Ask all servers to end, and wait for none."""
        for one in self.servers:
            one.ask_to_end()

    def close(self, reason: str = "closed") -> None:
        """End all servers of the group for good."""
        self.ask_to_end()
        for one in self.servers:
            one.close(reason)
        self._state.remove(self.name, self._around.owner)

    def detach(self) -> None:
        """Leave what is ready running for the next lilbee, and end what is not."""
        for one in self.servers:
            if one.endpoint is None:
                one.close()
        with self._lock:
            # They are nobody's from now on, even if this process goes on: one without a time of start is nobody.
            record = replace(self.record(detached=True), owner=ProcessMark(self._around.owner.pid))
            if record.servers:
                self._state.write(record)
        for one in self.servers:
            one.release()
