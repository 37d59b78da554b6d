"""`lilbee trust`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import line


@click.command("trust")
@common
def command(told: Common) -> None:
    """Let a library that was copied, moved or downloaded use the settings that could run or leak something."""
    with told.open() as bee:
        library_id = bee.trust()
        if told.as_json:
            emit({"data_dir": str(bee.data_dir), "library_id": library_id})
        else:
            click.echo(f"{line(str(bee.data_dir))} is trusted")
