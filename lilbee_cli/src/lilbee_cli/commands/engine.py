"""`lilbee engine`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import clean, counted, line, with_output


@click.group("engine")
def command() -> None:
    """Show, read and end the servers that run model files."""


@command.command("status")
@common
def status(told: Common) -> None:
    """Show the program that runs model files, and every server that runs now, whoever started it."""
    from lilbee_core.errors import FleetError

    with told.open() as bee:
        running = bee.fleet.running()
        try:
            engine, missing = bee.fleet.engine(), ""
        except FleetError as error:
            engine, missing = None, f"{error.message}. {error.hint}"
    if told.as_json:
        found = None if engine is None else engine.to_dict()
        emit({"engine": found, "missing": missing, "servers": [one.to_dict() for one in running]})
        return
    where = missing if engine is None else f"{engine.version} from {engine.origin} ({engine.file})"
    click.echo(line(f"engine: {where}"))
    for note in engine.notes if engine is not None else ():
        click.echo(line(f"  note: {note}"))
    for one in running:
        owner = "left running" if one.detached else f"of process {one.owner_pid}"
        click.echo(line(f"{one.id}  {one.state}  {one.model}  {one.url}  pid {one.pid} {owner}"))
        if one.error:
            click.echo(with_output(f"  {one.error}"))
    if not running:
        click.echo("no server runs")


@command.command("stop")
@common
def stop(told: Common) -> None:
    """End every server, of this and of any other terminal, and free its memory."""
    with told.open() as bee:
        ended = bee.fleet.stop()
    if told.as_json:
        emit({"stopped": list(ended)})
    else:
        click.echo(f"{counted(len(ended), 'server')} ended" if ended else "no server runs")


@command.command("logs")
@click.argument("server")
@click.option("--lines", "-n", default=50, show_default=True, type=click.IntRange(1, 10_000), help="How many lines.")
@click.option("--ended", is_flag=True, help="Those of servers that have ended, of which the last three are kept.")
@common
def logs(told: Common, server: str, *, lines: int, ended: bool) -> None:
    """Show the last lines that SERVER (an id such as embed-0, or a role) wrote.

    Where none runs, it is the last that was heard of one that has ended.
    """
    with told.open() as bee:
        found = bee.fleet.log(server, lines=lines, ended=ended)
    if told.as_json:
        emit({"server": server, "log": found})
    else:
        click.echo(clean(found))
