"""`lilbee index`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit


@click.command("index")
@common
def command(told: Common) -> None:
    """Build the index for fast vector search now, however few the chunks are.

    A sync builds it by itself from `ann_index_threshold` chunks on; below, vectors are compared one by one.
    """
    with told.open(there=True) as bee:
        report = bee.index()
        if told.as_json:
            emit(report.to_dict())
        else:
            click.echo(
                f"{report.vectors:,} vectors indexed in {report.seconds:.1f} s; "
                f"a search finds {report.recall:.1%} of the nearest or more"
            )
