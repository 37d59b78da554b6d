"""`lilbee wiki`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import clean


@click.group("wiki")
def command() -> None:
    """Pages about what many documents say, each sentence quoted with its place. Needs the extra `graph`.

    They are Markdown files with [[links]]. What you edit is never overwritten: new text becomes a draft beside it.
    """


@command.command("build")
@click.option("--dry-run", is_flag=True, help="Only say what would be written, and why.")
@common
def build(told: Common, *, dry_run: bool) -> None:
    """Write the pages whose sources changed, and retire those that nothing speaks of any more."""
    with told.open(there=True) as bee:
        plan = bee.wiki.plan() if dry_run else bee.wiki.build()
        if told.as_json:
            emit({"folder": str(bee.wiki.folder), "dry_run": dry_run, **plan.to_dict()})
            return
        for page in plan.pages:
            click.echo(clean(f"{page.slug}  ({page.kind}, {page.reason})"))
        for slug in plan.removed:
            click.echo(clean(f"{slug}  (archived)"))
        count = len(plan.pages) + len(plan.removed)
        click.echo(clean(f"{count} pages {'would change' if dry_run else 'changed'} in {bee.wiki.folder}"))


@command.command("list")
@click.option("--drafts", is_flag=True, help="The drafts instead.")
@common
def list_(told: Common, *, drafts: bool) -> None:
    """List the pages."""
    with told.open(there=True) as bee:
        found = bee.wiki.drafts.list() if drafts else bee.wiki.pages()
        if told.as_json:
            emit({"pages": [page.to_dict() for page in found]})
            return
        for page in found:
            click.echo(clean(f"{page.slug}  {page.title}"))


@command.command("show")
@click.argument("slug")
@common
def show(told: Common, slug: str) -> None:
    """Print a page."""
    with told.open(there=True) as bee:
        page = bee.wiki.require(slug)
        if told.as_json:
            emit(page.to_dict())
        else:
            click.echo(clean(page.body))
