"""`lilbee eval`."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
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
    from lilbee_core.evaluation import Comparison, EvaluationReport
    from lilbee_core.events import EventSink


@click.command("eval")
@click.argument("folder", type=click.Path())
@click.option("--profile", "-p", "profiles", multiple=True, help="Which list of stages; may be given several times.")
@click.option("--compare", metavar="A,B", help="Compare profiles query by query, each with the first.")
@click.option("--split", is_flag=True, help="Also the held-out half of the queries, by a hash of their ids.")
@click.option("--run-file", type=click.Path(dir_okay=False), help="Write `query document score` lines to this file.")
@click.option("--limit", type=int, metavar="N", help="Only the first N queries.")
@click.option("--per-query", is_flag=True, help="With --json: also the figures of every query.")
@common
def command(
    told: Common,
    folder: str,
    *,
    profiles: tuple[str, ...],
    compare: str | None,
    split: bool,
    run_file: str | None,
    limit: int | None,
    per_query: bool,
) -> None:
    """Measure retrieval on a judged collection: corpus.jsonl, queries.jsonl and qrels.tsv in FOLDER (BEIR layout).

    Without --library the documents go into a temporary library. With it they stay there, and the next run only
    searches.
    """
    if compare and profiles:
        raise click.UsageError("--compare names the profiles itself: leave out --profile")
    if run_file and (compare or len(profiles) > 1):
        raise click.UsageError("--run-file takes one --profile")
    with ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink, _library(told, sink) as bee:
        judged = bee.evaluation.open(folder)
        queries, qrels = judged.queries(), judged.qrels()
        for warning in bee.add_documents(judged.documents()).warnings:
            text.warn(warning)
        pairs: tuple[Comparison, ...] = ()
        if compare:
            pairs = bee.evaluation.compare(queries, qrels, _names(compare), limit=limit)
            reports = [pairs[0].base, *(pair.other for pair in pairs)]
        else:
            chosen = profiles or (None,)
            reports = [bee.evaluation.run(queries, qrels, profile=profile, limit=limit) for profile in chosen]
    if run_file:
        reports[0].write_run(run_file)
    if told.as_json:
        emit(_figures(reports, pairs, split=split, per_query=per_query))
    else:
        _print(reports, pairs, split=split)


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]


def _figures(
    reports: Sequence[EvaluationReport], pairs: Sequence[Comparison], *, split: bool, per_query: bool
) -> dict[str, object]:
    figures = [report.to_dict(per_query=per_query) for report in reports]
    if split:
        for report, told in zip(reports, figures, strict=True):
            told["held_out"] = report.held_out.to_dict()
    if not pairs:
        return figures[0] if len(figures) == 1 else {"reports": figures}
    compared = [pair.to_dict() for pair in pairs]
    if split:
        for pair, told in zip(pairs, compared, strict=True):
            told["held_out"] = pair.held_out.to_dict()
    return {"reports": figures, "comparisons": compared}


def _print(reports: Sequence[EvaluationReport], pairs: Sequence[Comparison], *, split: bool) -> None:
    text.figures(reports)
    if split:
        text.heading("held-out half")
        text.figures([report.held_out for report in reports])
    for pair in pairs:
        text.comparison(pair)
        if split:
            text.comparison(pair.held_out, where="held-out half, ")


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
