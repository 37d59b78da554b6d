"""A way in for people: a program with a token asks for the address that signs a browser in."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.datastructures import State

from lilbee_server.grants import Granted
from lilbee_server.library import signins_of
from lilbee_server.signin import CODE_S, PATH


@post("/api/sign-in", status_code=200, opt={"gives": {"url": str, "expires_in_s": int}})
async def sign_in(request: Request[Any, Any, Any], state: State, grant: Granted) -> dict[str, Any]:
    """Return an address that signs one browser in at the page: it works once, and not for long."""
    code = signins_of(state).new_code(grant)
    return {"url": f"{request.url.scheme}://{request.url.netloc}{PATH}?code={code}", "expires_in_s": CODE_S}
