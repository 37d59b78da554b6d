"""`lilbee rebuild`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.outcome import synced
from lilbee_cli.render.progress import ProgressSink


@click.command("rebuild")
@common
def command(told: Common) -> int:
    """Build the index anew with the present settings.

    Conversations, notes and settings stay, and so do documents that came from memory.
    """
    with (
        ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink,
        told.open(sink, there=True) as bee,
    ):
        return synced(bee.rebuild(), as_json=told.as_json)
