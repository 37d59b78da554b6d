"""`lilbee remove`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import line


@click.command("remove")
@click.argument("refs", nargs=-1, required=True)
@common
def command(told: Common, refs: tuple[str, ...]) -> None:
    """Take documents out of the index; files on disk stay.

    Sync keeps them out until `lilbee add` brings them back, and with a folder all that comes into it later. REFS are
    paths, collection/path, ids, or folders.
    """
    with told.open(there=True) as bee:
        removed = bee.remove(*refs)
        if told.as_json:
            emit({"removed": list(removed)})
            return
        for ref in removed:
            click.echo(f"removed {line(ref)}")
