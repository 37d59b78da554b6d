"""Light or dark, kept by the browser."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, post
from litestar.params import URLEncodedBody

from lilbee_server.bodies import Body
from lilbee_server.web.views import THEME_COOKIE, THEMES, redirect, safe_next

_YEAR_S = 365 * 24 * 3600


class Choice(Body):
    """A theme, and the page to go back to."""

    theme: str = THEMES[0]
    next: str = "/"


@post("/theme", sync_to_thread=False)
def choose(request: Request[Any, Any, Any], data: URLEncodedBody[Choice]) -> Response[str]:
    """Keep which theme was chosen, and show the page in it."""
    theme = data.theme if data.theme in THEMES else THEMES[0]
    cookie = f"{THEME_COOKIE}={theme}; Path=/; Max-Age={_YEAR_S}; SameSite=Strict; HttpOnly"
    return redirect(request, safe_next(data.next), headers={"Set-Cookie": cookie})


ROUTES = (choose,)
