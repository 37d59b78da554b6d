"""What a running server says of itself. Plain HTTP of the standard library: no proxy, no pool, nothing to close."""

from __future__ import annotations

import http.client
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Protocol, cast
from urllib.parse import urlsplit

from lilbee_core.protocols import Endpoint

_LIMIT_S = 5.0
_LONGEST_ANSWER = 32_000_000


class Health(StrEnum):
    """What ``/health`` says."""

    READY = "ready"
    LOADING = "loading"
    DOWN = "down"


class Probe(Protocol):
    """Asks a server how it is. The seam for tests without servers."""

    def health(self, endpoint: Endpoint) -> Health: ...

    def properties(self, endpoint: Endpoint) -> Mapping[str, Any]:
        """Return what the server says of itself and its model; nothing if it does not say."""
        ...

    def tokens(self, endpoint: Endpoint, text: str) -> int:
        """Return how many tokens the model makes of a text, special ones included.

        Raises:
            OSError: If the server does not say.
        """
        ...


class HttpProbe:
    """Asks over HTTP. Threads may share it."""

    def health(self, endpoint: Endpoint) -> Health:
        try:
            status, _ = _ask(endpoint, "GET", "/health", None)
        except OSError:
            return Health.DOWN
        if status == 200:
            return Health.READY
        return Health.LOADING if status == 503 else Health.DOWN

    def properties(self, endpoint: Endpoint) -> Mapping[str, Any]:
        try:
            status, body = _ask(endpoint, "GET", "/props", None)
            found: object = json.loads(body) if status == 200 else None
        except (OSError, ValueError):
            return {}
        return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}

    def tokens(self, endpoint: Endpoint, text: str) -> int:
        status, body = _ask(endpoint, "POST", "/tokenize", {"content": text, "add_special": True})
        try:
            found: object = json.loads(body)
            if status == 200 and isinstance(found, dict):
                return len(cast("dict[str, list[object]]", found)["tokens"])
        except (ValueError, KeyError, TypeError):
            pass
        raise OSError(f"/tokenize answered {status}: {body[:200].decode('utf-8', 'replace')}")


def _ask(endpoint: Endpoint, method: str, path: str, payload: Mapping[str, object] | None) -> tuple[int, bytes]:
    parts = urlsplit(endpoint.base_url)
    connection = http.client.HTTPConnection(parts.hostname or "127.0.0.1", parts.port, timeout=_LIMIT_S)
    headers = {"Content-Type": "application/json"}
    if endpoint.api_key:
        headers["Authorization"] = f"Bearer {endpoint.api_key}"
    try:
        body = None if payload is None else json.dumps(payload).encode()
        connection.request(method, path, body=body, headers=headers)
        response = connection.getresponse()
        return response.status, response.read(_LONGEST_ANSWER)
    except http.client.HTTPException as error:
        raise OSError(f"{type(error).__name__}: {error}") from error
    finally:
        connection.close()
