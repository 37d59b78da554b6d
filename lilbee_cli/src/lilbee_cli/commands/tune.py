"""`lilbee tune`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import text
from lilbee_cli.render.json import emit
from lilbee_cli.render.progress import ProgressSink


@click.command("tune")
@click.argument("folder", type=click.Path(), required=False)
@click.option("--name", default="tuned", show_default=True, help="What the profile is called.")
@click.option("--metric", default="ndcg@10", show_default=True, help="What is to become better.")
@click.option("--dry-run", is_flag=True, help="Only say what would be written.")
@click.option("--forget", metavar="NAME", help="Remove a profile that was written, and do nothing else.")
@common
def command(told: Common, folder: str | None, *, name: str, metric: str, dry_run: bool, forget: str | None) -> None:
    """Look for search settings that find more on the judged queries in FOLDER (queries.jsonl and qrels.tsv).

    Half of the queries chooses, the other half judges. What is not worse there is written to the library's config.toml
    as a profile, for `lilbee search --profile NAME` or the setting `profile`.
    """
    if (folder is None) == (forget is None):
        raise click.UsageError("name the FOLDER of the judged queries, or --forget NAME")
    with (
        ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink,
        told.open(sink, there=True) as bee,
    ):
        if forget is not None:
            bee.config.unset_profile(forget)
            _say(told, {"forgotten": forget}, f"the profile {text.line(forget)} is forgotten")
            return
        assert folder is not None
        judged = bee.evaluation.open(folder)
        for warning in judged.warnings():
            text.warn(warning)
        found = bee.evaluation.tune(judged.queries(), judged.qrels(), name=name, metric=metric, save=not dry_run)
    if told.as_json:
        emit(found.to_dict())
    else:
        text.tuning(found)


def _say(told: Common, value: dict[str, object], line: str) -> None:
    if told.as_json:
        emit(value)
    else:
        told.echo(line)
