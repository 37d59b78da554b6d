"""Errors of the core as HTTP answers: the same code, message and hint as everywhere."""

from __future__ import annotations

from litestar import Request, Response
from litestar.datastructures import State

from lilbee_core import errors

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
