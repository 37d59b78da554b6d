"""Who may ask: a token, a Host that is ours, and no foreign Origin."""

from __future__ import annotations

import hmac
import json
from urllib.parse import urlsplit

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from lilbee_server.grants import OWNER
from lilbee_server.openai.errors import enveloped
from lilbee_server.problems import SECURITY_HEADERS

_HEADERS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
OPEN_PATHS = frozenset({"/api/health"})


class Guard(ASGIMiddleware):
    """Checks every HTTP request before it reaches a route.

    A web page on another site can make the browser send requests to this machine, under a host name that
    it controls. So the Host must be one of ours, and an Origin, where the browser sends one, too.
    """

    scopes = (ScopeType.HTTP,)

    def __init__(self, *, token: str | None, hosts: tuple[str, ...]) -> None:
        self._token = token.encode() if token is not None else None
        self._hosts = frozenset(host.lower() for host in hosts)

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        problem = self._problem(scope["path"], headers)
        if problem is None:
            scope["state"]["grant"] = OWNER
            await next_app(scope, receive, secured(send))
            return
        status, code, message, hint = problem
        told: dict[str, object] = {"error": {"code": code, "message": message, "hint": hint}}
        if scope["path"].startswith("/v1/"):
            told = enveloped(status, "invalid_api_key" if status == 401 else "invalid_request", f"{message}. {hint}")
        body = json.dumps(told).encode()
        extra = [(b"www-authenticate", b"Bearer")] if status == 401 else []
        send = secured(send)
        await send(
            {
                "type": "http.response.start",
                "status": status,
                "headers": [(b"content-type", b"application/json"), *extra],
            }
        )
        await send({"type": "http.response.body", "body": body, "more_body": False})

    def _problem(self, path: str, headers: dict[bytes, bytes]) -> tuple[int, str, str, str] | None:
        host = _host_of("//" + headers.get(b"host", b"").decode("latin-1"))
        if host not in self._hosts:
            return 403, "server.forbidden_host", f"this server is not {host or 'nameless'}", "Use its loopback address."
        origin = headers.get(b"origin")
        if origin is not None and _host_of(origin.decode("latin-1")) not in self._hosts:
            return 403, "server.forbidden_origin", "requests of other web sites are refused", "Call from this machine."
        if self._token is None or path in OPEN_PATHS:
            return None
        kind, _, given = headers.get(b"authorization", b"").partition(b" ")
        if kind.lower() != b"bearer" or not hmac.compare_digest(given.strip(), self._token):
            hint = "Send the token that the server wrote to server.json as `Authorization: Bearer TOKEN`."
            return 401, "server.unauthorized", "the token is missing or wrong", hint
        return None


def secured(send: Send) -> Send:
    """Add the headers that keep an answer from being run, framed, guessed at or kept."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message["headers"]}
            extra = [one for one in _HEADERS if one[0] not in there]
            message = {**message, "headers": [*message["headers"], *extra]}
        await send(message)

    return sending


def _host_of(address: str) -> str:
    try:
        return (urlsplit(address).hostname or "").lower()
    except ValueError:
        return ""
