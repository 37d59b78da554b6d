"""Serves the document and its page, instead of pages of the framework that load scripts from elsewhere."""

from __future__ import annotations

from typing import Any

from litestar import Request, Router
from litestar.enums import MediaType
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
        ),
    )


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
