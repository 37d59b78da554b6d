"""`lilbee eval`."""

from __future__ import annotations

import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import plots, text
from lilbee_cli.render.charts import of_evaluation
from lilbee_cli.render.json import emit
from lilbee_cli.render.progress import ProgressSink
from lilbee_cli.render.svg import write

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
@click.option("--limit", type=int, metavar="N", help="Only the first N queries; with --draft, at most N.")
@click.option("--draft", is_flag=True, help="Write queries drafted from the library's documents to FOLDER, to edit.")
@click.option("--plot", is_flag=True, help="Also as charts: figures with their intervals, gains, latencies.")
@click.option("--svg", metavar="FILE", type=click.Path(dir_okay=False), help="Write the charts to FILE, as SVG.")
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
    draft: bool,
    per_query: bool,
    plot: bool,
    svg: str | None,
) -> None:
    """Measure retrieval on a judged collection: queries.jsonl, qrels.tsv and corpus.jsonl in FOLDER (BEIR layout).

    Without --library the documents of corpus.jsonl go into a temporary library. With it they stay there, and the next
    run only searches. Without corpus.jsonl the queries are asked of your own library.
    """
    if draft:
        _draft(told, folder, limit)
        return
    if compare and profiles:
        raise click.UsageError("--compare names the profiles itself: leave out --profile")
    if run_file and (compare or len(profiles) > 1):
        raise click.UsageError("--run-file takes one --profile")
    with (
        ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink,
        _library(told, folder, sink) as bee,
    ):
        judged = bee.evaluation.open(folder)
        queries, qrels = judged.queries(), judged.qrels()
        added = bee.add_documents(judged.documents()).warnings if judged.has_documents else ()
        for warning in (*judged.warnings(), *added):
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
    charts = of_evaluation(reports, pairs) if plot or svg else ()
    if svg:
        write(svg, charts, title="How well search finds")
    if told.as_json:
        emit(_figures(reports, pairs, split=split, per_query=per_query))
    else:
        _print(reports, pairs, split=split)
        if plot:
            plots.show(charts)


def _draft(told: Common, folder: str, limit: int | None) -> None:
    with told.open() as bee:
        drafted = bee.evaluation.draft_queries(100 if limit is None else limit)
        written = drafted.write(folder)
    if told.as_json:
        emit({"folder": str(written), **drafted.to_dict()})
    else:
        text.drafted(drafted, str(written))


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
def _library(told: Common, folder: str, sink: EventSink) -> Generator[Lilbee, None, None]:
    """Open the library that was named, the user's own for a set without documents, or one that is deleted later."""
    from lilbee_core import Lilbee

    with Lilbee() as any_library:
        has_documents = any_library.evaluation.open(folder).has_documents
    if not has_documents:
        with told.open(sink) as bee:
            yield bee
        return
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
