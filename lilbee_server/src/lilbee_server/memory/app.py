"""The ASGI application of a memory server. Owns no library."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

from litestar import Litestar, get, post
from litestar.config.app import AppConfig
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.params import JSONBody

from lilbee_core import LilbeeError, __version__
from lilbee_core.errors import InvalidArgument
from lilbee_server.app import LOOPBACK
from lilbee_server.audit import Audit
from lilbee_server.bodies import Body
from lilbee_server.guard import Guard
from lilbee_server.limits import Limit, Limits
from lilbee_server.memory.replies import reply
from lilbee_server.memory.server import HITS, MemoryServer
from lilbee_server.problems import bug_problem, deep_problem, http_problem, lilbee_problem

MOST_BODY_BYTES = 1_000_000
MOST_HITS = 1000


class Asked(Body, rename="camel"):
    """What is looked for, and how many hits are wanted."""

    query: str
    max_results: int | None = None


@post("/search", status_code=200, sync_to_thread=True, opt={"reads": True})
def search(state: State, data: JSONBody[Asked]) -> dict[str, Any]:
    """Return what fits best, best first, with the lines on which it stands."""
    started = perf_counter()
    limit = HITS if data.max_results is None else data.max_results
    if not 1 <= limit <= MOST_HITS:
        raise InvalidArgument(f"maxResults must be from 1 to {MOST_HITS}, got {limit}", hint="Correct it.")
    server = server_of(state)
    result, warnings = server.search(data.query, limit)
    return reply(result, data.query, server.folders, warnings, perf_counter() - started)


@get("/health", sync_to_thread=False)
def health() -> dict[str, str]:
    """Say that the server is up. Needs no token."""
    return {"status": "ok", "version": __version__}


@get("/status", sync_to_thread=True)
def status(state: State) -> dict[str, Any]:
    """Return what is indexed, with which models, what is going on, and what is wrong."""
    return server_of(state).status()


@post("/index", status_code=202, sync_to_thread=True)
def index(state: State) -> dict[str, str]:
    """Have every file looked at again, in the background."""
    job, was_running = server_of(state).index()
    return {"status": "running" if was_running else "started", "job": job}


def server_of(state: State) -> MemoryServer:
    """Return what the application was made for."""
    server: MemoryServer = state["memory"]
    return server


def create_memory_app(server: MemoryServer, *, hosts: Sequence[str] = LOOPBACK) -> Litestar:
    """Return an application that serves a memory server, which begins its work when the application starts.

    Without a token in the configuration everybody on this machine is let in, but no page of another web site.
    """
    chosen = server.library.settings.server
    guard = Guard(
        token=server.config.token,
        hosts=tuple(hosts),
        check=server.library.tokens.check,
        audit=Audit(server.library.data_dir),
        limits=Limits(requests=Limit(chosen.requests_per_minute), arrival_s=chosen.arrival_timeout_s),
    )
    return Litestar.from_config(
        AppConfig(
            route_handlers=[search, health, status, index],
            state=State({"memory": server}),
            middleware=[guard],
            on_startup=[server.begin],
            exception_handlers={
                LilbeeError: lilbee_problem,
                HTTPException: http_problem,
                RecursionError: deep_problem,
                Exception: bug_problem,
            },
            openapi_config=None,
            request_max_body_size=MOST_BODY_BYTES,
            debug=False,
        )
    )
