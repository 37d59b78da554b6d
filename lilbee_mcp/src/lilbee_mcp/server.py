"""The MCP server over an open library."""

from __future__ import annotations

from mcp.server import MCPServer

from lilbee_core import Lilbee, __version__
from lilbee_mcp.refusals import PlainServer
from lilbee_mcp.tools import search, status


def build_server(library: Lilbee) -> MCPServer:
    """Return a server whose tools read `library`; the caller closes the library."""
    server = PlainServer(
        "lilbee",
        version=__version__,
        log_level="WARNING",
        instructions="Searches the user's own documents. Cite hits by their path and lines or page.",
    )
    search.register(server, library)
    status.register(server, library)
    return server
