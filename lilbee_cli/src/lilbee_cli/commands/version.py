"""`lilbee version`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit


@click.command("version")
@common
def command(told: Common) -> None:
    """Print the version of lilbee, of its parts and of Python."""
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found: dict[str, object] = {"python": platform.python_version()}
    for name in ("lilbee-core", "lilbee-cli", "lilbee-server", "lilbee-mcp"):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    if told.as_json:
        emit(found)
        return
    for name, value in found.items():
        click.echo(f"{name} {value}")
