"""What plugins can add to the server: applications of their own beside its routes.

Entry-point group and pluggy project are ``lilbee_server``. A plugin needs no import from here: it marks its function by
``pluggy.HookimplMarker("lilbee_server")``.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, Protocol

import pluggy
from litestar.datastructures import State

from lilbee_core import Lilbee
from lilbee_core.types import Delta

if TYPE_CHECKING:
    from lilbee_server.audit import Audit
    from lilbee_server.feeds import Feeds
    from lilbee_server.replies import Replies
    from lilbee_server.signin import SignIns
    from lilbee_server.turns import Turns

GROUP = "lilbee_server"
hookspec = pluggy.HookspecMarker(GROUP)


class Host:
    """What the server lends to what is mounted on it. A request's grant is in ``scope["state"]["grant"]``."""

    def __init__(
        self, library: Lilbee, *, turns: Turns, replies: Replies, feeds: Feeds, signins: SignIns, audit: Audit
    ) -> None:
        self.library = library
        self.turns = turns
        self.replies = replies
        self.feeds = feeds
        self.signins = signins
        self._audit = audit

    async def write(self, start: Callable[[], Iterator[Delta]]) -> AsyncGenerator[Delta]:
        """Yield the pieces of a reply that is written when its turn comes. Who leaves early ends it.

        Raises:
            Busy: If the turn does not come in time.
        """
        generation = await self.turns.generate(start)
        try:
            async for _, delta in generation.follow():
                if delta is not None:
                    yield delta
        finally:
            generation.stop()

    def state(self) -> State:
        """Return what functions that routes and pages share look for in the state of an application."""
        return State(
            {
                "library": self.library,
                "turns": self.turns,
                "replies": self.replies,
                "feeds": self.feeds,
                "signins": self.signins,
                "host": self,
            }
        )

    def record(self, who: str, what: str, *, failed: bool = False) -> None:
        """Write down who changed what. Blocks for as long as a line takes."""
        self._audit.write(who=who, method="CALL", path=what, status=400 if failed else 200)


class Mount(Protocol):
    """An ASGI application under a path; at ``/`` it is asked for whatever no route of the server begins with.

    The server has checked Host, Origin and token before it is called; what the grant of the token allows beyond that
    is for the application to hold to, unless it is a `GuardedMount`.
    """

    @property
    def path(self) -> str: ...

    @property
    def app(self) -> Callable[..., Any]: ...

    def lifespan(self) -> AbstractAsyncContextManager[None]: ...


class GuardedMount(Mount, Protocol):
    """A mount that lets the server check grants as well.

    `options` without ``reads`` keeps tokens that only read from all methods that may change something, and writes
    these to the log of changes; without ``scoped`` it keeps tokens of single collections out. ``open`` is a tuple of
    paths, or of beginnings of paths that end in ``/``, that need no token; ``sign_in`` is the path where browsers
    without one are sent.
    """

    @property
    def options(self) -> Mapping[str, Any]: ...


@hookspec
def lilbee_mounts(host: Host) -> Iterable[Mount]:  # type: ignore[empty-body]
    """Return what to mount. Must be cheap: the server does not listen before."""
