"""Mounts the protocol at `/mcp` on lilbee-server, over the same open library, with the same token and grants."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pluggy

from lilbee_core import Lilbee
from lilbee_core.types import Delta
from lilbee_mcp.http import PATH, Sessions

if TYPE_CHECKING:
    from mcp.server import Server

hookimpl = pluggy.HookimplMarker("lilbee_server")


class Host(Protocol):
    """What the server lends us."""

    @property
    def library(self) -> Lilbee: ...

    def write(self, start: Callable[[], Iterator[Delta]]) -> AsyncGenerator[Delta]: ...

    def record(self, who: str, what: str, *, failed: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class Mount:
    """Where the sessions are."""

    path: str
    app: Sessions

    def lifespan(self) -> AbstractAsyncContextManager[None]:
        """Be ready as long as the server runs."""
        return self.app.lifespan()


@hookimpl
def lilbee_mounts(host: Host) -> Sequence[Mount]:
    """Mount the protocol. It is loaded for the first request."""

    def build() -> Server[Any]:
        from lilbee_mcp.server import build_server

        return build_server(host.library, write=host.write, record=recorded)

    def recorded(who: str, tool: str, failed: bool) -> None:
        host.record(who, f"{PATH} {tool}", failed=failed)

    return [Mount(PATH, Sessions(build))]
