"""The MCP server over an open library."""

from __future__ import annotations

from collections.abc import Collection

from mcp.server import MCPServer

from lilbee_core import Lilbee, __version__
from lilbee_core.errors import InvalidArgument
from lilbee_mcp.refusals import PlainServer
from lilbee_mcp.tools import crawl, search, status

ON_REQUEST = {"crawl": crawl.register}
"""Tools that reach beyond the library: an agent has them only where its user said so."""


def build_server(library: Lilbee, *, enable: Collection[str] = ()) -> MCPServer:
    """Return a server whose tools read `library`; the caller closes the library.

    Args:
        library: An open library.
        enable: Groups of tools beyond those that read and search: ``crawl``.

    Raises:
        InvalidArgument: If there is no such group.
    """
    for group in enable:
        if group not in ON_REQUEST:
            raise InvalidArgument(
                f"there are no tools called {group!r}", hint=f"Enable one of {', '.join(sorted(ON_REQUEST))}."
            )
    server = PlainServer(
        "lilbee",
        version=__version__,
        log_level="WARNING",
        instructions="Searches the user's own documents. Cite hits by their path and lines or page.",
    )
    search.register(server, library)
    status.register(server, library)
    for group in dict.fromkeys(enable):
        ON_REQUEST[group](server, library)
    return server
