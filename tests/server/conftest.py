"""A small library behind the application."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from lilbee_core.testing import HashEmbedder
from lilbee_server.app import create_app

TOKEN = "s3cret-token"


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Lilbee]:
    root = tmp_path / "notes"
    root.mkdir()
    (root / "bees.md").write_text("# Bees\n\nThe queen lays eggs in spring.\n", encoding="utf-8")
    (root / "boats.md").write_text("# Boats\n\nThe ferry leaves at noon.\n", encoding="utf-8")
    with Lilbee(root, embedder=HashEmbedder()) as bee:
        bee.sync()
        yield bee


@pytest.fixture
def client(library: Lilbee) -> Iterator[TestClient[Litestar]]:
    app = create_app(library, token=TOKEN, hosts=("testserver.local",))
    with TestClient(app, base_url="http://testserver.local") as client:
        client.headers["Authorization"] = f"Bearer {TOKEN}"
        yield client


@contextmanager
def serving(app: Litestar, **options: Any) -> Iterator[str]:
    """Serve an application on loopback, as clients of other makers reach it; gives the address."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", access_log=False, timeout_graceful_shutdown=2, **options)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)
        listener.close()
