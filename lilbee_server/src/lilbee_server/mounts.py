"""Applications of plugins, found and mounted. A plugin that fails costs only itself."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from copy import copy
from importlib.metadata import entry_points
from typing import Any, cast

import pluggy
from litestar import Litestar, asgi, route
from litestar.handlers import ASGIRouteHandler, HTTPRouteHandler
from litestar.types import ASGIApp, Method, Receive, Scope, Send

from lilbee_server import hookspecs
from lilbee_server.hookspecs import GROUP, Host, Mount

log = logging.getLogger(__name__)

_METHODS: Sequence[Method] = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
_OWN_CHECKS: dict[str, object] = {"reads": True, "scoped": True}
"""Of a mount that says nothing else: tokens of every kind get through to it, it holds to grants itself."""


def find_mounts(host: Host) -> Sequence[Mount]:
    """Return what the installed plugins mount, by the name of the plugin."""
    found: dict[str, Mount] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda one: one.name):
        try:
            mounts = mounts_of(point.load(), host)
        except Exception:
            log.exception("the plugin %r cannot be mounted", point.name)
            continue
        for mount in mounts:
            if mount.path in found:
                log.error("the plugin %r is not mounted at %s: another one is", point.name, mount.path)
            found.setdefault(mount.path, mount)
    return list(found.values())


def mounts_of(plugin: object, host: Host) -> list[Mount]:
    """Return what one plugin mounts."""
    manager = pluggy.PluginManager(GROUP)
    manager.add_hookspecs(hookspecs)
    manager.register(plugin)
    manager.check_pending()
    results = cast("list[Iterable[Mount]]", manager.hook.lilbee_mounts(host=host))
    return [mount for result in results for mount in result]


def handler_of(mount: Mount) -> ASGIRouteHandler | HTTPRouteHandler:
    """Return the route of a mount."""
    options = dict(getattr(mount, "options", _OWN_CHECKS))
    if mount.path == "/":
        return _rest(mount, options)

    @asgi(mount.path, is_mount=True, copy_scope=True, opt=options)
    async def mounted(scope: Scope, receive: Receive, send: Send) -> None:
        await mount.app(scope, receive, send)

    return mounted


def _rest(mount: Mount, options: dict[str, object]) -> HTTPRouteHandler:
    """Return the route of a mount at the root: what is mounted there by the framework's means hides other routes."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        await mount.app(copy(scope), receive, send)

    @route(["/", "/{rest:path}"], http_method=_METHODS, opt=options, include_in_schema=False)
    async def rest() -> ASGIApp:
        return call

    return rest


def lifespan_of(mount: Mount) -> Callable[[Litestar], Any]:
    """Return what runs as long as the server does."""

    @asynccontextmanager
    async def running(app: Litestar) -> AsyncGenerator[None]:
        async with mount.lifespan():
            yield

    return running
