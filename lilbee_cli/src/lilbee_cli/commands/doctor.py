"""`lilbee doctor`."""

from __future__ import annotations

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render.json import emit
from lilbee_cli.render.text import line


@click.command("doctor")
@common
def command(told: Common) -> int:
    """Check the installation, the models, the plugins and the index, with a fix for each fault."""
    with told.open() as bee:
        checks = bee.doctor.run()
        if told.as_json:
            emit({"checks": [one.to_dict() for one in checks], "ok": all(one.ok for one in checks)})
        else:
            for one in checks:
                mark = click.style("ok   ", fg="green") if one.ok else click.style("fault", fg="red")
                click.echo(f"{mark} {line(one.name)}: {line(one.detail)}")
                if not one.ok and one.hint:
                    click.echo(f"      {line(one.hint)}")
        return 0 if all(one.ok for one in checks) else 1
