"""Parameters that a route does not know are refused: a misspelled filter would be left out, and too much be found."""

from __future__ import annotations

import difflib
from typing import Any

from litestar import Request
from litestar.params import QueryParameter

from lilbee_core.errors import InvalidArgument


async def check_parameters(request: Request[Any, Any, Any]) -> None:
    """Make sure that the route of a request knows all of its parameters.

    Those of OpenAI's interface are left alone: its clients send some that make no difference here.

    Raises:
        InvalidArgument: If it does not know one.
    """
    given = request.query_params
    if not given or not request.url.path.startswith("/api/"):
        return
    known = {
        field.kwarg_definition.name or field.name
        for field in request.route_handler.parsed_fn_signature.parameters.values()
        if isinstance(field.kwarg_definition, QueryParameter)
    }
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            there = ", ".join(sorted(known)) or "none"
            hint = f"Did you mean {near[0]}?" if near else f"Parameters of this address: {there}."
            raise InvalidArgument(f"there is no parameter {name!r}", hint=hint)
