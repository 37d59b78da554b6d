"""Errors of the core as HTTP answers: the same code, message and hint as everywhere."""

from __future__ import annotations

import logging
import re

from litestar import Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException, ValidationException

from lilbee_core import errors
from lilbee_server.limits import TooSlow
from lilbee_server.replies import Running
from lilbee_server.turns import Busy

log = logging.getLogger(__name__)

# What the framework says: "Expected `int | null`, got `str`", "Expected `int` >= 1".
_EXPECTED = re.compile(r"Expected `(\w+)[^`]*`(?: ([<>]=? \d+))?")
_UNKNOWN = re.compile(r"Object contains unknown field `([^`]+)`")
_LEFT_OUT = re.compile(r"Object missing required field `([^`]+)`")
_MISSING = re.compile(r"Missing required \w+ parameter '([^']+)'")
_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "array": "a list",
    "object": "an object",
}


# What is served is data: nothing of it is to be run, framed, guessed at or kept.
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


TOO_DEEP = "the request nests too deeply"


class Forbidden(errors.LilbeeError):
    """Something that requests may not do here."""

    default_code = "server.forbidden"


class TooLarge(errors.LilbeeError):
    """A body is larger than it may be."""

    default_code = "server.too_large"


_STATUS: tuple[tuple[type[errors.LilbeeError], int], ...] = (
    (errors.EmptyQuery, 400),
    (errors.InvalidFilter, 400),
    (errors.InvalidArgument, 400),
    (errors.SettingsError, 400),
    (errors.PlacementError, 400),
    (errors.InputTooLong, 400),
    (Forbidden, 403),
    (errors.BlockedAddress, 403),
    (TooSlow, 408),
    (TooLarge, 413),
    (errors.UnsupportedFormat, 415),
    (errors.NotFound, 404),
    (errors.ModelNotFound, 404),
    (errors.EmbedderMismatch, 409),
    (Running, 409),
    (Busy, 429),
    (errors.StoreLocked, 503),
    (errors.SourceUnavailable, 503),
    (errors.ProviderUnavailable, 503),
    (errors.FleetError, 503),
    (errors.ExtraMissing, 503),
    (errors.ProviderError, 502),
    (errors.CrawlError, 502),
)


_STATUS_OF_CODE = {
    "provider.context_overflow": 400,
    "conversation.changed": 409,
    "library.gone": 503,
    "store.damaged": 503,
}
"""Where the kind of the error says less than its code."""


def status_of(error: errors.LilbeeError) -> int:
    """Return the HTTP status of an error."""
    if error.code in _STATUS_OF_CODE:
        return _STATUS_OF_CODE[error.code]
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def headers_of(error: Exception) -> dict[str, str]:
    """Return the headers of the answer for an error."""
    return {**SECURITY_HEADERS, **({"Retry-After": "1"} if isinstance(error, Busy) else {})}


def lilbee_problem(request: Request[object, object, State], error: errors.LilbeeError) -> Response[dict[str, object]]:
    """Return the answer for an error of the core."""
    return Response({"error": error.to_dict()}, status_code=status_of(error), headers=headers_of(error))


def http_problem(request: Request[object, object, State], error: HTTPException) -> Response[dict[str, object]]:
    """Return the answer for a request that no route takes as it is, in the same form."""
    if isinstance(error, ValidationException):
        return _problem(
            "argument.invalid", wrong_parameters(error, request), "Correct the parameters.", error.status_code
        )
    code, hint = {
        404: ("server.no_route", "GET /schema/openapi.json lists every address."),
        405: ("server.no_method", "GET /schema/openapi.json lists the methods of every address."),
    }.get(error.status_code, ("server.refused", "Correct the request."))
    return _problem(code, f"{request.method} {request.url.path}: {error.detail}", hint, error.status_code)


def deep_problem(request: Request[object, object, State], error: RecursionError) -> Response[dict[str, object]]:
    """Return the answer for a body that nests so deeply that it cannot be read; the log tells where that was."""
    log.warning("%s %s nests too deeply", request.method, request.url.path, exc_info=error)
    return _problem("argument.invalid", TOO_DEEP, "Send a flatter body.", 400)


def bug_problem(request: Request[object, object, State], error: Exception) -> Response[dict[str, object]]:
    """Return the answer for anything else, which is lilbee's own fault; the log has the traceback."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    message = f"something went wrong inside lilbee: {type(error).__name__}"
    return _problem("internal", message, "Please report it, with what the server wrote to its log.", 500)


def _problem(code: str, message: str, hint: str, status: int) -> Response[dict[str, object]]:
    body = {"code": code, "message": message, "hint": hint}
    return Response({"error": body}, status_code=status, headers=dict(SECURITY_HEADERS))


def wrong_parameters(error: ValidationException, request: Request[object, object, State]) -> str:
    """Say in a line which parameters are wrong, and what they must be."""
    return "; ".join(_wrong(error, request))


def _wrong(error: ValidationException, request: Request[object, object, State]) -> list[str]:
    """Say which parameters are wrong, and what they must be."""
    extra = error.extra if isinstance(error.extra, list) else []
    missing = _MISSING.search(error.detail)
    if missing is not None and not extra:
        return [f"{missing[1]} is missing"]
    return [_told(str(one.get("key", "a parameter")), str(one.get("message", "")), request) for one in extra] or [
        error.detail
    ]


def _told(name: str, message: str, request: Request[object, object, State]) -> str:
    unknown = _UNKNOWN.match(message)
    if unknown is not None:
        return f"there is no field {unknown[1]!r}"
    left_out = _LEFT_OUT.match(message)
    if left_out is not None:
        return f"{'' if name == 'data' else f'{name}.'}{left_out[1]} is missing"
    kind = _EXPECTED.match(message)
    wanted = _WANTED.get(kind[1], "") if kind is not None else ""
    if not wanted:
        return f"{name}: {message or 'is not allowed'}"
    least = ""
    if kind is not None and kind[2]:
        least = kind[2].replace(">=", " of at least").replace("<=", " of at most")
    given = f", got {request.query_params[name]!r}" if name in request.query_params else ""
    return f"{name} must be {wanted}{least}{given}"
