"""Serves the document and its page, instead of pages of the framework that load scripts from elsewhere."""

from __future__ import annotations

from typing import Any

from litestar import Request, Response, Router
from litestar.enums import MediaType
from litestar.exceptions import NotFoundException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin, OpenAPIRenderPlugin
from litestar.serialization import encode_json

from lilbee_core import __version__
from lilbee_server.describe._document import described
from lilbee_server.describe._page import POLICY, page


def openapi_config() -> OpenAPIConfig:
    """Return what describes the routes at ``/schema/openapi.json``, and as a page at ``/schema/redoc``."""
    return OpenAPIConfig(
        title="lilbee",
        version=__version__,
        render_plugins=[_Document(), _Page(path=["/redoc", "/"], media_type=MediaType.HTML)],
        openapi_router=Router(
            "/schema",
            route_handlers=[],
            include_in_schema=False,
            response_headers={"Content-Security-Policy": POLICY},
            after_request=_not_found,
        ),
    )


async def _not_found(response: Response[Any]) -> Response[Any]:
    """Say that there is no such address as every other route does; the framework answers with a page of its own."""
    if response.status_code == 404:
        raise NotFoundException("Not Found")
    return response


class _Document(JsonRenderPlugin):
    """The document as JSON, made when it is asked for the first time."""

    _made: bytes | None = None

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        if self._made is None:
            self._made = encode_json(described(request.app, openapi_schema))
        return self._made


class _Page(OpenAPIRenderPlugin):
    """The document as a page."""

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        return page(described(request.app, openapi_schema)).encode()
