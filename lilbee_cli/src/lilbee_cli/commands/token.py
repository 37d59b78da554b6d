"""`lilbee token`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit, emit_list
from lilbee_cli.render.text import clean


@click.group("token")
def command() -> None:
    """Tokens for programs that reach the library through `lilbee serve`: what each may see and do."""


@command.command("create")
@click.argument("name")
@click.option("--read-only", is_flag=True, help="It may change nothing.")
@click.option("--collection", "-c", "collections", multiple=True, help="It may see this one alone; repeatable.")
@common
def create(told: Common, name: str, *, read_only: bool, collections: tuple[str, ...]) -> None:
    """Make a token, and print it: it is shown this once. NAME says what it is for."""
    with told.open() as bee:
        made = bee.tokens.create(name, read_only=read_only, collections=collections)
        if told.as_json:
            emit(made.to_dict())
        else:
            click.echo(made.secret)


@command.command("list")
@common
def list_(told: Common) -> None:
    """List the tokens: their ids, names, and what they may see and do."""
    with told.open() as bee:
        found = bee.tokens.list()
        if told.as_json:
            emit_list("tokens", [one.to_dict() for one in found])
            return
        for one in found:
            may = "reads" if one.read_only else "reads and changes"
            click.echo(clean(f"{one.id}  {one.name}  {may} {', '.join(one.collections) or 'everything'}"))


@command.command("revoke")
@click.argument("ref")
@common
def revoke(told: Common, ref: str) -> None:
    """Let a token, by its id or name, count no longer."""
    with told.open() as bee:
        gone = bee.tokens.revoke(ref)
        if told.as_json:
            emit({"revoked": gone.id, "name": gone.name})
        else:
            click.echo(clean(f"revoked: {gone.id} {gone.name}"))
