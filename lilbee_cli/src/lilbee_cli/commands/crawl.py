"""`lilbee crawl`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.outcome import crawled, kept
from lilbee_cli.render.progress import ProgressSink


@click.command("crawl")
@click.argument("urls", nargs=-1)
@click.option("--depth", "-d", type=click.IntRange(min=0), metavar="N", help="Links to follow; 0 is the page alone.")
@click.option("--pages", "-n", type=click.IntRange(min=1), metavar="N", help="Pages to keep at most.")
@click.option("--include", multiple=True, metavar="GLOB", help="Only these addresses (/docs/*).")
@click.option("--exclude", multiple=True, metavar="GLOB", help="Not these addresses.")
@click.option("--other-sites", is_flag=True, help="Follow links to other sites too; needs --depth or --pages.")
@click.option("--render", type=click.Choice(["never", "auto", "always"]), help="When to run the scripts of pages.")
@click.option("--fresh", is_flag=True, help="Start anew, even if the crawl was stopped half-way.")
@click.option("--list", "list_pages", is_flag=True, help="List the pages that are kept.")
@click.option("--forget", is_flag=True, help="Delete these pages instead of fetching them.")
@common
def command(
    told: Common,
    urls: tuple[str, ...],
    *,
    depth: int | None,
    pages: int | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    other_sites: bool,
    render: str | None,
    fresh: bool,
    list_pages: bool,
    forget: bool,
) -> int:
    """Fetch pages of the web and those they link to, and index them.

    Links within the site are followed. A crawl that is stopped goes on where it was when it is run again; one that
    has ended asks for what has changed since.
    """
    if not urls and not list_pages:
        raise click.UsageError("name at least one address")
    with ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink, told.open(sink) as bee:
        if list_pages:
            return kept(tuple(bee.web.pages()), as_json=told.as_json)
        if forget:
            gone = tuple(page for url in urls if (page := bee.web.get(url)) is not None)
            bee.web.forget(*urls)
            return kept(gone, as_json=told.as_json)
        report = bee.web.crawl(
            *urls,
            depth=depth,
            pages=pages,
            include=include,
            exclude=exclude,
            other_sites=other_sites,
            render=render,
            resume=not fresh,
        )
        return crawled(report, as_json=told.as_json, verbose=bool(told.verbose))
