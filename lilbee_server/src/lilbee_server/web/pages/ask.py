"""One question, and its answer with what it cites; nothing of it is kept in the library."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any
from urllib.parse import urlencode

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import HeaderParameter, PathParameter, QueryParameter
from litestar.response import ServerSentEvent

from lilbee_core import LilbeeError
from lilbee_core.errors import NotFound
from lilbee_server.grants import Granted
from lilbee_server.library import library_of, turns_of
from lilbee_server.problems import status_of
from lilbee_server.web.asking import Question, asked_of
from lilbee_server.web.forms import FORM, Filled
from lilbee_server.web.shown.talk import Turn, Writing, turn_of_answer
from lilbee_server.web.views import HEADERS, redirect, render
from lilbee_server.web.writing import frames, streamed, told_of

PATH = "/ask"
PATIENCE_S = 0.4
"""How long an answer is waited for before its page is shown without it: those that are only quoted come at once."""
Name = Annotated[str, PathParameter()]
Req = Request[Any, Any, Any]


@get(PATH, sync_to_thread=True)
def blank(request: Req, state: State, question: Annotated[str, QueryParameter(name="q")] = "") -> Response[str]:
    """Show the field, with a question that an address brings along; it is asked when somebody says so."""
    return _page(request, state, question=question)


@post(PATH, dependencies=FORM)
async def ask(request: Req, state: State, grant: Granted, form: Filled) -> Response[str]:
    """Begin to answer a question, and show the answer."""
    text, collections = form.raw("question") or form.raw("q"), form.several("collection")
    library = library_of(state)
    try:
        only = grant.filter(collections)
        name = await asked_of(state).ask(
            turns_of(state), text, collections, lambda: library.ask_stream(text, filters=only)
        )
        question = asked_of(state).require(name)
        await question.generation.begun(PATIENCE_S)
        await question.generation.more(1_000_000, timeout_s=PATIENCE_S)
    except LilbeeError as error:
        problem = error
        return await asyncio.to_thread(
            lambda: _page(request, state, question=text, chosen=collections, problem=problem)
        )
    return redirect(request, f"{PATH}/{name}?{urlencode({'q': text[:2000]})}")


@get(f"{PATH}/{{name:str}}", sync_to_thread=True)
def show(request: Req, state: State, name: Name, asked: Annotated[str, QueryParameter(name="q")] = "") -> Response[str]:
    """Show an answer, as far as it has come."""
    question = asked_of(state).get(name)
    if question is None:
        return _page(request, state, question=asked, gone=True, status=404)
    generation = question.generation
    message, hint = told_of(generation.error)
    problem = LilbeeError(message, hint=hint) if message else None
    turn = _turn(question)
    return _page(
        request, state, question=question.text, chosen=question.collections, name=name, turn=turn,
        running=not (generation.is_over or generation.is_stopped), problem=problem,
    )  # fmt: skip


@get(f"{PATH}/{{name:str}}/stream")
async def stream(
    request: Req,
    state: State,
    name: Name,
    last: Annotated[int | None, HeaderParameter(name="Last-Event-ID")] = None,
) -> ServerSentEvent | Response[str]:
    """Send pictures of an answer as it is written."""
    question = asked_of(state).get(name)
    if question is None:
        return Response("", status_code=204, headers=HEADERS)
    pictures = frames(
        request.app.state["views"],
        question.generation,
        whole=lambda: _turn(question),
        seen=last if last is not None else -1,
    )
    return streamed(pictures)


@post(f"{PATH}/{{name:str}}/stop")
async def stop(request: Req, state: State, name: Name) -> Response[str]:
    """End an answer; what arrived stays."""
    question = asked_of(state).require(name)
    question.generation.stop()
    return redirect(request, f"{PATH}/{name}")


def _turn(question: Question) -> Turn | None:
    writing = Writing()
    writing.take(question.generation.since(0))
    if writing.answer is not None:
        return turn_of_answer(writing.answer)
    if question.generation.is_over or question.generation.is_stopped:
        return writing.cut_off(seconds=question.generation.seconds) if writing.text else None
    return writing.turn(seconds=question.generation.seconds)


def _page(
    request: Req,
    state: State,
    *,
    question: str,
    chosen: tuple[str, ...] = (),
    name: str = "",
    turn: Turn | None = None,
    running: bool = False,
    problem: LilbeeError | None = None,
    gone: bool = False,
    status: int = 200,
) -> Response[str]:
    try:
        names = [one.name for one in library_of(state).collections.list()]
    except NotFound:
        names = []
    return render(
        request, "ask.html", "thread", status=status if problem is None else status_of(problem), question=question,
        chosen=chosen, id=name, turn=turn, running=running, problem=problem, gone=gone, collections=names,
    )  # fmt: skip


ROUTES = (blank, ask, show, stream, stop)
