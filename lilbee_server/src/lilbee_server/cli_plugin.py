"""Adds `lilbee serve` to the command line, where that is installed."""

from __future__ import annotations

import click

from lilbee_server.main import PORT
from lilbee_server.main import serve as run
from lilbee_server.place import HOST, Place


@click.command("serve")
@click.option("--library", "-l", metavar="PATH", help="The library's folder.")
@click.option("--data-dir", metavar="PATH", help="Where index and state lie, if not in the folder.")
@click.option("--port", default=PORT, show_default=True, help="Port; 0 takes a free one.")
@click.option("--host", default=HOST, show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option("--allow-remote", is_flag=True, help="Let other machines in, if --host says so.")
@click.option("--name", "names", multiple=True, help="A host name that requests of other machines may use.")
@click.pass_context
def serve(
    ctx: click.Context,
    *,
    library: str | None,
    data_dir: str | None,
    port: int,
    host: str,
    allow_remote: bool,
    names: tuple[str, ...],
) -> None:
    """Serve the library over HTTP, on this machine."""
    place = Place(host=host, port=port, allow_remote=allow_remote, names=names)
    ctx.exit(run(library=library, data_dir=data_dir, place=place))
