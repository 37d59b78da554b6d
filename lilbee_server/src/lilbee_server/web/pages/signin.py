"""Signing in by a code that works once, and out."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import QueryParameter, URLEncodedBody

from lilbee_server.bodies import Body
from lilbee_server.guard import session_of
from lilbee_server.library import signins_of
from lilbee_server.signin import LONGEST_S, PATH, cookie_name
from lilbee_server.web.views import redirect, render, safe_next

_WRONG = "This code does not count: it was used already, it is too old, or it was cut off."


class Code(Body):
    """A code that somebody pasted, and the page to go to."""

    code: str = ""
    next: str = "/"


@get(PATH)
async def show(
    request: Request[Any, Any, Any],
    state: State,
    code: Annotated[str | None, QueryParameter()] = None,
    to: Annotated[str | None, QueryParameter(name="next")] = None,
) -> Response[str]:
    """Sign in by the code of an address; without one, say how to get one."""
    return await _signed_in(request, state, code, to)


@post(PATH, status_code=200)
async def give(request: Request[Any, Any, Any], state: State, data: URLEncodedBody[Code]) -> Response[str]:
    """Sign in by a code that was pasted: the code alone, or the whole address."""
    return await _signed_in(request, state, data.code.rpartition("code=")[2].strip(), data.next)


@post("/sign-out")
async def leave(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """End the session."""
    signins_of(state).end(session_of(dict(request.scope["headers"])))
    gone = f"{_cookie(request)}=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict"
    return redirect(request, PATH, headers={"Set-Cookie": gone, "Clear-Site-Data": '"cache"'})


async def _signed_in(request: Request[Any, Any, Any], state: State, code: str | None, to: str | None) -> Response[str]:
    there = safe_next(to)
    if not code:
        return render(request, "sign_in.html", problem="", next=there)
    signins = signins_of(state)
    secret = signins.begin(code)
    if secret is None:
        return render(request, "sign_in.html", status=401, problem=_WRONG, next=there)
    who = await asyncio.to_thread(signins.check, secret)
    await asyncio.to_thread(state["host"].record, who.name if who is not None else "nobody", PATH)
    # A page that moves on by itself, and no redirect: of a chain that began at another site, as in a mail that is
    # read in a browser, the cookie would not be sent.
    kept = f"{_cookie(request)}={secret}; Path=/; Max-Age={LONGEST_S}; HttpOnly; SameSite=Strict"
    return render(request, "signed_in.html", headers={"Set-Cookie": kept}, next=there)


def _cookie(request: Request[Any, Any, Any]) -> str:
    return cookie_name(request.headers.get("host", ""))


ROUTES = (show, give, leave)
