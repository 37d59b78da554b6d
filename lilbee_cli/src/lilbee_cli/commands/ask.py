"""`lilbee ask`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.codes import FAILED, OK
from lilbee_cli.options import Common, common, filters
from lilbee_cli.render import text
from lilbee_cli.render.json import emit
from lilbee_cli.render.progress import ProgressSink

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lilbee_core import Answer, Filter
    from lilbee_core.types import Delta


@click.command("ask")
@click.argument("question", nargs=-1, required=True)
@click.option("--profile", "-p", help="Which list of stages: full, default, keyword, semantic, hyde, memory.")
@click.option("--stream/--no-stream", default=True, help="Print the answer as it is written, or when it is complete.")
@click.option("--show-context", is_flag=True, help="Print the passages that the answer is made from, too.")
@filters
@common
def command(
    told: Common, question: tuple[str, ...], *, profile: str | None, stream: bool, show_context: bool, only: Filter
) -> int:
    """Answer a question from your documents, every statement cited.

    Without a chat model the answer is made of the best sentences, and says so. One that the chat model breaks off is
    printed as far as it went; the exit code is 1 then.
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
        else:
            value = _streamed(bee.ask_stream(asked, profile=profile, filters=only))
            if show_context:
                text.context(value)
    return OK if value.broken_off is None else FAILED


def _streamed(deltas: Iterator[Delta]) -> Answer:
    """Print an answer as it is written, and return it. Whatever ends it, what follows begins on a new line."""
    within_line = False
    try:
        for delta in deltas:
            if delta.kind == "text" and delta.text:
                told = text.clean(delta.text)
                click.echo(told, nl=False)
                within_line = not told.endswith("\n")
            elif delta.answer is not None:
                if within_line:
                    click.echo()
                within_line = False
                text.citations(delta.answer)
                return delta.answer
    finally:
        if within_line:
            click.echo()
    raise AssertionError("a stream ends with `done`")
