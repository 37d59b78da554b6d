"""The library as a whole: begun, and begun anew."""

from __future__ import annotations

from typing import Any

from lilbee_core.errors import InvalidArgument
from lilbee_mcp.offers import Arguments, Call, offer
from lilbee_mcp.tools.documents import Wait
from lilbee_mcp.work import started


class Init(Arguments):
    """No arguments."""


class Reset(Arguments):
    """What `reset` takes."""

    confirm: bool = False
    wait_s: Wait = 30


@offer(Init, "Init", repeats=True)
async def init(call: Call, asked: Init) -> dict[str, Any]:
    """Make the folder that is served a library of the user's own, if it is none yet."""
    return {"library": await call.run(call.library.init), "folder": str(call.library.root or call.library.data_dir)}


@offer(Reset, "Reset", destroys=True, repeats=True)
async def reset(call: Call, asked: Reset) -> dict[str, Any]:
    """Throw the index away and build it anew from the files. Needs `confirm`. Waits like sync."""
    if not asked.confirm:
        raise InvalidArgument("the index is thrown away only with confirm", hint="Ask the user, then set confirm.")
    return await started(call, "rebuild", wait_s=asked.wait_s)
