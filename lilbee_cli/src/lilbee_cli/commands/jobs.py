"""`lilbee jobs`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit, emit_list
from lilbee_cli.render.text import clean, line

if TYPE_CHECKING:
    from lilbee_core.jobs import JobRecord

_SHOWN = 20


@click.group("jobs")
def command() -> None:
    """Long work in the background, of whatever process: a server's, a watch, a crawl."""


@command.command("list")
@click.option("--all", "-a", "all_", is_flag=True, help="Also those that have been over for long.")
@common
def list_(told: Common, *, all_: bool) -> None:
    """List the jobs, newest first, with where they stand."""
    with told.open(there=True) as bee:
        found = bee.jobs.list()
        shown = found if all_ or told.as_json else found[:_SHOWN]
        if told.as_json:
            emit_list("jobs", [one.to_dict() for one in shown])
            return
        for one in shown:
            click.echo(_line(one))
        if len(found) > len(shown):
            click.echo(f"and {len(found) - len(shown)} more; --all lists them", err=True)


@command.command("show")
@click.argument("job_id", metavar="ID")
@common
def show(told: Common, job_id: str) -> None:
    """Show a job: what it was asked, how far it is, and what came of it."""
    with told.open(there=True) as bee:
        record = bee.jobs.require(job_id).record
        if told.as_json:
            emit(record.to_dict())
            return
        click.echo(_line(record))
        for name, value in (*record.options.items(), *(record.result or {}).items(), *(record.error or {}).items()):
            if value not in (None, [], {}, ""):
                click.echo(clean(f"  {name}: {value}"))


@command.command("cancel")
@click.argument("job_id", metavar="ID")
@common
def cancel(told: Common, job_id: str) -> None:
    """Ask a job to end at its next safe point. What it finished stays."""
    with told.open(there=True) as bee:
        job = bee.jobs.require(job_id)
        over = job.state.is_over
        job.cancel()
        if told.as_json:
            emit(job.to_dict())
        else:
            click.echo(line(f"{job.id} is over already: {job.state}" if over else f"{job.id} is asked to end"))


def _line(record: JobRecord) -> str:
    of = f" of {record.total}" if record.total is not None else ""
    far = f"{record.phase} {record.done}{of} {record.unit}" if record.phase else ""
    why = str(record.error.get("message", "")) if record.error is not None else ""
    when = (record.finished_at or record.started_at or record.created_at)[:19].replace("T", " ")
    return line(f"{record.id}  {record.kind:<10} {record.state:<9} {when}  {why or far}").rstrip()
