"""Runs an application on a socket until the process is told to end."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from lilbee_server.place import allow_many_connections

if TYPE_CHECKING:
    from socket import socket

    from litestar import Litestar

IDLE_S = 75
"""How long a connection may stay without a request: longer than clients keep theirs for the next one."""
GRACE_S = 3
"""How long a server that is stopped waits for streams that clients hold open."""


def run_app(app: Litestar, listener: socket, *, arrival_s: float) -> None:
    """Answer requests on a socket until the process is told to end."""
    import uvicorn

    from lilbee_server.heads import protocol_with_patience

    allow_many_connections()
    # uvicorn ends gracefully, then raises the signal again: let that clean up here instead of killing us.
    signal.signal(signal.SIGTERM, _leave)
    config = uvicorn.Config(
        app,
        http=protocol_with_patience(arrival_s),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
        timeout_keep_alive=IDLE_S,
    )
    uvicorn.Server(config).run(sockets=[listener])


def _leave(number: int, frame: object) -> None:
    sys.exit(0)
