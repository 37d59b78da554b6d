"""`lilbee ask`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common, filters
from lilbee_cli.render import text
from lilbee_cli.render.json import emit
from lilbee_cli.render.progress import ProgressSink

if TYPE_CHECKING:
    from lilbee_core import Filter


@click.command("ask")
@click.argument("question", nargs=-1, required=True)
@click.option("--profile", "-p", help="Which list of stages: full, default, keyword, semantic, hyde, memory.")
@click.option("--stream/--no-stream", default=True, help="Print the answer as it is written, or when it is complete.")
@click.option("--show-context", is_flag=True, help="Print the passages that the answer is made from, too.")
@filters
@common
def command(
    told: Common, question: tuple[str, ...], *, profile: str | None, stream: bool, show_context: bool, only: Filter
) -> None:
    """Answer a question from your documents, every statement cited.

    Without a chat model the answer is made of the best sentences, and says so.
    """
    asked = " ".join(question)
    with ProgressSink(quiet=told.quiet or told.as_json, verbose=0) as sink, told.open(sink, there=True) as bee:
        if told.as_json or not stream:
            value = bee.ask(asked, profile=profile, filters=only)
            if told.as_json:
                context = {"context": [hit.to_dict() for hit in value.trace or ()]} if show_context else {}
                emit({**value.to_dict(), **context})
            else:
                text.answer(value)
                if show_context:
                    text.context(value)
            return
        for delta in bee.ask_stream(asked, profile=profile, filters=only):
            if delta.kind == "text":
                click.echo(text.clean(delta.text), nl=False)
            elif delta.kind == "done" and delta.answer is not None:
                click.echo()
                text.citations(delta.answer)
                if show_context:
                    text.context(delta.answer)
