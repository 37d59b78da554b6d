"""What the token of a request allows."""

from __future__ import annotations

from typing import Any, TypeAlias

from litestar import Request
from litestar.di import NamedDependency

from lilbee_core.tokens import Grant

Granted: TypeAlias = NamedDependency[Grant]
"""What a route calls `grant` to have what the request's token allows."""


def grant_of(request: Request[Any, Any, Any]) -> Grant:
    """Return what the guard found out about a request."""
    grant: Grant = request.scope["state"]["grant"]
    return grant
