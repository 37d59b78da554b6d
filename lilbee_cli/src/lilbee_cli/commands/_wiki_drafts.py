"""`lilbee wiki drafts`."""

from __future__ import annotations

from typing import TextIO

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import wiki as shown
from lilbee_cli.render.json import emit, emit_list
from lilbee_cli.render.text import line


@click.group("drafts")
def command() -> None:
    """Look at what waits for you as a diff, and take, change or refuse it."""


@command.command("list")
@common
def list_(told: Common) -> None:
    """List the drafts, and why they are drafts."""
    with told.open(there=True) as bee:
        found = bee.wiki.drafts.list()
        if told.as_json:
            emit_list("drafts", (page.to_dict() for page in found))
            return
        for page in found:
            click.echo(line(f"{page.slug}  {page.title}  ({page.note})"))


@command.command("diff")
@click.argument("slug")
@common
def diff(told: Common, slug: str) -> None:
    """Show what a draft would change in its page."""
    with told.open(there=True) as bee:
        found = bee.wiki.drafts.diff(slug)
        if told.as_json:
            emit(found.to_dict())
        else:
            shown.diff(found)


@command.command("accept")
@click.argument("slug")
@common
def accept(told: Common, slug: str) -> None:
    """Publish a draft in place of the page of its name."""
    with told.open(there=True) as bee:
        page = bee.wiki.drafts.accept(slug)
        if told.as_json:
            emit(page.to_dict())
        else:
            click.echo(line(f"published {page.slug} in {bee.wiki.folder}"))


@command.command("reject")
@click.argument("slug")
@common
def reject(told: Common, slug: str) -> None:
    """Delete a draft; the same text does not come back."""
    with told.open(there=True) as bee:
        bee.wiki.drafts.reject(slug)
        if told.as_json:
            emit({"slug": slug, "rejected": True})
        else:
            click.echo(line(f"rejected {slug}"))


@command.command("edit")
@click.argument("slug")
@click.option("--file", "source", type=click.File("r", encoding="utf-8"), help="Its new text; - reads standard input.")
@common
def edit(told: Common, slug: str, *, source: TextIO | None) -> None:
    """Change the text of a draft, in your editor or from a file. It stays a draft until you accept it."""
    with told.open(there=True) as bee:
        before = bee.wiki.drafts.require(slug).body
        after: str | None = source.read() if source is not None else click.edit(before, extension=".md")
        page = bee.wiki.drafts.require(slug) if after is None else bee.wiki.drafts.edit(slug, after)
        if told.as_json:
            emit(page.to_dict())
        else:
            click.echo(line(f"{'left' if after is None else 'changed'} {slug}"))
