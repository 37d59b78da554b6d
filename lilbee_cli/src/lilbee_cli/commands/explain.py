"""`lilbee explain`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import clean


@click.command("explain")
@click.argument("path", type=click.Path())
@common
def command(told: Common, path: str) -> None:
    """Say why PATH is, or is not, in the index, with the rule that decided it."""
    with told.open() as bee:
        report = bee.explain_path(path)
        if told.as_json:
            emit(report.to_dict())
            return
        click.echo(clean(f"{report.path}: {report.state}: {report.reason}"))
        if report.hint:
            click.echo(clean(f"  {report.hint}"))
