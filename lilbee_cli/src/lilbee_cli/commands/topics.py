"""`lilbee topics`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import graph
from lilbee_cli.render.json import emit


@click.command("topics")
@click.argument("query", required=False)
@click.option("--limit", "-n", type=click.IntRange(min=1), default=20, show_default=True, help="Most topics.")
@common
def command(told: Common, query: str | None, *, limit: int) -> None:
    """Show what the documents talk about: groups of concepts that occur together.

    With QUERY, only the groups that it and the passages found for it belong to. Needs the extra `graph`.
    """
    with told.open(there=True) as bee:
        found = bee.concepts.topics(query, limit=limit)
        if told.as_json:
            emit({"query": query, "topics": [one.to_dict() for one in found]})
        else:
            graph.topics(found, bee.concepts.get)
