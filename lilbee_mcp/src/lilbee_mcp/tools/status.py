"""The state of the library, in short."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

from lilbee_core import Lilbee
from lilbee_mcp.failures import told


def register(server: MCPServer, library: Lilbee) -> None:
    """Add the tool."""

    @server.tool(annotations=ToolAnnotations(title="Status", read_only_hint=True, open_world_hint=False))
    def status() -> dict[str, Any]:
        """Say how many documents are indexed, skipped or failed, and what the collections are."""
        with told():
            value = library.status()
        return {
            "documents": dict(value.states),
            "chunks": value.chunks,
            "embedder": value.embedder,
            "last_sync": value.last_sync,
            "collections": [{"name": one.name, "documents": one.documents} for one in value.collections],
        }
