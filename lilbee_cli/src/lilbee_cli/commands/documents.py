"""`lilbee documents`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import counted, line, warn


@click.command("documents")
@click.option("--state", "-s", help="Only documents in this state: indexed, skipped, failed, missing, excluded.")
@click.option("--collection", "-c", help="Only documents of this collection.")
@click.option("--limit", type=click.IntRange(min=1), help="At most so many.")
@common
def command(told: Common, *, state: str | None, collection: str | None, limit: int | None) -> None:
    """List documents with their state, and why."""
    from itertools import islice

    with told.open(there=True) as bee:
        rows = list(islice(bee.documents(collection=collection, state=state), limit))
        if told.as_json:
            emit({"documents": [row.to_dict() for row in rows]})
            return
        if not rows and not any(one.documents for one in bee.collections.list()):
            warn("nothing is indexed here yet; run `lilbee sync`")
        for row in rows:
            detail = counted(row.chunks, "chunk") if row.state == "indexed" else f"{row.reason} [{row.code}]"
            click.echo(line(f"{row.state:<9} {row.ref}  {detail}"))
