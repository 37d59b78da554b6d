"""`lilbee search`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common, filters
from lilbee_cli.render import text
from lilbee_cli.render.json import emit
from lilbee_cli.render.progress import ProgressSink

if TYPE_CHECKING:
    from lilbee_core import Filter


@click.command("search")
@click.argument("query", nargs=-1, required=True)
@click.option("--top", "-k", "top_k", type=int, help="How many hits.")
@click.option("--profile", "-p", help="Which list of stages: default, full, keyword, semantic, hyde, memory.")
@click.option("--no-diversify", is_flag=True, help="By relevance alone, however like each other.")
@click.option("--scope", type=click.Choice(["raw", "wiki", "both"]), default="raw", help="Documents, pages, or both.")
@click.option("--explain", is_flag=True, help="Show what every stage did.")
@filters
@common
def command(
    told: Common,
    query: tuple[str, ...],
    *,
    top_k: int | None,
    profile: str | None,
    no_diversify: bool,
    scope: str,
    explain: bool,
    only: Filter,
) -> None:
    """Find passages by words and by meaning, best first.

    The query may hold "quoted phrases", filters (path:notes/ type:pdf after:2025-01-31) and begin with
    term: (words only) or vec: (meaning only). It never calls a chat model.
    """
    with ProgressSink(quiet=told.quiet or told.as_json, verbose=0) as sink, told.open(sink, there=True) as bee:
        asked = " ".join(query)
        result = bee.search(asked, top_k=top_k, profile=profile, filters=only, scope=scope, diversify=not no_diversify)
        if told.as_json:
            emit(result.to_dict(trace=explain))
            return
        text.hits(result)
        if explain:
            click.echo()
            click.echo(text.clean(result.explain()))
