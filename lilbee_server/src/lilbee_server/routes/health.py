"""Whether the server is up."""

from __future__ import annotations

from litestar import get

from lilbee_core import __version__


@get("/api/health", sync_to_thread=False, opt={"gives": {"status": str, "version": str}})
def health() -> dict[str, str]:
    """Say that the server is up. Needs no token."""
    return {"status": "ok", "version": __version__}
