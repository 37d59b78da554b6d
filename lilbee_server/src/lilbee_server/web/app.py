"""The page as an application: the routes of its parts, one look, and errors that a reader understands."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from litestar import Litestar, Request, Response, Router
from litestar.config.app import AppConfig
from litestar.di import Provide
from litestar.exceptions import HTTPException, ValidationException
from litestar.handlers import BaseRouteHandler

from lilbee_core import LilbeeError
from lilbee_server.app import MOST_BODY_BYTES
from lilbee_server.grants import grant_of
from lilbee_server.hookspecs import Host
from lilbee_server.problems import headers_of, status_of, wrong_parameters
from lilbee_server.web import assets
from lilbee_server.web.asking import Asked
from lilbee_server.web.pages import (
    adding,
    ask,
    chat,
    collections,
    conversations,
    documents,
    drafts,
    jobs,
    models,
    reading,
    search,
    settings,
    signin,
    status,
    theme,
    wiki,
)
from lilbee_server.web.pictures import Pictures
from lilbee_server.web.views import Link, Views, render_problem

log = logging.getLogger(__name__)

PAGES: Sequence[ModuleType] = (
    search,
    reading,
    signin,
    theme,
    ask,
    conversations,
    chat,
    documents,
    adding,
    jobs,
    wiki,
    drafts,
    collections,
    models,
    settings,
    status,
)
"""Modules of pages; each has its `ROUTES`."""
NAVIGATION = (
    Link("/", "Search"),
    Link("/chat", "Chat"),
    Link("/documents", "Documents"),
    Link("/jobs", "Jobs"),
    Link("/wiki", "Wiki"),
    Link("/collections", "Collections"),
    Link("/models", "Models"),
    Link("/settings", "Settings"),
)
"""What the head of every page links to, as far as it is there."""


def create_page(host: Host) -> Litestar:
    """Return the application. It is mounted on the server, which has checked who asks."""
    routes: list[BaseRouteHandler] = [assets.static]
    for module in PAGES:
        routes += module.ROUTES
    there = {path for one in routes for path in one.paths}
    state = host.state()
    state["pictures"] = Pictures(host.library)
    state["asked"] = Asked()
    state["views"] = Views([link for link in NAVIGATION if link.to in there])
    return Litestar.from_config(
        AppConfig(
            # As one router: of handlers that share a path, Litestar 2.25 wraps the function of the first one twice.
            route_handlers=[Router("/", route_handlers=routes)],
            state=state,
            dependencies={"grant": Provide(grant_of, sync_to_thread=False)},
            exception_handlers={
                LilbeeError: _lilbee_problem,
                HTTPException: _http_problem,
                Exception: _bug_problem,
            },
            openapi_config=None,
            request_max_body_size=MOST_BODY_BYTES,
            debug=False,
        )
    )


def _lilbee_problem(request: Request[Any, Any, Any], error: LilbeeError) -> Response[str]:
    return render_problem(request, error.message, error.hint, status=status_of(error), headers=headers_of(error))


def _http_problem(request: Request[Any, Any, Any], error: HTTPException) -> Response[str]:
    if isinstance(error, ValidationException):
        return render_problem(request, wrong_parameters(error, request), "Correct the address.", status=400)
    told, hint = {
        404: ("There is no such page.", "Choose one of those above."),
        405: ("This page takes no such request.", "Go back, and load the page again."),
        413: ("That is larger than a request may be.", "Send less at once."),
    }.get(error.status_code, ("The request cannot be understood.", "Go back, and load the page again."))
    return render_problem(request, told, hint, status=error.status_code)


def _bug_problem(request: Request[Any, Any, Any], error: Exception) -> Response[str]:
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    told = f"Something went wrong inside lilbee: {type(error).__name__}."
    return render_problem(request, told, "Please report it, with what the server wrote to its log.", status=500)
