"""`lilbee completion`."""

from __future__ import annotations

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of SHELL: source it in your shell's start-up file."""
    from click.shell_completion import get_completion_class

    from lilbee_cli.main import cli

    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(cli, {}, "lilbee", "_LILBEE_COMPLETE").source())
