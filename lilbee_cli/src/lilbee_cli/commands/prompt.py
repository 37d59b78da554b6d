"""`lilbee prompt`."""

from __future__ import annotations

import sys

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import talk
from lilbee_cli.render.json import emit, emit_list


@click.group("prompt")
def command() -> None:
    """Show and change what chat models are told: every wording, for all models or for one."""


@command.command("list")
@common
def list_(told: Common) -> None:
    """List the wordings, and where each comes from."""
    with told.open() as bee:
        found = bee.prompts.list()
        if told.as_json:
            emit_list("prompts", [one.to_dict() for one in found])
        else:
            talk.prompts(found)


@command.command("show")
@click.argument("name")
@click.option("--default", "default", is_flag=True, help="The wording that comes with lilbee.")
@common
def show(told: Common, name: str, *, default: bool) -> None:
    """Print a wording as it is used now."""
    with told.open() as bee:
        found = bee.prompts.get(name)
        text = bee.prompts.default(name) if default else found.text
        if told.as_json:
            emit({**found.to_dict(), "text": text})
        else:
            click.echo(text)


@command.command("set")
@click.argument("name")
@click.argument("text", nargs=-1, required=True)
@click.option("--model", help="For this chat model alone (provider/name).")
@common
def set_(told: Common, name: str, text: tuple[str, ...], *, model: str | None) -> None:
    """Use another wording. A single - as TEXT reads standard input; "" switches off what can be switched off."""
    with told.open() as bee:
        set_to = bee.prompts.set(name, sys.stdin.read() if text == ("-",) else " ".join(text), model=model)
        if told.as_json:
            emit(set_to.to_dict())
        else:
            talk.prompts([set_to])


@command.command("unset")
@click.argument("name")
@click.option("--model", help="For this chat model alone (provider/name).")
@common
def unset(told: Common, name: str, *, model: str | None) -> None:
    """Go back to the wording that holds otherwise."""
    with told.open() as bee:
        bee.prompts.unset(name, model=model)
        found = bee.prompts.get(name)
        if told.as_json:
            emit(found.to_dict())
        else:
            talk.prompts([found])


@command.command("preview")
@click.argument("question", nargs=-1, required=True)
@click.option("--conversation", "-r", "ref", help="As the next message of this conversation.")
@common
def preview(told: Common, question: tuple[str, ...], *, ref: str | None) -> None:
    """Print exactly what the chat model would be sent for a question, without asking it."""
    with told.open() as bee:
        conversation = bee.conversations.require(ref) if ref else bee.conversations.create()
        request = conversation.preview(" ".join(question))
        if told.as_json:
            emit({"request": None if request is None else request.to_dict()})
        else:
            talk.request(request)
