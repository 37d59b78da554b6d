"""Which process works on a job, and whether it still lives."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast


@dataclass(frozen=True, slots=True, kw_only=True)
class Owner:
    """A process: its id may be given to another one later, so the time of its start is kept too."""

    pid: int
    started: float
    host: str

    @classmethod
    def me(cls) -> Owner:
        """Return this process."""
        import psutil

        return cls(pid=os.getpid(), started=psutil.Process().create_time(), host=socket.gethostname())

    @classmethod
    def of(cls, value: Mapping[str, object]) -> Owner:
        """Return the owner that `to_dict` made `value` of."""
        return cls(
            pid=cast("int", value["pid"]), started=cast("float", value["started"]), host=cast("str", value["host"])
        )

    def to_dict(self) -> dict[str, object]:
        return {"pid": self.pid, "started": self.started, "host": self.host}

    @property
    def is_alive(self) -> bool:
        """Whether it runs; of another machine nothing is known, so it is taken to."""
        import psutil

        if self.host != socket.gethostname():
            return True
        try:
            process = psutil.Process(self.pid)
            return abs(process.create_time() - self.started) < 1.0 and process.status() != psutil.STATUS_ZOMBIE
        except psutil.AccessDenied:
            return True
        except psutil.Error:
            return False
