"""`lilbee explain`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import clean, line, warn


@click.command("explain")
@click.argument("what", nargs=-1, required=True, metavar="PATH | QUERY...")
@click.option("--document", "-d", "ref", metavar="PATH", help="Say why this document is, or is not, a hit of QUERY.")
@click.option("--top", "-k", "top_k", type=int, help="With --document: for how many hits.")
@click.option("--profile", "-p", help="With --document: which list of stages.")
@common
def command(told: Common, what: tuple[str, ...], *, ref: str | None, top_k: int | None, profile: str | None) -> None:
    """Say why PATH is, or is not, in the index, with the rule that decided it.

    With --document: why a document is, or is not, among the hits of QUERY; where it stands by words and by meaning,
    which stage left it out, and what it would have needed.
    """
    if ref is not None:
        _in_search(told, ref, " ".join(what), top_k, profile)
        return
    if len(what) != 1:
        raise click.UsageError("Name one path, or a document and a query: lilbee explain --document PATH QUERY.")
    with told.open(there=True) as bee:
        report = bee.explain_path(what[0])
        if told.as_json:
            emit(report.to_dict())
            return
        click.echo(line(f"{report.path}: {report.state}: {report.reason}"))
        if report.hint:
            click.echo(line(f"  {report.hint}"))


def _in_search(told: Common, ref: str, query: str, top_k: int | None, profile: str | None) -> None:
    with told.open(there=True) as bee:
        trace = bee.explain_document(ref, query, top_k=top_k, profile=profile)
        if told.as_json:
            emit(trace.to_dict())
            return
        for message in trace.warnings:
            warn(message)
        click.echo(clean(trace.explain()))
