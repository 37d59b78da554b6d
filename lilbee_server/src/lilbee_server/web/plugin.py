"""Mounts the page at `/`. It is loaded for the first request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pluggy

from lilbee_server.signin import PATH

if TYPE_CHECKING:
    from litestar import Litestar
    from litestar.types import Receive, Scope, Send

    from lilbee_server.hookspecs import Host

hookimpl = pluggy.HookimplMarker("lilbee_server")

STATIC = "/static/"
_OWN = frozenset({"_ls_connection_state", "litestar_app", "route_handler", "path_params", "path_template"})
"""What the framework notes about a request for itself; of the page's application it notes that anew."""


class Page:
    """Where the page is. The server checks who asks; only files without content and the sign-in are open."""

    path = "/"
    options: Mapping[str, Any] = {"open": (STATIC, PATH), "sign_in": PATH}

    def __init__(self, host: Host) -> None:
        self._host = host
        self._app: Litestar | None = None
        self._building = asyncio.Lock()

    async def app(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        async with self._building:
            if self._app is None:
                self._app = await asyncio.to_thread(_build, self._host)
        own: Any = {name: value for name, value in scope.items() if name not in _OWN}
        own["state"] = {"grant": scope["state"]["grant"]}
        await self._app(own, receive, send)

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Nothing runs beside the requests."""
        yield


@hookimpl
def lilbee_mounts(host: Host) -> Sequence[Page]:
    """Mount the page."""
    return [Page(host)]


def _build(host: Host) -> Litestar:
    from lilbee_server.web.app import create_page

    return create_page(host)
