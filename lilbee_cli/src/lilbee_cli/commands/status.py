"""`lilbee status`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import plots, text
from lilbee_cli.render.charts import of_status
from lilbee_cli.render.json import emit
from lilbee_cli.render.svg import write


@click.command("status")
@click.option("--skipped", is_flag=True, help="List what was left out, and why.")
@click.option("--plot", is_flag=True, help="Also as charts: files by state and type, chunks per collection.")
@click.option("--svg", metavar="FILE", type=click.Path(dir_okay=False), help="Write the charts to FILE, as SVG.")
@common
def command(told: Common, *, skipped: bool, plot: bool, svg: str | None) -> None:
    """Show the state of the library: files per state, chunks, embedder, size on disk."""
    with told.open(there=True) as bee:
        value = bee.status()
        charts = of_status(value, bee.documents()) if plot or svg else ()
        if svg:
            write(svg, charts, title="The state of a library")
        rows = list(bee.documents(state="skipped")) + list(bee.documents(state="excluded")) if skipped else []
        if told.as_json:
            extra: dict[str, object] = {"skipped": [row.to_dict() for row in rows]} if skipped else {}
            emit({**value.to_dict(), **extra})
            return
        text.status(value)
        for row in rows:
            click.echo(text.line(f"{row.state}: {row.ref}: {row.reason} [{row.code}]"))
        if plot:
            plots.show(charts)
