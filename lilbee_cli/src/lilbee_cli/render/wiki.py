"""The wiki in text: what a build would do and did, and drafts as diffs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.codes import FILES_FAILED, OK
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import clean, line

if TYPE_CHECKING:
    from pathlib import Path

    from lilbee_core.types import PlannedPage, WikiDiff, WikiPlan, WikiReport

_COLORS = {"+": "green", "-": "red", "@": "cyan"}


def planned(plan: WikiPlan, folder: Path, *, as_json: bool) -> int:
    """Show what a build would do."""
    if as_json:
        emit({"folder": str(folder), "dry_run": True, **plan.to_dict()})
        return OK
    for one in plan.asks:
        click.echo(line(f"ask about {one.about}  (about {one.tokens:,} tokens)"))
    _pages(plan.pages, plan.removed)
    if plan.calls:
        click.echo(
            line(
                f"{plan.calls} calls of the chat model: about {plan.tokens:,} tokens of requests, at most "
                f"{plan.reply_tokens:,} of replies; they may change more pages"
            )
        )
    click.echo(line(f"{len(plan.pages) + len(plan.removed)} pages would change in {folder}"))
    return OK


def built(report: WikiReport, folder: Path, *, as_json: bool) -> int:
    """Show what a build did and return the exit code: 3 where the model gave nothing for a document."""
    code = FILES_FAILED if report.failed else OK
    if as_json:
        emit({"folder": str(folder), "dry_run": False, **report.to_dict()})
        return code
    _pages(report.pages, report.removed)
    for about, reason in report.failed:
        click.echo(line(f"failed: {about}: {reason}"))
    if report.calls:
        click.echo(
            line(f"{report.calls} calls, {report.tokens:,} tokens; {report.dropped} unsupported sentences dropped")
        )
    if report.waiting:
        click.echo(line(f"{len(report.waiting)} documents wait for the next build"))
    if report.cancelled:
        click.echo("stopped; run it again to go on")
    click.echo(line(f"{len(report.pages) + len(report.removed)} pages changed in {folder}"))
    if report.drafts:
        click.echo(line(f"{len(report.drafts)} drafts wait for you: lilbee wiki drafts list"))
    return code


def diff(found: WikiDiff) -> None:
    """Show a draft beside its page."""
    click.echo(line(f"{found.title}: {found.reason}"))
    for text in found.diff.splitlines():
        click.secho(clean(text), fg=_COLORS.get(text[:1]))
    for one in found.dropped:
        click.echo(line(f"left out, not borne out: {one}"))


def _pages(pages: tuple[PlannedPage, ...], removed: tuple[str, ...]) -> None:
    for page in pages:
        click.echo(line(f"{page.slug}  ({'draft' if page.state == 'draft' else page.kind}, {page.reason})"))
    for slug in removed:
        click.echo(line(f"{slug}  (archived)"))
