"""`lilbee collection`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import counted, line


@click.group("collection")
def command() -> None:
    """List, add, remove and rename collections: named folders with globs."""


@command.command("list")
@common
def list_(told: Common) -> None:
    """List the collections."""
    with told.open(there=True) as bee:
        found = bee.collections.list()
        if told.as_json:
            emit({"collections": [one.to_dict() for one in found]})
            return
        for one in found:
            missing = "" if one.available else "  (folder is missing)"
            click.echo(line(f"{one.name}  {counted(one.documents, 'document')}  {one.root or 'from memory'}{missing}"))


@command.command("add")
@click.argument("folder", type=click.Path())
@click.option("--name", help="What to call it; the folder's name otherwise.")
@click.option("--include", multiple=True, metavar="GLOB", help="Only these files.")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Not these files.")
@common
def add(told: Common, folder: str, *, name: str | None, include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    """Make FOLDER a collection. Run `lilbee sync` to read it."""
    with told.open() as bee:
        one = bee.collections.add(folder, name=name, include=include, exclude=exclude)
        if told.as_json:
            emit(one.to_dict())
        else:
            click.echo(line(f"{one.name}: {one.root}. Next: lilbee sync"))


@command.command("remove")
@click.argument("name")
@common
def remove(told: Common, name: str) -> None:
    """Forget a collection and take its documents out of the index. Files on disk stay."""
    with told.open(there=True) as bee:
        count = bee.collections.remove(name)
        if told.as_json:
            emit({"name": name, "removed": count})
        else:
            click.echo(f"{line(name)} is forgotten; {counted(count, 'document')} left the index")


@command.command("rename")
@click.argument("old")
@click.argument("new")
@common
def rename(told: Common, old: str, new: str) -> None:
    """Give a collection another name. Nothing is read or embedded again."""
    with told.open(there=True) as bee:
        bee.collections.rename(old, new)
        if told.as_json:
            emit({"old": old, "name": new})
        else:
            click.echo(line(f"{old} is {new} now"))
