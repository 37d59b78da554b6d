"""Adds `lilbee mcp` to the command line, where that is installed."""

from __future__ import annotations

import click

from lilbee_mcp.main import PORT
from lilbee_mcp.main import serve as run

_GROUPS = ["crawl", "init", "model", "placement", "reset", "wiki"]


@click.command("mcp")
@click.option("--library", "-l", metavar="PATH", help="The library's folder.")
@click.option("--data-dir", metavar="PATH", help="Where index and state lie, if not in the folder.")
@click.option("--enable", multiple=True, type=click.Choice(_GROUPS), help="Also offer these tools; repeatable.")
@click.option("--http", is_flag=True, help="Listen on a port of this machine, not on standard input.")
@click.option("--port", type=int, default=PORT, show_default=True, help="Port on 127.0.0.1; 0 takes a free one.")
@click.pass_context
def mcp(
    ctx: click.Context, library: str | None, data_dir: str | None, enable: tuple[str, ...], *, http: bool, port: int
) -> None:
    """Serve the library to agents over MCP, on standard input and output or on a port of this machine."""
    ctx.exit(run(library=library, data_dir=data_dir, enable=enable, http=http, port=port))
