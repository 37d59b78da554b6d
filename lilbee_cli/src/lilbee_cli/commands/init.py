"""`lilbee init`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import line


@click.command("init")
@click.argument("folder", default=".", type=click.Path())
@common
def command(told: Common, folder: str) -> None:
    """Make FOLDER a library of its own, with its data in FOLDER/.lilbee.

    Nothing is read yet: run `lilbee sync` there.
    """
    from lilbee_core import Lilbee

    with Lilbee(told.library or folder, data_dir=told.data_dir) as bee:
        library_id = bee.init()
        if told.as_json:
            emit({"root": str(bee.root), "data_dir": str(bee.data_dir), "library_id": library_id})
        else:
            click.echo(f"{line(str(bee.root))} is a library now. Next: lilbee sync")
