"""Who may ask what: a token and what it allows, a Host that is ours, and no foreign Origin."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import ExitStack
from http.cookies import CookieError, SimpleCookie
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, urlsplit

from litestar.enums import ScopeType
from litestar.middleware import ASGIMiddleware
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from lilbee_core.background import foreground
from lilbee_core.tokens import OWNER, Access, Grant, host_of
from lilbee_server.audit import Audit
from lilbee_server.limits import Limits
from lilbee_server.openai.errors import enveloped
from lilbee_server.problems import SECURITY_HEADERS
from lilbee_server.signin import SignIns, cookie_name

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
        signins: Sessions of people at the page, which count like a token; None where nobody signs in.
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
        signins: SignIns | None = None,
    ) -> None:
        self._access = Access(token=token, hosts=hosts, check=check)
        self._signins = signins
        self._audit = audit
        self._limits = limits

    async def handle(self, scope: Scope, receive: Receive, send: Send, next_app: ASGIApp) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        request = cast("dict[str, Any]", scope)
        options: dict[str, Any] = getattr(request.get("route_handler"), "opt", {})
        method = str(request.get("method", "GET"))
        is_open = _is_open(str(request["path"]), options)
        changes = method not in _READING and not options.get("reads") and not is_open
        sending, grant = _Sending(send), OWNER
        try:
            self._check_origin(headers)
            grant = await self._granted(request, headers, is_open=is_open)
            _check_scope(grant, options, changes=changes)
        except Refused as refused:
            await _refuse(scope, sending, refused, options, headers)
        else:
            scope["state"]["grant"] = grant
            with sending.waited_for:
                if method in _READING:
                    sending.waited_for.enter_context(foreground())
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

    async def _granted(self, request: dict[str, Any], headers: dict[bytes, bytes], *, is_open: bool) -> Grant:
        """Return what a request may do. One without a token is counted by its address, the others by their token."""
        given = headers.get(b"authorization", b"")
        grant: Grant | None = OWNER
        if is_open or not self._access.is_owner(given):
            grant = None if is_open else await self._looked_up(given, headers)
            if grant is not None and not given and str(request["method"]) not in _READING:
                _check_same_origin(headers)
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

    async def _looked_up(self, given: bytes, headers: dict[bytes, bytes]) -> Grant | None:
        """Return what a token allows; where none is given, what the session does that a browser's cookie names."""
        if given or self._signins is None:
            return await asyncio.to_thread(self._access.grant, given)
        secret = session_of(headers)
        return await asyncio.to_thread(self._signins.check, secret) if secret else None


def session_of(headers: dict[bytes, bytes]) -> str:
    """Return the secret of the session that a request's cookie names, "" if it names none."""
    name = cookie_name(headers.get(b"host", b"").decode("latin-1"))
    try:
        found = SimpleCookie(headers.get(b"cookie", b"").decode("latin-1")).get(name)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _check_same_origin(headers: dict[bytes, bytes]) -> None:
    """Make sure that a change by cookie comes from our own page: programs at other ports count as the same site."""
    origin = headers.get(b"origin", b"").decode("latin-1").lower()
    try:
        same = urlsplit(origin).netloc == headers.get(b"host", b"").decode("latin-1").lower()
    except ValueError:
        same = False
    if not origin or not same:
        raise Refused(
            403, "server.forbidden_origin", "a signed-in browser changes things from this page alone", "Open the page."
        )


def _is_open(path: str, options: dict[str, Any]) -> bool:
    """Whether a path needs no token."""
    places: tuple[str, ...] = options.get("open", ())
    return path in OPEN_PATHS or any(path == one or (one.endswith("/") and path.startswith(one)) for one in places)


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
        self.waited_for = ExitStack()
        """What holds until the answer begins."""
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.waited_for.close()
            self.status = message["status"]
            there = {name.lower() for name, _ in message["headers"]}
            extra = [one for one in _HEADERS if one[0] not in there]
            message = {**message, "headers": [*message["headers"], *extra]}
        await self._send(message)


async def _refuse(
    scope: Scope, send: Send, refused: Refused, options: dict[str, Any], asked: dict[bytes, bytes]
) -> None:
    if refused.status == 401 and "sign_in" in options:
        await _send_to(options["sign_in"], scope, send, asked)
        return
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


async def _send_to(sign_in: str, scope: Scope, send: Send, asked: dict[bytes, bytes]) -> None:
    """Send a browser where it is signed in, and from there back to what it asked for."""
    request = cast("dict[str, Any]", scope)
    query = request.get("query_string", b"").decode("latin-1")
    to = quote(str(request["path"])) + (f"?{query}" if query else "")
    is_script = b"hx-request" in asked
    if is_script:  # it asks for a piece; the page that it is on is what to come back to
        page = urlsplit(asked.get(b"hx-current-url", b"").decode("latin-1"))
        to = page.path + (f"?{page.query}" if page.query else "")
    elif request.get("method") not in _READING:
        to = "/"
    there = f"{sign_in}?next={quote(to, safe='')}" if to not in ("", "/") else sign_in
    name, status = (b"hx-redirect", 401) if is_script else (b"location", 303)
    headers = [(name, there.encode("latin-1", "replace")), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
