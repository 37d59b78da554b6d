"""`lilbee plugins`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import line


@click.command("plugins")
@common
def command(told: Common) -> None:
    """List plugins: what they offer, and what is wrong with them."""
    with told.open() as bee:
        reports = bee.plugins
        if told.as_json:
            emit({"plugins": [one.to_dict() for one in reports]})
            return
        for one in reports:
            state = "" if one.enabled else "  (disabled)"
            click.echo(line(f"{one.name} {one.version}{state}: {', '.join(one.parts)}"))
            for failure in one.failures:
                click.echo(line(f"  {failure.message}. {failure.hint}"))
