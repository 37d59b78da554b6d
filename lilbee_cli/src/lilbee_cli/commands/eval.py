"""`lilbee eval`."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import text
from lilbee_cli.render.json import emit
from lilbee_cli.render.progress import ProgressSink

if TYPE_CHECKING:
    from lilbee_core import Lilbee
    from lilbee_core.events import EventSink


@click.command("eval")
@click.argument("folder", type=click.Path())
@click.option("--profile", "-p", "profiles", multiple=True, help="Which list of stages; may be given several times.")
@click.option("--run-file", type=click.Path(dir_okay=False), help="Write `query document score` lines to this file.")
@click.option("--limit", type=int, metavar="N", help="Only the first N queries.")
@click.option("--per-query", is_flag=True, help="With --json: also the figures of every query.")
@common
def command(
    told: Common, folder: str, *, profiles: tuple[str, ...], run_file: str | None, limit: int | None, per_query: bool
) -> None:
    """Measure retrieval on a judged collection: corpus.jsonl, queries.jsonl and qrels.tsv in FOLDER (BEIR layout).

    Without --library the documents go into a temporary library. With it they stay there, and the next run only
    searches.
    """
    if run_file and len(profiles) > 1:
        raise click.UsageError("--run-file takes one --profile")
    with ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink, _library(told, sink) as bee:
        judged = bee.evaluation.open(folder)
        queries, qrels = judged.queries(), judged.qrels()
        for warning in bee.add_documents(judged.documents()).warnings:
            text.warn(warning)
        reports = [bee.evaluation.run(queries, qrels, profile=profile, limit=limit) for profile in profiles or (None,)]
    if run_file:
        reports[0].write_run(run_file)
    figures = [report.to_dict(per_query=per_query) for report in reports]
    if told.as_json:
        emit(figures[0] if len(figures) == 1 else {"reports": figures})
    else:
        text.figures(reports)


@contextmanager
def _library(told: Common, sink: EventSink) -> Generator[Lilbee, None, None]:
    """Open the library that was named, or one that is deleted afterwards."""
    from lilbee_core import Lilbee

    if told.library or told.data_dir:
        if told.library:
            Path(told.library).expanduser().mkdir(parents=True, exist_ok=True)
        with Lilbee(told.library, data_dir=told.data_dir, events=sink) as bee:
            yield bee
        return
    with (
        tempfile.TemporaryDirectory(prefix="lilbee-eval-", ignore_cleanup_errors=True) as folder,
        Lilbee(data_dir=folder, events=sink) as bee,
    ):
        yield bee
