"""Errors of the core as tool errors that an agent can act on."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from mcp.server.mcpserver.exceptions import ToolError

from lilbee_core import LilbeeError


@contextmanager
def told() -> Generator[None, None, None]:
    """Turn an error of the core into one that names its code, what happened and what to do."""
    try:
        yield
    except LilbeeError as error:
        hint = f" {error.hint}" if error.hint else ""
        raise ToolError(f"{error.code}: {error.message.rstrip('.')}.{hint}") from error
