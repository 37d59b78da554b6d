"""`lilbee status`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import text
from lilbee_cli.render.json import emit


@click.command("status")
@click.option("--skipped", is_flag=True, help="List what was left out, and why.")
@common
def command(told: Common, *, skipped: bool) -> None:
    """Show the state of the library: files per state, chunks, embedder, size on disk."""
    with told.open(there=True) as bee:
        value = bee.status()
        rows = list(bee.documents(state="skipped")) + list(bee.documents(state="excluded")) if skipped else []
        if told.as_json:
            extra: dict[str, object] = {"skipped": [row.to_dict() for row in rows]} if skipped else {}
            emit({**value.to_dict(), **extra})
            return
        text.status(value)
        for row in rows:
            click.echo(text.line(f"{row.state}: {row.ref}: {row.reason} [{row.code}]"))
