"""Errors of the core as HTTP answers: the same code, message and hint as everywhere."""

from __future__ import annotations

import logging

from litestar import Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException, ValidationException

from lilbee_core import errors

log = logging.getLogger(__name__)

_STATUS: tuple[tuple[type[errors.LilbeeError], int], ...] = (
    (errors.EmptyQuery, 400),
    (errors.InvalidFilter, 400),
    (errors.InvalidArgument, 400),
    (errors.SettingsError, 400),
    (errors.NotFound, 404),
    (errors.ModelNotFound, 404),
    (errors.EmbedderMismatch, 409),
    (errors.StoreLocked, 503),
    (errors.SourceUnavailable, 503),
    (errors.ProviderUnavailable, 503),
    (errors.ProviderError, 502),
)


def status_of(error: errors.LilbeeError) -> int:
    """Return the HTTP status of an error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def lilbee_problem(request: Request[object, object, State], error: errors.LilbeeError) -> Response[dict[str, object]]:
    """Return the answer for an error of the core."""
    return Response({"error": error.to_dict()}, status_code=status_of(error))


def http_problem(request: Request[object, object, State], error: HTTPException) -> Response[dict[str, object]]:
    """Return the answer for a request that no route takes as it is, in the same form."""
    if isinstance(error, ValidationException):
        return _problem("argument.invalid", "; ".join(_wrong(error)), "Correct the parameters.", error.status_code)
    code, hint = {
        404: ("server.no_route", "GET /schema/openapi.json lists every address."),
        405: ("server.no_method", "GET /schema/openapi.json lists the methods of every address."),
    }.get(error.status_code, ("server.refused", "Correct the request."))
    return _problem(code, f"{request.method} {request.url.path}: {error.detail}", hint, error.status_code)


def bug_problem(request: Request[object, object, State], error: Exception) -> Response[dict[str, object]]:
    """Return the answer for anything else, which is lilbee's own fault; the log has the traceback."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    message = f"something went wrong inside lilbee: {type(error).__name__}"
    return _problem("internal", message, "Please report it, with what the server wrote to its log.", 500)


def _problem(code: str, message: str, hint: str, status: int) -> Response[dict[str, object]]:
    return Response({"error": {"code": code, "message": message, "hint": hint}}, status_code=status)


def _wrong(error: ValidationException) -> list[str]:
    """Say which parameters are wrong, and why."""
    extra = error.extra if isinstance(error.extra, list) else []
    wrong = [f"{one.get('key', 'a parameter')}: {one.get('message', 'is not allowed')}" for one in extra]
    return wrong or [error.detail]
