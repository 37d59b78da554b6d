"""The state of the library: what is in it, by what it is found, and what is wrong with it."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, get
from litestar.datastructures import State

from lilbee_server.library import library_of
from lilbee_server.web.shown.documents import Asked
from lilbee_server.web.shown.lists import moment
from lilbee_server.web.views import render


@get("/status", sync_to_thread=True)
def show(request: Request[Any, Any, Any], state: State) -> Response[str]:
    """Show documents per state, chunks, embedder and sizes, and what is wrong."""
    found = library_of(state).status()
    states = {name for name, _ in found.states}
    rows = [
        (name, moment(str(value)) if name == "last sync" else value, Asked(state=name).url if name in states else "")
        for name, value in found.summary()
    ]
    return render(
        request,
        "status.html",
        "state",
        rows=rows,
        problems=found.problems,
        warnings=found.warnings,
        languages=found.languages,
        version=found.version,
    )


ROUTES = (show,)
