"""`lilbee use-embedder`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.outcome import embedder_changed
from lilbee_cli.render.progress import ProgressSink


@click.command("use-embedder")
@click.argument("model", required=False)
@click.option("--anew", is_flag=True, help="Make every vector anew with MODEL, from the texts in the index.")
@common
def command(told: Common, model: str | None, *, anew: bool) -> int:
    """Use the embedding model that made this index, or MODEL if that is the same one by another name.

    Its vectors are kept, and a model file that is missing is fetched. A model that gives other vectors is refused;
    with --anew it makes its own. Stopped half-way, that goes on where it was: run it or `lilbee sync` again.
    """
    if anew and model is None:
        raise click.UsageError("--anew needs the model to embed with, for example ollama/nomic-embed-text.")
    with (
        ProgressSink(quiet=told.quiet or told.as_json, verbose=told.verbose) as sink,
        told.open(sink, there=True) as bee,
    ):
        done = bee.embedding.embed_anew(model) if anew and model is not None else bee.embedding.adopt(model)
    return embedder_changed(done, as_json=told.as_json)
