"""The wiki in text: what a build would do and did, and drafts as diffs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.codes import FILES_FAILED, OK
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import clean, counted, line

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
                f"{counted(plan.calls, 'call')} of the chat model: about {plan.tokens:,} tokens of requests, at most "
                f"{plan.reply_tokens:,} of replies; they may change more pages"
            )
        )
    click.echo(line(f"{counted(len(plan.pages) + len(plan.removed), 'page')} would change in {folder}"))
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
            line(
                f"{counted(report.calls, 'call')}, {report.tokens:,} tokens; "
                f"{counted(report.dropped, 'unsupported sentence')} dropped"
            )
        )
    if report.waiting:
        wait = "waits" if len(report.waiting) == 1 else "wait"
        click.echo(line(f"{counted(len(report.waiting), 'document')} {wait} for the next build"))
    if report.cancelled:
        click.echo("stopped; run it again to go on")
    click.echo(line(f"{counted(len(report.pages) + len(report.removed), 'page')} changed in {folder}"))
    if report.drafts:
        wait = "waits" if len(report.drafts) == 1 else "wait"
        click.echo(line(f"{counted(len(report.drafts), 'draft')} {wait} for you: lilbee wiki drafts list"))
    for message in report.warnings:
        click.echo(click.style(f"note: {line(message)}", dim=True), err=True)
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
