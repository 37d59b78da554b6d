"""What plugins can add to the server: applications of their own beside its routes.

Entry-point group and pluggy project are ``lilbee_server``. A plugin needs no import from here: it marks its function by
``pluggy.HookimplMarker("lilbee_server")``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

import pluggy

from lilbee_core import Lilbee
from lilbee_core.types import Delta

if TYPE_CHECKING:
    from lilbee_server.audit import Audit
    from lilbee_server.turns import Turns

GROUP = "lilbee_server"
hookspec = pluggy.HookspecMarker(GROUP)


class Host:
    """What the server lends to what is mounted on it. A request's grant is in ``scope["state"]["grant"]``."""

    def __init__(self, library: Lilbee, *, turns: Turns, audit: Audit) -> None:
        self.library = library
        self._turns = turns
        self._audit = audit

    async def write(self, start: Callable[[], Iterator[Delta]]) -> AsyncGenerator[Delta]:
        """Yield the pieces of a reply that is written when its turn comes. Who leaves early ends it.

        Raises:
            Busy: If the turn does not come in time.
        """
        generation = await self._turns.generate(start)
        try:
            async for _, delta in generation.follow():
                if delta is not None:
                    yield delta
        finally:
            generation.stop()

    def record(self, who: str, what: str, *, failed: bool = False) -> None:
        """Write down who changed what. Blocks for as long as a line takes."""
        self._audit.write(who=who, method="CALL", path=what, status=400 if failed else 200)


class Mount(Protocol):
    """An ASGI application under a path.

    The server has checked Host, Origin and token before it is called; what the grant of the token allows beyond that
    is for the application to hold to.
    """

    @property
    def path(self) -> str: ...

    @property
    def app(self) -> Callable[..., Any]: ...

    def lifespan(self) -> AbstractAsyncContextManager[None]: ...


@hookspec
def lilbee_mounts(host: Host) -> Iterable[Mount]:  # type: ignore[empty-body]
    """Return what to mount. Must be cheap: the server does not listen before."""
