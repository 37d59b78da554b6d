"""A server of the same SDK without any tool: the floor of what starting one costs."""

from mcp.server import MCPServer

MCPServer("bare").run("stdio")
