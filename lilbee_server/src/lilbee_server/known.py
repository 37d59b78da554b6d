"""Parameters that a route does not know are refused: a misspelled filter would be left out, and too much be found."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, get_args

from litestar import Request
from litestar.handlers import BaseRouteHandler
from litestar.params import QueryParameter

from lilbee_core.errors import InvalidArgument


async def check_parameters(request: Request[Any, Any, Any]) -> None:
    """Make sure that the route of a request knows all of its parameters, and that none is null.

    Those of OpenAI's interface are left alone: its clients send some that make no difference here.

    Raises:
        InvalidArgument: If it does not know one. An address cannot say null, but "null" would be taken for it where
            something else than text is asked for.
    """
    given = request.query_params
    if not given or not request.url.path.startswith("/api/"):
        return
    known = _known(request.route_handler)
    for name, value in given.multi_items():
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), n=1)
            there = ", ".join(sorted(known)) or "none"
            hint = f"Did you mean {near[0]}?" if near else f"Parameters of this address: {there}."
            raise InvalidArgument(f"there is no parameter {name!r}", hint=hint)
        if value == "null" and not known[name]:
            raise InvalidArgument(f"{name} cannot be 'null'", hint="Leave it out where there is none.")


@lru_cache(maxsize=1_000)
def _known(handler: BaseRouteHandler) -> Mapping[str, bool]:
    """Return the names of the parameters of a route, and whether they take any text."""
    return {
        field.kwarg_definition.name or field.name: _takes_text(field.annotation)
        for field in handler.parsed_fn_signature.parameters.values()
        if isinstance(field.kwarg_definition, QueryParameter)
    }


def _takes_text(kind: object) -> bool:
    return kind is str or any(map(_takes_text, get_args(kind)))
