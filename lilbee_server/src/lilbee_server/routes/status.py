"""The state of the library."""

from __future__ import annotations

from typing import Any

from litestar import get

from lilbee_core import Lilbee


@get("/api/status", sync_to_thread=True)
def status(library: Lilbee) -> dict[str, Any]:
    """Return documents per state, chunks, embedder and sizes."""
    return library.status().to_dict()
