"""Adds `lilbee mcp` to the command line, where that is installed."""

from __future__ import annotations

import click

from lilbee_mcp.main import serve


@click.command("mcp")
@click.option("--library", "-l", metavar="PATH", help="The library's folder.")
@click.option("--data-dir", metavar="PATH", help="Where index and state lie, if not in the folder.")
@click.option("--enable", multiple=True, type=click.Choice(["crawl"]), help="Also offer these tools.")
def mcp(library: str | None, data_dir: str | None, enable: tuple[str, ...]) -> None:
    """Serve the library to agents over MCP, on standard input and output."""
    serve(library=library, data_dir=data_dir, enable=enable)
