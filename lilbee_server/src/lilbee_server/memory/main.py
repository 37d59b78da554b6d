"""A configuration to a server that listens."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from lilbee_core import Lilbee
from lilbee_core.text import visible_line
from lilbee_server.memory.config import MemoryConfig, load_config
from lilbee_server.memory.server import Indexing, MemoryServer
from lilbee_server.place import CannotServe, Place


def open_library(config: MemoryConfig, indexing: Indexing, data_dir: str | Path | None = None) -> Lilbee:
    """Return the library of a memory server; its index lies in the user's data unless `data_dir` says otherwise."""
    return Lilbee(None, config.settings(), data_dir=data_dir or config.data_dir, events=indexing)


def serve_memory(
    file: str, *, data_dir: str | None, place: Place, port: int | None, started: Callable[[], None]
) -> int:
    """Serve what a configuration says, until the server is stopped; return the exit code.

    `started` is called when everything is loaded.

    Raises:
        NotFound: If there is no such file.
        SettingsError: If it says something that is not allowed.
        CannotServe: If the port cannot be used, or other machines could connect.
    """
    from lilbee_server.app import LOOPBACK
    from lilbee_server.memory.app import create_memory_app
    from lilbee_server.running import run_app

    config = load_config(file)
    place = replace(place, port=config.port if port is None else port)
    place.check()
    if not place.is_local and config.token is None:
        raise CannotServe(
            f"{place.host} is not an address of this machine alone, and {config.file} names no token",
            hint='Add "token" to it: a long text that nobody guesses.',
        )
    indexing = Indexing()
    with open_library(config, indexing, data_dir) as bee:
        listener = place.listen()
        app = create_memory_app(MemoryServer(bee, config, indexing), hosts=(*LOOPBACK, *place.hosts))
        sys.stderr.write(f"lilbee-server serves {visible_line(str(config.file))} on {place.address(listener)}\n")
        started()
        run_app(app, listener, arrival_s=bee.settings.server.arrival_timeout_s)
    return 0
