"""Errors as tool results that an agent can act on."""

from __future__ import annotations

import json
import logging
from typing import Any

from mcp import MCPError
from mcp.types import INTERNAL_ERROR, INVALID_PARAMS, CallToolResult, TextContent
from pydantic import ValidationError

from lilbee_core import LilbeeError
from lilbee_core.errors import InvalidArgument, ModelNotFound, NotFound

log = logging.getLogger(__name__)

_WANTED = {
    "int": "a whole number",
    "string": "a text",
    "bool": "true or false",
    "float": "a number",
    "list": "a list",
    "tuple": "a list",
    "dict": "an object",
}
_LONGEST = 80


class Forbidden(LilbeeError):
    """Something that this client may not do."""

    default_code = "server.forbidden"


class Busy(LilbeeError):
    """Others are being answered."""

    default_code = "server.busy"


def failed(error: Exception, doing: str) -> CallToolResult:
    """Return the result of a call that failed: its code, what happened, and what to do."""
    known = known_error(error, doing)
    return CallToolResult(
        content=[TextContent(type="text", text=told(known))],
        structured_content={"error": known.to_dict()},
        is_error=True,
    )


def refused(error: Exception, uri: str) -> MCPError:
    """Return the error of the protocol for a resource or a prompt that cannot be had."""
    known = known_error(error, uri)
    code = INVALID_PARAMS if isinstance(known, NotFound | ModelNotFound | InvalidArgument) else INTERNAL_ERROR
    return MCPError(code=code, message=told(known), data={"uri": uri, **known.to_dict()})


def told(error: LilbeeError) -> str:
    """Return an error in a line: code, what happened, what to do."""
    hint = f" {error.hint}" if error.hint else ""
    return f"{error.code}: {error.message.rstrip('.')}.{hint}"


def known_error(error: Exception, doing: str) -> LilbeeError:
    """Return an error in our own words. Of a bug only the kind is told; the log has the rest."""
    if isinstance(error, LilbeeError):
        return error
    log.error("%s failed", doing, exc_info=error)
    return LilbeeError(
        f"something went wrong inside lilbee: {type(error).__name__}",
        hint="Please report it, with what the server wrote to standard error.",
        code="internal",
    )


def wrong_arguments(error: ValidationError, name: str, allowed: dict[str, Any]) -> InvalidArgument:
    """Say which arguments are wrong, and what they must be."""
    details = error.errors(include_url=False)
    said = "; ".join(dict.fromkeys(_wrong(one) for one in details))
    hint = f"Correct the arguments of {name}."
    if any(one["type"] == "extra_forbidden" for one in details):
        hint = f"{name} takes {', '.join(allowed) or 'no arguments'}."
    return InvalidArgument(said, hint=hint)


def _wrong(detail: Any) -> str:
    name = ".".join(str(part) for part in detail["loc"]) or "the arguments"
    kind = str(detail["type"])
    limits: dict[str, Any] = detail.get("ctx") or {}
    if kind == "missing":
        return f"{name} is missing"
    if kind == "extra_forbidden":
        return f"there is no argument {_shown(name)}"
    if "max_length" in limits:
        unit = "characters" if kind.startswith("string") else "entries"
        return f"{name} is too long: at most {limits['max_length']:,} {unit}"
    if "ge" in limits or "le" in limits:
        bound = f"at least {limits['ge']}" if "ge" in limits else f"at most {limits['le']}"
        return f"{name} must be {bound}, got {_shown(detail['input'])}"
    if kind == "literal_error":
        return f"{name} must be {limits.get('expected', 'something else')}, got {_shown(detail['input'])}"
    wanted = next((words for start, words in _WANTED.items() if kind.startswith(start)), "something else")
    return f"{name} must be {wanted}, got {_shown(detail['input'])}"


def _shown(value: object) -> str:
    try:
        text = repr(value) if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
