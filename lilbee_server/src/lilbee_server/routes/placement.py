"""Which card runs which model file: shown to everybody, changed only where the operator allows it."""

from __future__ import annotations

from typing import Any

from litestar import Router, delete, get, post, put
from litestar.datastructures import State
from litestar.params import JSONBody

from lilbee_core import Lilbee
from lilbee_core.types import FleetPlan, MachineSnapshot
from lilbee_server.bodies import Body
from lilbee_server.library import library_of
from lilbee_server.problems import Forbidden

PLACED = (FleetPlan, {"placement": dict[str, Any] | None})


class Wanted(Body):
    """A placement by role, or null for lilbee's own plan."""

    placement: dict[str, Any] | None = None


@get("/api/gpus", sync_to_thread=True, opt={"gives": MachineSnapshot})
def gpus(state: State) -> dict[str, Any]:
    """Return the cards and the memory of this machine, with what is free now."""
    return library_of(state).fleet.machine().to_dict()


@get(sync_to_thread=True, opt={"gives": PLACED})
def show(state: State) -> dict[str, Any]:
    """Return which server runs where, and the placement that was set, if any."""
    library = library_of(state)
    return _told(library, library.placement.show())


@post("/preview", status_code=200, sync_to_thread=True, opt={"reads": True, "gives": PLACED})
def preview(state: State, data: JSONBody[Wanted]) -> dict[str, Any]:
    """Return what a placement would make of this machine. Changes nothing."""
    library = library_of(state)
    return _told(library, library.placement.preview(data.placement))


@put(sync_to_thread=True, opt={"gives": PLACED})
def change(state: State, data: JSONBody[Wanted]) -> dict[str, Any]:
    """Use a placement from now on; servers that it moves are restarted."""
    library = placeable(library_of(state))
    return _told(library, library.placement.set(data.placement or {}))


@delete(status_code=200, sync_to_thread=True, opt={"gives": {"placement": type(None)}})
def clear(state: State) -> dict[str, Any]:
    """Let lilbee plan by itself again."""
    library = placeable(library_of(state))
    library.placement.clear()
    return {"placement": None}


def placeable(library: Lilbee) -> Lilbee:
    """Return the library if requests may move its servers, which everybody who is connected would notice.

    Raises:
        Forbidden: If they may not.
    """
    if not library.settings.fleet.allow_http_placement:
        raise Forbidden(
            "the placement is not changed over HTTP",
            hint="Run `lilbee placement set` where the server runs, or set allow_http_placement there.",
        )
    return library


def _told(library: Lilbee, plan: FleetPlan) -> dict[str, Any]:
    chosen = library.placement.get()
    return {**plan.to_dict(), "placement": chosen.to_dict() if chosen else None}


# As one router: of three handlers that share a path, Litestar 2.25 wraps the function of the first one twice.
router = Router("/api/placement", route_handlers=[show, preview, change, clear])
