"""`lilbee ask`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common, filters
from lilbee_cli.render import text
from lilbee_cli.render.json import emit

if TYPE_CHECKING:
    from lilbee_core import Filter


@click.command("ask")
@click.argument("question", nargs=-1, required=True)
@click.option("--profile", "-p", help="Which list of stages: full, default, keyword, semantic, hyde, memory.")
@click.option("--no-stream", is_flag=True, help="Print the answer when it is complete.")
@filters
@common
def command(told: Common, question: tuple[str, ...], *, profile: str | None, no_stream: bool, only: Filter) -> None:
    """Answer a question from your documents, every statement cited.

    Without a chat model the answer is made of the best sentences, and says so.
    """
    asked = " ".join(question)
    with told.open() as bee:
        if told.as_json or no_stream:
            value = bee.ask(asked, profile=profile, filters=only)
            if told.as_json:
                emit(value.to_dict())
            else:
                text.answer(value)
            return
        for delta in bee.ask_stream(asked, profile=profile, filters=only):
            if delta.kind == "text":
                click.echo(text.clean(delta.text), nl=False)
            elif delta.kind == "done" and delta.answer is not None:
                click.echo()
                text.citations(delta.answer)
