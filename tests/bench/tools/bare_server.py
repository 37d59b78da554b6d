"""Serve one address at PORT with Litestar and uvicorn, and nothing else: what no server of theirs can start without."""

from __future__ import annotations

import sys

import uvicorn
from litestar import Litestar, get


@get("/api/health", sync_to_thread=False)
def health() -> dict[str, str]:
    """Say that the server is up."""
    return {"status": "ok"}


if __name__ == "__main__":
    uvicorn.run(Litestar([health]), port=int(sys.argv[1]), log_level="warning", access_log=False)
