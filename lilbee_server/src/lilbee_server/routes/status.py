"""The state of the library."""

from __future__ import annotations

from typing import Any

from litestar import get
from litestar.datastructures import State

from lilbee_core.types import LibraryStatus
from lilbee_server.library import library_of


@get("/api/status", sync_to_thread=True, opt={"gives": LibraryStatus})
def status(state: State) -> dict[str, Any]:
    """Return documents per state, chunks, embedder and sizes."""
    return library_of(state).status().to_dict()
