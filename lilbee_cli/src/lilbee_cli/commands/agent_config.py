"""`lilbee agent-config`."""

from __future__ import annotations

from pathlib import Path

import click

from lilbee_cli.agents import CLIENTS, TOKEN, URL, ClientError, Way, mcp_command, shown, write
from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import line


@click.command("agent-config")
@click.argument("client", type=click.Choice(list(CLIENTS)))
@click.option("--write", "writes", is_flag=True, help="Put it into the client's file; other entries stay.")
@click.option("--file", "path", metavar="PATH", type=click.Path(), help="That file, if it is another one.")
@click.option("--with-token", is_flag=True, help=f"Put the running server's token in, not the variable {TOKEN}.")
@common
def command(told: Common, client: str, *, writes: bool, path: str | None, with_token: bool) -> None:
    """Print what a CLIENT (opencode, claude, litellm, generic) is to be told of this library, or write it."""
    from lilbee_core.tokens import read_session

    chosen = CLIENTS[client]
    with told.open(there=True) as bee:
        session, root = read_session(bee.data_dir), bee.root
    if with_token and session is None:
        raise ClientError("no server of this library runs, so that there is no token", hint="Start `lilbee serve`.")
    way = Way(
        command=mcp_command(root, told.data_dir),
        url=session.url if session is not None else URL,
        token=session.token if session is not None and with_token else None,
    )
    ours = chosen.entries(way)
    if not writes:
        emit(ours) if told.as_json else click.echo(shown(chosen, ours), nl=False)
        return
    file = Path(path or chosen.file).absolute()
    changed, backup = write(chosen, file, ours)
    if told.as_json:
        emit({"file": str(file), "changed": changed, "backup": str(backup) if backup else None})
        return
    click.echo(line(f"{'written' if changed else 'nothing to change'}: {file}"))
    if backup is not None:
        click.echo(line(f"  what was there is kept in {backup}"))
