"""`lilbee sync`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.outcome import synced
from lilbee_cli.render.progress import ProgressSink


@click.command("sync")
@click.argument("collections", nargs=-1)
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would be done.")
@click.option("--prune", is_flag=True, help="Also drop the documents of a folder that is suddenly empty.")
@click.option("--retry", is_flag=True, help="Try files again that failed before.")
@common
def command(told: Common, collections: tuple[str, ...], *, dry_run: bool, prune: bool, retry: bool) -> int:
    """Read what is new or changed, and drop what is gone. COLLECTIONS limits it to these."""
    with (
        ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink,
        told.open(sink, there=True) as bee,
    ):
        report = bee.sync(dry_run=dry_run, prune=prune, retry=retry, collections=collections)
        return synced(report, as_json=told.as_json)
