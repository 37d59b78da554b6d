"""`lilbee add`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.outcome import synced
from lilbee_cli.render.progress import ProgressSink


@click.command("add")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@common
def command(told: Common, paths: tuple[str, ...]) -> int:
    """Index files and folders where they are, and pages of the web (https://...).

    No file is copied. A path inside a collection is synced, and taken back if it was removed. A folder outside
    becomes a collection of the library. A page of the web is kept in the library's own folder.
    """
    with ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink, told.open(sink) as bee:
        return synced(bee.add(*paths), as_json=told.as_json)
