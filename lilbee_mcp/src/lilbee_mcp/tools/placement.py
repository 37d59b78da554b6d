"""Which card runs which model file."""

from __future__ import annotations

from typing import Any

from lilbee_core import Lilbee
from lilbee_core.types import FleetPlan
from lilbee_mcp.failures import Forbidden
from lilbee_mcp.offers import Arguments, Call, offer


class Nothing(Arguments):
    """No arguments."""


class Tried(Arguments):
    """A placement by role, or null for lilbee's own plan."""

    placement: dict[str, Any] | None = None


class Wanted(Arguments):
    """A placement by role."""

    placement: dict[str, Any]


@offer(Nothing, "Cards", reads=True)
async def placement_gpus(call: Call, asked: Nothing) -> dict[str, Any]:
    """Show the cards and the memory of this machine, with what is free now."""
    return (await call.run(call.library.fleet.machine)).to_dict()


@offer(Nothing, "Placement", reads=True)
async def placement_get(call: Call, asked: Nothing) -> dict[str, Any]:
    """Show which model server runs where, and the placement that was set, if any."""
    return await call.run(_told, call.library, await call.run(call.library.placement.show))


@offer(Tried, "Try a placement", reads=True)
async def placement_preview(call: Call, asked: Tried) -> dict[str, Any]:
    """Show what a placement by role would make of this machine; without one, lilbee's own plan. Changes nothing."""
    return await call.run(_told, call.library, await call.run(call.library.placement.preview, asked.placement))


@offer(Wanted, "Set a placement", destroys=True, repeats=True)
async def placement_set(call: Call, asked: Wanted) -> dict[str, Any]:
    """Use a placement by role from now on; servers that it moves are restarted."""
    await call.run(_check, call)
    return await call.run(_told, call.library, await call.run(call.library.placement.set, asked.placement))


@offer(Nothing, "Clear the placement", destroys=True, repeats=True)
async def placement_clear(call: Call, asked: Nothing) -> dict[str, Any]:
    """Let lilbee plan by itself again."""
    await call.run(_check, call)
    await call.run(call.library.placement.clear)
    return {"placement": None}


def _check(call: Call) -> None:
    """Make sure that the client may move servers, which everybody who is connected would notice.

    Raises:
        Forbidden: If it came over HTTP, and the operator does not allow that.
    """
    if call.remote and not call.library.settings.fleet.allow_http_placement:
        raise Forbidden(
            "the placement is not changed over HTTP",
            hint="Run `lilbee placement set` where the server runs, or set allow_http_placement there.",
        )


def _told(library: Lilbee, plan: FleetPlan) -> dict[str, Any]:
    chosen = library.placement.get()
    return {**plan.to_dict(), "placement": chosen.to_dict() if chosen else None}


OFFERS = (placement_gpus, placement_get, placement_preview, placement_set, placement_clear)
