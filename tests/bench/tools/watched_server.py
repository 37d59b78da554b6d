"""Serve the library of FOLDER and DATA while it is watched, a job without an end; print the address and the job."""

from __future__ import annotations

import socket
import sys

import uvicorn

from lilbee_core import Lilbee
from lilbee_server.app import create_app
from lilbee_server.place import allow_many_connections

if __name__ == "__main__":
    with Lilbee(sys.argv[1], data_dir=sys.argv[2]) as bee:
        allow_many_connections()
        job = bee.watch()
        listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
        bee.search("warm")
        print(f"http://127.0.0.1:{listener.getsockname()[1]} {job.id}", flush=True)
        config = uvicorn.Config(create_app(bee, token=None), log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])
