"""The ASGI application over an open library. Owns no library, keeps no globals."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from litestar import Litestar
from litestar.config.app import AppConfig
from litestar.di import Provide
from litestar.exceptions import HTTPException
from litestar.types import ControllerRouterHandler

from lilbee_core import Lilbee, LilbeeError
from lilbee_server.audit import Audit
from lilbee_server.describe import openapi_config
from lilbee_server.feeds import Feeds
from lilbee_server.grants import grant_of
from lilbee_server.guard import Guard
from lilbee_server.hookspecs import Host, Mount
from lilbee_server.known import check_parameters
from lilbee_server.limits import Limit, Limits
from lilbee_server.mounts import handler_of, lifespan_of
from lilbee_server.problems import bug_problem, deep_problem, http_problem, lilbee_problem
from lilbee_server.replies import Replies
from lilbee_server.routes import (
    ask,
    config,
    conversations,
    crawl,
    documents,
    health,
    jobs,
    knowledge,
    models,
    placement,
    search,
    signin,
    status,
    uploads,
    v1,
    wiki,
)
from lilbee_server.signin import SignIns
from lilbee_server.turns import WAIT_S, Turns

MOST_BODY_BYTES = 10_000_000
THREADS = 40
"""How many requests are worked on at once; the others wait for their turn."""
HANDLERS: list[ControllerRouterHandler] = [
    health.health,
    status.status,
    search.search,
    search.explain,
    crawl.crawl,
    crawl.pages,
    crawl.forget,
    placement.gpus,
    placement.router,
    jobs.jobs,
    jobs.job,
    jobs.cancel,
    jobs.events,
    ask.ask,
    ask.stream,
    conversations.router,
    conversations.chat,
    conversations.chat_stream,
    documents.documents,
    documents.source,
    documents.collections,
    documents.sync,
    documents.add,
    documents.put,
    documents.remove,
    knowledge.topics,
    knowledge.related,
    knowledge.models,
    models.router,
    wiki.router,
    config.router,
    signin.sign_in,
    uploads.upload,
    uploads.remove,
    v1.router,
]
"""Every address that is served."""
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")


def create_app(
    library: Lilbee,
    *,
    token: str | None,
    hosts: Sequence[str] = LOOPBACK,
    wait_s: float = WAIT_S,
    mounts: Callable[[Host], Sequence[Mount]] | None = None,
) -> Litestar:
    """Return an application that serves `library`.

    Args:
        library: An open library; the caller closes it.
        token: What requests must carry as ``Authorization: Bearer``; None lets everybody in (tests only).
        hosts: Host names that requests may name; others are refused, so that no web page can reach in.
        wait_s: How long a request for a reply waits for those before it.
        mounts: Says which applications of plugins are served as well, such as `find_mounts`.
    """
    turns, audit, signins = Turns(wait_s), Audit(library.data_dir), SignIns(knows=partial(_may_all, library))
    guard = Guard(
        token=token,
        hosts=tuple(hosts),
        check=library.tokens.check,
        signins=signins,
        audit=audit,
        limits=_limits(library),
    )
    host = Host(library, turns=turns, replies=Replies(turns), feeds=Feeds(), signins=signins, audit=audit)
    mounted = mounts(host) if mounts is not None else ()
    return Litestar.from_config(
        AppConfig(
            route_handlers=[*HANDLERS, *map(handler_of, mounted)],
            lifespan=[lifespan_of(one) for one in mounted],
            state=host.state(),
            dependencies={"grant": Provide(grant_of, sync_to_thread=False)},
            middleware=[guard],
            before_request=check_parameters,
            on_startup=[_enough_threads],
            exception_handlers={
                LilbeeError: lilbee_problem,
                HTTPException: http_problem,
                RecursionError: deep_problem,
                Exception: bug_problem,
            },
            openapi_config=openapi_config(),
            request_max_body_size=MOST_BODY_BYTES,
            debug=False,
        )
    )


def _may_all(library: Lilbee, token: str) -> bool:
    """Whether there is a token of this name that may do everything."""
    return any(one.name == token and not one.read_only and not one.collections for one in library.tokens.list())


def _limits(library: Lilbee) -> Limits:
    chosen = library.settings.server
    return Limits(requests=Limit(chosen.requests_per_minute), arrival_s=chosen.arrival_timeout_s)


async def _enough_threads(app: Litestar) -> None:
    """Let a few slow requests delay no others: by itself, a machine of two cores would work on six at once."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(THREADS, thread_name_prefix="lilbee-request"))
