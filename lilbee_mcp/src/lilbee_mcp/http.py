"""The protocol over streamable HTTP: as a server of its own, and as an application that a server mounts."""

from __future__ import annotations

import json
import os
import secrets
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, MutableMapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio.abc import TaskGroup, TaskStatus

from lilbee_core import Lilbee
from lilbee_core.errors import LibraryError
from lilbee_core.tokens import LOOPBACK, Access, Grant, ServerSession, host_of, write_session

if TYPE_CHECKING:
    from mcp.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

PATH = "/mcp"
FILE = "mcp.json"
MOST_SESSIONS = 100
IDLE_S = 1_800.0
GRACE_S = 3
"""How long a server that is stopped waits for streams that clients hold open."""
MOST_BODY_BYTES = 4_000_000
_HEADERS = [
    (b"content-type", b"application/json"),
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
]


class Sessions:
    """Clients over HTTP, as an ASGI application. Their sessions are bounded in number and end when they are idle.

    Whoever mounts it has checked who asks, and put what that may see and do into ``scope["state"]["grant"]``. The
    protocol is loaded for the first request, so that the server it is mounted on listens no later for it.
    """

    def __init__(self, build: Callable[[], Server[Any]], *, most: int = MOST_SESSIONS, idle_s: float = IDLE_S) -> None:
        self._build = build
        self._most, self._idle_s = most, idle_s
        self._manager: StreamableHTTPSessionManager | None = None
        self._group: TaskGroup | None = None
        self._starting = anyio.Lock()

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Be ready as long as the server runs; sessions end with it."""
        async with anyio.create_task_group() as group:
            self._group = group
            try:
                yield
            finally:
                group.cancel_scope.cancel()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        manager = await self._ready()
        _bind(scope)
        await manager.handle_request(scope, receive, send)

    async def _ready(self) -> StreamableHTTPSessionManager:
        async with self._starting:
            manager = self._manager
            if manager is None:
                if self._group is None:
                    raise LibraryError("the server is not running", hint="Start it first.", code="library.closed")
                started: StreamableHTTPSessionManager = await self._group.start(self._run)
                self._manager = manager = started
            return manager

    async def _run(self, *, task_status: TaskStatus[StreamableHTTPSessionManager]) -> None:
        manager = await anyio.to_thread.run_sync(self._made)
        async with manager.run():
            task_status.started(manager)
            await anyio.sleep_forever()

    def _made(self) -> StreamableHTTPSessionManager:
        from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

        return StreamableHTTPSessionManager(
            self._build(),
            max_sessions=self._most,
            session_idle_timeout=self._idle_s,
            max_request_body_size=MOST_BODY_BYTES,
        )


def _bind(scope: Scope) -> None:
    """Tie sessions to tokens: one that another token began is not there for this one."""
    from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
    from mcp.server.auth.provider import AccessToken

    grant: Grant = scope["state"]["grant"]
    scope["user"] = AuthenticatedUser(AccessToken(token="", client_id=grant.name, scopes=[]))


class Gate:
    """Checks Host, Origin and token before a request gets to the protocol."""

    def __init__(self, app: Sessions, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or run the lifespan."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        refused = _refusal(self._access, scope) if scope["type"] == "http" else None
        grant = None
        if refused is None:
            given = _header(scope, b"authorization")
            owner = self._access.is_owner(given)
            grant = self._access.grant(given) if owner else await anyio.to_thread.run_sync(self._access.grant, given)
        if refused is None and grant is None:
            hint = f"Send the token that the server wrote to {FILE} as `Authorization: Bearer TOKEN`."
            refused = (401, "server.unauthorized", "the token is missing or wrong", hint)
        if refused is None and scope["path"].rstrip("/") != PATH:
            refused = (404, "server.no_route", f"there is nothing at {scope['path'][:200]}", f"The protocol is {PATH}.")
        if refused is not None:
            await _refuse(send, *refused)
            return
        scope.setdefault("state", {})["grant"] = grant
        await self._app(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self._app.lifespan():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _refusal(access: Access, scope: Scope) -> tuple[int, str, str, str] | None:
    host, origin = _header(scope, b"host"), _header(scope, b"origin")
    if not access.is_ours(host):
        said = f"this server is not {host_of(host) or 'nameless'}"
        return 403, "server.forbidden_host", said, "Use its loopback address."
    if origin and not access.is_ours(origin):
        return 403, "server.forbidden_origin", "requests of other web sites are refused", "Call from this machine."
    return None


def _header(scope: Scope, name: bytes) -> bytes:
    found: bytes = next((value for key, value in scope["headers"] if key.lower() == name), b"")
    return found


async def _refuse(send: Send, status: int, code: str, message: str, hint: str) -> None:
    extra = [(b"www-authenticate", b"Bearer")] if status == 401 else []
    body = json.dumps({"error": {"code": code, "message": message, "hint": hint}}).encode()
    await send({"type": "http.response.start", "status": status, "headers": [*_HEADERS, *extra]})
    await send({"type": "http.response.body", "body": body})


def create_app(
    library: Lilbee, *, token: str | None, enable: Collection[str] = (), hosts: Collection[str] = LOOPBACK
) -> Gate:
    """Return an ASGI application that serves `library` at ``/mcp``; the caller closes the library.

    Args:
        library: An open library.
        token: What requests must carry; None lets everybody in (tests only). Tokens of the library count as well.
        enable: Groups of tools beyond the usual ones.
        hosts: Host names that requests may name.
    """
    from lilbee_mcp.server import build_server

    server = build_server(library, enable=enable)
    return Gate(Sessions(lambda: server), Access(token=token, check=library.tokens.check, hosts=hosts))


def serve_http(library: Lilbee, *, enable: Collection[str], port: int) -> int:
    """Serve on loopback until the process is told to stop; return the exit code."""
    import uvicorn

    from lilbee_core.text import visible_line

    library.status()
    try:
        listener = socket.create_server(("127.0.0.1", port))
    except (OSError, OverflowError) as error:
        sys.stderr.write(f"error: port {port} cannot be used: {error}\n  Choose another one with --port.\n")
        return 1
    with listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}{PATH}"
        token = secrets.token_urlsafe(32)
        file = _announced(library.data_dir, url, token)
        sys.stderr.write(f"lilbee-mcp listens on {url}; the token is in {visible_line(str(file))}\n")
        # uvicorn ends gracefully, then raises the signal again: let that clean up here instead of killing us.
        signal.signal(signal.SIGTERM, _leave)
        try:
            config = uvicorn.Config(
                create_app(library, token=token, enable=enable),
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=GRACE_S,
            )
            uvicorn.Server(config).run(sockets=[listener])
        finally:
            file.unlink(missing_ok=True)
    return 0


def _leave(number: int, frame: object) -> None:
    sys.exit(0)


def _announced(data_dir: Path, url: str, token: str) -> Path:
    return write_session(data_dir, ServerSession(url=url, token=token, pid=os.getpid()), name=FILE)
