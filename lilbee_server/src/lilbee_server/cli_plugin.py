"""Adds `lilbee serve` to the command line, where that is installed."""

from __future__ import annotations

import click

from lilbee_server.main import PORT, serve_either
from lilbee_server.place import HOST, Place


@click.command("serve")
@click.option("--library", "-l", metavar="PATH", help="The library's folder.")
@click.option("--data-dir", metavar="PATH", help="Where index and state lie, if not in the folder.")
@click.option("--port", type=int, help=f"Port; 0 takes a free one.  [default: {PORT}]")
@click.option("--host", default=HOST, show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option("--allow-remote", is_flag=True, help="Let other machines in, if --host says so.")
@click.option("--name", "names", multiple=True, help="A host name that requests of other machines may use.")
@click.option("--watch", is_flag=True, help="Index changes of files as they happen.")
@click.option("--memory", metavar="CONFIG", help="Serve the memory files of this configuration instead.")
@click.pass_context
def serve(
    ctx: click.Context,
    *,
    library: str | None,
    data_dir: str | None,
    port: int | None,
    host: str,
    allow_remote: bool,
    names: tuple[str, ...],
    watch: bool,
    memory: str | None,
) -> None:
    """Serve the library over HTTP, on this machine."""
    place = Place(host=host, port=port or 0, allow_remote=allow_remote, names=names)
    ctx.exit(serve_either(memory, library=library, data_dir=data_dir, place=place, port=port, watch=watch))


@click.command("open")
@click.option("--library", "-l", metavar="PATH", help="The library's folder.")
@click.option("--data-dir", metavar="PATH", help="Where index and state lie, if not in the folder.")
@click.option("--print", "only_print", is_flag=True, help="Print the address instead of opening it.")
def open_page(*, library: str | None, data_dir: str | None, only_print: bool) -> None:
    """Open the page of the server that serves the library, signed in.

    The address works once. Where no browser can be opened it is printed.
    """
    from lilbee_core import Lilbee
    from lilbee_core.settings import find_library
    from lilbee_server.opening import sign_in_url

    with Lilbee(find_library(library), data_dir=data_dir) as bee:
        address = sign_in_url(bee.data_dir)
    if only_print or click.launch(address) != 0:
        click.echo(address)
