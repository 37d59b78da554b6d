"""`lilbee wiki`."""

from __future__ import annotations

import click

from lilbee_cli.commands._wiki_drafts import command as drafts
from lilbee_cli.options import Common, common
from lilbee_cli.render import wiki as shown
from lilbee_cli.render.json import emit, emit_list
from lilbee_cli.render.progress import ProgressSink
from lilbee_cli.render.text import clean, counted, line


@click.group("wiki")
def command() -> None:
    """Pages about what your documents say, every sentence with its source (experimental).

    They are Markdown files with [[links]]. With a chat model each document is asked about once; without one, pages
    hold quotations of what the concept graph knows. What you edit is kept: new text is merged with it, or waits as a
    draft.
    """


command.add_command(drafts)


@command.command("build")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would be done, with calls and tokens.")
@click.option("--max-calls", type=click.IntRange(min=0), metavar="N", help="Most calls of the chat model.")
@click.option("--retry", is_flag=True, help="Ask again about documents whose replies could not be read.")
@common
def build(told: Common, *, dry_run: bool, max_calls: int | None, retry: bool) -> int:
    """Write the pages whose sources changed, and retire those that nothing speaks of any more.

    A build that is stopped goes on where it was when it is run again.
    """
    return _built(told, dry_run=dry_run, max_calls=max_calls, retry=retry, topics=False)


@command.command("synthesize")
@click.option("--dry-run", "-n", is_flag=True, help="Only say what would be done, with calls and tokens.")
@click.option("--max-calls", type=click.IntRange(min=0), metavar="N", help="Most calls of the chat model.")
@click.option("--retry", is_flag=True, help="Ask again about topics whose replies could not be read.")
@common
def synthesize(told: Common, *, dry_run: bool, max_calls: int | None, retry: bool) -> int:
    """Have the chat model write an overview of each topic of which something new is to be said."""
    return _built(told, dry_run=dry_run, max_calls=max_calls, retry=retry, topics=True)


def _built(told: Common, *, dry_run: bool, max_calls: int | None, retry: bool, topics: bool) -> int:
    with (
        ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink,
        told.open(sink, there=True) as bee,
    ):
        folder = bee.wiki.folder
        if dry_run:
            plan = bee.wiki.plan(topics=topics, retry=retry, most_calls=max_calls)
            return shown.planned(plan, folder, as_json=told.as_json)
        run = bee.wiki.synthesize if topics else bee.wiki.build
        return shown.built(run(retry=retry, most_calls=max_calls), folder, as_json=told.as_json)


@command.command("prune")
@common
def prune(told: Common) -> int:
    """Retire pages of whose sources none is left, and drafts without a use."""
    with told.open(there=True) as bee:
        return shown.built(bee.wiki.prune(), bee.wiki.folder, as_json=told.as_json)


@command.command("lint")
@common
def lint(told: Common) -> None:
    """Say what is wrong with pages: orphans, dead links, lost or stale citations, drift."""
    with told.open(there=True) as bee:
        found = bee.wiki.lint()
        if told.as_json:
            emit_list("problems", (one.to_dict() for one in found))
            return
        for one in found:
            click.echo(line(f"{one.slug}  {one.kind}: {one.detail}"))
        told.echo(counted(len(found), "problem") if found else "nothing is wrong")


@command.command("list")
@click.option("--drafts", "of_drafts", is_flag=True, help="The drafts instead.")
@common
def list_(told: Common, *, of_drafts: bool) -> None:
    """List the pages."""
    with told.open(there=True) as bee:
        found = bee.wiki.drafts.list() if of_drafts else bee.wiki.pages()
        if told.as_json:
            emit_list("pages", (page.to_dict() for page in found))
            return
        for page in found:
            click.echo(line(f"{page.slug}  {page.title}"))


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


@command.command("citations")
@click.argument("slug")
@common
def citations(told: Common, slug: str) -> None:
    """Print the passages of documents that a page cites."""
    from lilbee_core.text import fold_space

    with told.open(there=True) as bee:
        found = bee.wiki.citations(slug)
        if told.as_json:
            emit({"slug": slug, "citations": [one.to_dict() for one in found]})
            return
        for one in found:
            place = ", ".join(part for part in (one.path, str(one.location)) if part)
            click.echo(line(f"[^{one.marker}] {place}: {fold_space(one.quote)}"))


@command.command("links")
@click.argument("slug", required=False)
@common
def links(told: Common, slug: str | None) -> None:
    """Print which pages link to which; with SLUG, what links to that page."""
    with told.open(there=True) as bee:
        there, back = bee.wiki.links(), bee.wiki.backlinks()
        if slug is not None:
            bee.wiki.require(slug)
            there, back = {slug: there[slug]}, {slug: back[slug]}
        if told.as_json:
            emit(
                {
                    "links": {one: list(others) for one, others in there.items()},
                    "backlinks": {one: list(others) for one, others in back.items()},
                }
            )
            return
        for one, others in (there if slug is None else back).items():
            click.echo(line(f"{one} {'->' if slug is None else '<-'} {', '.join(others) or '-'}"))
