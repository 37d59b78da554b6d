"""Who may ask what: a token and what it allows, a Host that is ours, and no foreign Origin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from lilbee_core.tokens import OWNER, Access, Grant, host_of
from lilbee_server.audit import Audit
from lilbee_server.limits import Limits
from lilbee_server.openai.errors import enveloped
from lilbee_server.problems import SECURITY_HEADERS

if TYPE_CHECKING:
    from lilbee_core.tokens import TokenInfo

_HEADERS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
OPEN_PATHS = frozenset({"/api/health", "/health"})
_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_UNHEARD = frozenset({401, 429})
_OPENAI_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}


class Refused(Exception):
    """A request that goes no further."""

    def __init__(self, status: int, code: str, message: str, hint: str, *, wait_s: int = 0) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.hint, self.wait_s = status, code, message, hint, wait_s


class Guard(ASGIMiddleware):
    """Checks every HTTP request before it reaches a route.

    A web page on another site can make the browser send requests to this machine, under a host name that
    it controls. So the Host must be one of ours, and an Origin, where the browser sends one, too.

    A route is closed to tokens of single collections unless its option ``scoped`` says that it keeps to them; and what
    is not read by GET is closed to tokens that only read unless its option ``reads`` says that it changes nothing.

    Args:
        token: The owner's; None lets everybody in.
        hosts: Host names that requests may name.
        check: Says what another token allows, if there is such a one.
        audit: Where changes are written down.
        limits: How much may be asked in a while, and how slowly.
    """

    scopes = (ScopeType.HTTP,)

    def __init__(
        self,
        *,
        token: str | None,
        hosts: tuple[str, ...],
        check: Callable[[str], TokenInfo | None],
        audit: Audit,
        limits: Limits,
    ) -> None:
        self._access = Access(token=token, hosts=hosts, check=check)
        self._audit = audit
        self._limits = limits

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        request = cast("dict[str, Any]", scope)
        options: dict[str, Any] = getattr(request.get("route_handler"), "opt", {})
        method = str(request.get("method", "GET"))
        changes = method not in _READING and not options.get("reads")
        sending, grant = _Sending(send), OWNER
        try:
            self._check_origin(headers)
            grant = await self._granted(request, headers)
            _check_scope(grant, options, changes=changes)
        except Refused as refused:
            await _refuse(scope, sending, refused)
        else:
            scope["state"]["grant"] = grant
            await next_app(scope, self._limits.receiving(receive), sending)
        if changes and sending.status not in _UNHEARD:
            await asyncio.to_thread(
                self._audit.write, who=grant.name, method=method, path=scope["path"], status=sending.status
            )

    def _check_origin(self, headers: dict[bytes, bytes]) -> None:
        host = headers.get(b"host", b"")
        if not self._access.is_ours(host):
            raise Refused(
                403,
                "server.forbidden_host",
                f"this server is not {host_of(host) or 'nameless'}",
                "Use its loopback address.",
            )
        origin = headers.get(b"origin")
        if origin is not None and not self._access.is_ours(origin):
            raise Refused(
                403, "server.forbidden_origin", "requests of other web sites are refused", "Call from this machine."
            )

    async def _granted(self, request: dict[str, Any], headers: dict[bytes, bytes]) -> Grant:
        """Return what a request may do. One without a token is counted by its address, the others by their token."""
        is_open = request["path"] in OPEN_PATHS
        given = headers.get(b"authorization", b"")
        grant: Grant | None = OWNER
        if is_open or not self._access.is_owner(given):
            grant = None if is_open else await asyncio.to_thread(self._access.grant, given)
        client = request.get("client")
        name = f"token {grant.name}" if grant is not None else f"address {client[0] if client else ''}"
        wait_s = self._limits.requests.wait_s(name)
        if wait_s:
            hint = "Ask less often, or raise requests_per_minute where the server runs."
            raise Refused(429, "server.too_many_requests", "too many requests in a minute", hint, wait_s=wait_s)
        if grant is None and not is_open:
            hint = "Send the token that the server wrote to server.json as `Authorization: Bearer TOKEN`."
            raise Refused(401, "server.unauthorized", "the token is missing or wrong", hint)
        return grant or OWNER


def _check_scope(grant: Grant, options: dict[str, Any], *, changes: bool) -> None:
    if grant.collections is not None and not options.get("scoped"):
        raise Refused(
            403, "server.forbidden", "this token sees single collections, not the library", "Use another token."
        )
    if grant.read_only and changes:
        raise Refused(403, "server.forbidden", "this token only reads", "Use another token.")


class _Sending:
    """Sends an answer with the headers that keep it from being run, framed, guessed at or kept; knows its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            there = {name.lower() for name, _ in message["headers"]}
            extra = [one for one in _HEADERS if one[0] not in there]
            message = {**message, "headers": [*message["headers"], *extra]}
        await self._send(message)


async def _refuse(scope: Scope, send: Send, refused: Refused) -> None:
    told: dict[str, object] = {
        "error": {"code": refused.code, "message": refused.message, "hint": refused.hint},
    }
    if scope["path"].startswith("/v1/"):
        code = _OPENAI_CODES.get(refused.status, "invalid_request")
        told = enveloped(refused.status, code, f"{refused.message}. {refused.hint}")
    extra = [(b"www-authenticate", b"Bearer")] if refused.status == 401 else []
    if refused.wait_s:
        extra.append((b"retry-after", str(refused.wait_s).encode()))
    headers = [(b"content-type", b"application/json"), *extra]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(told).encode(), "more_body": False})
