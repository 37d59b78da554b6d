"""`lilbee graph`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import graph
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import clean, line


@click.group("graph")
def command() -> None:
    """Export the graph of concepts, and correct it by hand."""


@command.command("export")
@click.argument("file", type=click.Path(dir_okay=False), required=False)
@click.option(
    "--format", "-f", "kind", type=click.Choice(["json", "graphml", "html"]), help="What to write; FILE's ending says."
)
@click.option("--limit", "-n", type=click.IntRange(min=1), help="Only so many concepts, the most frequent ones.")
@common
def export(told: Common, file: str | None, *, kind: str | None, limit: int | None) -> None:
    """Write the graph to FILE (.json, .graphml or .html, a page to look at), or to standard output."""
    with told.open(there=True) as bee:
        written = bee.concepts.export(file, format=kind, limit=limit)
        if file is None:
            click.echo(written, nl=not written.endswith("\n"))
        elif told.as_json:
            emit({"file": file, "chars": len(written)})
        else:
            click.echo(line(f"{file}: {len(written):,} characters"))


@command.command("merge")
@click.argument("alias")
@click.argument("concept")
@common
def merge(told: Common, alias: str, concept: str) -> None:
    """Let ALIAS count as CONCEPT from now on."""
    with told.open(there=True) as bee:
        bee.concepts.merge(alias, concept)
        _decided(told, alias, f"{alias} counts as {concept} now", into=concept)


@command.command("forbid")
@click.argument("concept")
@common
def forbid(told: Common, concept: str) -> None:
    """Leave CONCEPT out of the graph from now on."""
    with told.open(there=True) as bee:
        bee.concepts.forbid(concept)
        _decided(told, concept, f"{concept} is left out now", into=None)


@command.command("restore")
@click.argument("concept")
@common
def restore(told: Common, concept: str) -> None:
    """Take back what was decided about CONCEPT."""
    with told.open(there=True) as bee:
        bee.concepts.restore(concept)
        _decided(told, concept, f"nothing is decided about {concept} any more", into=concept)


@command.command("decisions")
@common
def decisions(told: Common) -> None:
    """Show what was merged and left out by hand."""
    with told.open(there=True) as bee:
        found = bee.concepts.decisions()
        if told.as_json:
            emit({"decisions": [{"name": name, "counts_as": into} for name, into in found.items()]})
        else:
            graph.decisions(found)


def _decided(told: Common, name: str, said: str, *, into: str | None) -> None:
    if told.as_json:
        emit({"name": name, "counts_as": into})
    else:
        click.echo(clean(said))
