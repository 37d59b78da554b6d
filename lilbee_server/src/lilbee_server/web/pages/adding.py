"""What comes into the library from elsewhere: files of this browser, and pages of the web."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

from litestar import Request, Response, get, post
from litestar.datastructures import State

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.errors import InvalidArgument
from lilbee_server.library import library_of
from lilbee_server.problems import status_of
from lilbee_server.routes.uploads import most_bytes, place_to_receive
from lilbee_server.web.forms import FORM, Filled, Form, Problem
from lilbee_server.web.receiving import MOST_FILES, Received, Receiver
from lilbee_server.web.shown import jobs
from lilbee_server.web.shown.documents import PATH
from lilbee_server.web.views import redirect, render

ADD = f"{PATH}/add"


@dataclass(frozen=True, slots=True)
class Refused:
    """A file that was sent and is not kept."""

    name: str
    message: str
    hint: str


@get(ADD, sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Show the forms."""
    query = request.query_params
    return _page(request, library_of(state), Form({name: query.getall(name, []) for name in ("urls",)}))


@post(f"{PATH}/upload", request_max_body_size=None)
async def upload(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Keep files of a form, and start to index them."""
    bee = library_of(state)
    with TemporaryDirectory(prefix=".upload-", dir=place_to_receive(bee), ignore_cleanup_errors=True) as folder:
        receiver = Receiver(Path(folder), most_bytes(bee))
        try:
            files = await receiver.take(request.headers.get("content-type", ""), request.stream())
        except LilbeeError as error:
            return await asyncio.to_thread(_page, request, bee, Form(), Problem(error, "files"))
        return await asyncio.to_thread(_kept, request, bee, files)


@post(f"{PATH}/crawl", sync_to_thread=True, dependencies=FORM)
def crawl(request: Request[Any, Any, Any], state: State, form: Filled) -> Response[str]:
    """Start to fetch pages of the web, and show how far it is."""
    bee = library_of(state)
    field = "urls"
    try:
        urls = _addresses(form)
        field = "depth"
        depth = form.number("depth")
        field = "pages"
        pages = form.number("pages")
    except LilbeeError as error:
        return _page(request, bee, form, Problem(error, field))
    job = bee.jobs.start(
        "crawl",
        urls=urls,
        depth=depth,
        pages=pages,
        include=list(form.lines("include")),
        exclude=list(form.lines("exclude")),
        other_sites=form.ticked("other_sites"),
    )
    return redirect(request, f"{jobs.PATH}/{job.id}")


def _addresses(form: Form) -> list[str]:
    """Return the addresses to start from.

    Raises:
        InvalidArgument: If there is none, or one is not of the web.
    """
    urls = [one if "//" in one else f"https://{one}" for one in form.lines("urls")]
    if not urls:
        raise InvalidArgument("no address is named", hint="Name at least one page to start from.")
    for url in urls:
        try:
            parts = urlsplit(url)
            is_web = parts.scheme in ("http", "https") and bool(parts.hostname)
        except ValueError:
            is_web = False
        if not is_web:
            raise InvalidArgument(f"{url[:200]!r} is no address of the web", hint="Begin it with https://.")
    return urls


def _kept(request: Request[Any, Any, Any], bee: Lilbee, files: list[Received]) -> Response[str]:
    """Keep what was received, and say what of it is not kept and why."""
    kept: list[str] = []
    refused: list[Refused] = []
    last: LilbeeError = InvalidArgument("no file was chosen", hint="Choose at least one file.")
    for one in files:
        try:
            if one.problem is not None:
                raise one.problem
            kept.append(bee.collections.upload(one.part.require(), one.name))
        except LilbeeError as error:
            last = error
            refused.append(Refused(one.name, error.message, error.hint))
    job = bee.jobs.start("add", paths=kept) if kept else None
    if job is not None and not refused:
        return redirect(request, f"{jobs.PATH}/{job.id}")
    problem = None if job is not None else Problem(last, "files")
    return _page(request, bee, Form(), problem, refused=refused, job=f"{jobs.PATH}/{job.id}" if job else "")


def _page(
    request: Request[Any, Any, Any],
    bee: Lilbee,
    form: Form,
    problem: Problem | None = None,
    *,
    refused: list[Refused] | None = None,
    job: str = "",
) -> Response[str]:
    settings = bee.settings
    return render(
        request,
        "add.html",
        status=200 if problem is None else status_of(problem.error),
        form=form,
        problem=problem,
        refused=refused or [],
        job=job,
        most_mb=most_bytes(bee) // 1_000_000,
        most_files=MOST_FILES,
        most_depth=settings.get("crawl_max_depth"),
        most_pages=settings.get("crawl_max_pages"),
        roots=[one for one in bee.collections.list() if one.root],
    )


ROUTES = (show, upload, crawl)
