"""`lilbee related`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import graph
from lilbee_cli.render.json import emit


@click.command("related")
@click.argument("concept")
@click.option("--limit", "-n", type=click.IntRange(min=1), default=10, show_default=True, help="Most concepts.")
@common
def command(told: Common, concept: str, *, limit: int) -> None:
    """Show what goes most with CONCEPT in the documents, the most certain first. Needs the extra `graph`."""
    with told.open(there=True) as bee:
        found = bee.concepts.related(concept, limit=limit)
        known = bee.concepts.get(concept)
        if told.as_json:
            emit({"concept": known.to_dict() if known else None, "related": [one.to_dict() for one in found]})
        else:
            graph.related(known, found, bee.concepts.get)
