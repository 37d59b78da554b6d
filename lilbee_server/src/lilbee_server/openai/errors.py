"""Errors in OpenAI's envelope, with the codes that its clients know."""

from __future__ import annotations

import logging
import re
from typing import Any

from litestar import Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException, ValidationException

from lilbee_core import errors
from lilbee_server.problems import TOO_DEEP, headers_of, status_of, wrong_parameters
from lilbee_server.turns import Busy

log = logging.getLogger(__name__)

_NO_TOOLS = re.compile(r"(?:does not|doesn't) support tools|tools?\b.{0,40}\bnot supported", re.IGNORECASE)
_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class NoTools(errors.LilbeeError):
    """The model cannot call tools."""

    default_code = "server.no_tools"


def envelope(error: Exception) -> tuple[int, dict[str, Any]]:
    """Return the status and the body for an error."""
    if isinstance(error, errors.LilbeeError):
        status, code = _known(error)
        # Some clients know this case by these words alone, and shorten the conversation then.
        said = f"The prompt is too long: {error.message}" if code == "context_length_exceeded" else error.message
        message = " ".join(part for part in (_sentence(said), error.hint) if part)
    else:
        status, code, message = 500, "internal_error", f"something went wrong inside lilbee: {type(error).__name__}"
    return status, enveloped(status, code, message)


def enveloped(status: int, code: str, message: str) -> dict[str, Any]:
    """Return the body that says what is wrong."""
    kind = _TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def lilbee_error(request: Request[object, object, State], error: errors.LilbeeError) -> Response[dict[str, Any]]:
    """Return the answer for an error of the core."""
    status, body = envelope(error)
    return Response(body, status_code=status, headers=headers_of(error))


def http_error(request: Request[object, object, State], error: HTTPException) -> Response[dict[str, Any]]:
    """Return the answer for a request that no route takes as it is."""
    wrong = wrong_parameters(error, request) if isinstance(error, ValidationException) else error.detail
    return Response(
        enveloped(error.status_code, "invalid_request", wrong), status_code=error.status_code, headers=headers_of(error)
    )


def too_deep(request: Request[object, object, State], error: RecursionError) -> Response[dict[str, Any]]:
    """Return the answer for a body that nests so deeply that it cannot be read; the log tells where that was."""
    log.warning("%s %s nests too deeply", request.method, request.url.path, exc_info=error)
    return Response(enveloped(400, "invalid_request", f"{TOO_DEEP}."), status_code=400, headers=headers_of(error))


def bug(request: Request[object, object, State], error: Exception) -> Response[dict[str, Any]]:
    """Return the answer for what is lilbee's own fault; the log has the traceback."""
    log.error("%s %s failed", request.method, request.url.path, exc_info=error)
    status, body = envelope(error)
    return Response(body, status_code=status, headers=headers_of(error))


def _known(error: errors.LilbeeError) -> tuple[int, str]:
    if isinstance(error, errors.ModelNotFound):
        return 404, "model_not_found"
    if isinstance(error, errors.InputTooLong) or error.code == "provider.context_overflow":
        return 400, "context_length_exceeded"
    if isinstance(error, NoTools) or (isinstance(error, errors.ProviderError) and _NO_TOOLS.search(error.message)):
        return 400, "model_does_not_support_tools"
    if isinstance(error, Busy):
        return 429, "rate_limit_exceeded"
    status = status_of(error)
    return status, "invalid_request" if status < 500 else "internal_error"


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."
