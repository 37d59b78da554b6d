"""`lilbee config`."""

from __future__ import annotations

from typing import cast

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import line


@click.group("config", invoke_without_command=True)
@common
@click.pass_context
def command(ctx: click.Context, told: Common) -> None:
    """Show all settings with their origin, or change one."""
    if ctx.invoked_subcommand is not None:
        return
    with told.open() as bee:
        rows = list(bee.config.items())
        if told.as_json:
            emit({"settings": {name: {"value": _plain(value), "origin": origin} for name, value, origin in rows}})
            return
        for name, value, origin in rows:
            shown = f"{name} = {_plain(value)!r}"
            click.echo(line(f"{shown}  ({origin})") if origin != "default" else line(shown))


@command.command("get")
@click.argument("name")
@common
def get(told: Common, name: str) -> None:
    """Print one setting."""
    with told.open() as bee:
        value = next((value for key, value, _ in bee.config.items() if key == name), None)
        if value is None:
            value = bee.config.get(name)
        if told.as_json:
            emit({"name": name, "value": _plain(value), "origin": bee.settings.origin(name)})
        else:
            click.echo(line(str(_plain(value))))


@command.command("set")
@click.argument("name")
@click.argument("value")
@common
def set_(told: Common, name: str, value: str) -> None:
    """Change a setting in the library's config.toml (keys and addresses: in your own)."""
    with told.open() as bee:
        bee.config.set(name, value)
        if told.as_json:
            emit({"name": name, "origin": bee.settings.origin(name)})
        else:
            click.echo(f"{line(name)} is set")


@command.command("unset")
@click.argument("name")
@common
def unset(told: Common, name: str) -> None:
    """Go back to the default."""
    with told.open() as bee:
        bee.config.unset(name)
        if told.as_json:
            emit({"name": name, "origin": bee.settings.origin(name)})
        else:
            click.echo(f"{line(name)} is back to its default")


def _plain(value: object) -> object:
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value
