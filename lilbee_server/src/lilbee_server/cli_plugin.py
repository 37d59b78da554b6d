"""Adds `lilbee serve` to the command line, where that is installed."""

from __future__ import annotations

import click

from lilbee_server.main import PORT
from lilbee_server.main import serve as run


@click.command("serve")
@click.option("--library", "-l", metavar="PATH", help="The library's folder.")
@click.option("--data-dir", metavar="PATH", help="Where index and state lie, if not in the folder.")
@click.option("--port", type=int, default=PORT, show_default=True, help="Port on 127.0.0.1; 0 takes a free one.")
@click.pass_context
def serve(ctx: click.Context, library: str | None, data_dir: str | None, port: int) -> None:
    """Serve the library over HTTP, on this machine only."""
    ctx.exit(run(library=library, data_dir=data_dir, port=port))
