"""`lilbee placement`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from lilbee_cli.options import Common, common
from lilbee_cli.render import models
from lilbee_cli.render.json import emit

if TYPE_CHECKING:
    from lilbee_core.types import FleetPlan

_SPEC = '{"chat": {"devices": [0, 1]}, "embed": {"devices": [2]}}'


@click.group("placement")
def command() -> None:
    """Show and change which card runs which model file."""


@command.command("show")
@common
def show(told: Common) -> None:
    """Show which server runs where, and what each card has free."""
    with told.open() as bee:
        found = bee.placement.show()
        _tell(told, found, placed=found.manual)


@command.command("preview", epilog=f"SPEC is JSON such as '{_SPEC}', or - to read it from stdin.")
@click.argument("spec", required=False)
@common
def preview(told: Common, spec: str | None) -> None:
    """Show what a placement would make of this machine, or lilbee's own plan without SPEC. Changes nothing."""
    with told.open() as bee:
        found = bee.placement.preview(_read(spec))
        _tell(told, found)


@command.command("set", epilog=f"SPEC is JSON such as '{_SPEC}', or - to read it from stdin.")
@click.argument("spec")
@common
def set_(told: Common, spec: str) -> None:
    """Run models on the cards that SPEC names. Servers that it does not move keep running."""
    with told.open() as bee:
        found = bee.placement.set(_read(spec) or "")
        _tell(told, found, placed=True)


@command.command("clear")
@common
def clear(told: Common) -> None:
    """Let lilbee plan by itself again."""
    with told.open() as bee:
        bee.placement.clear()
    if told.as_json:
        emit({"placement": None})
    else:
        click.echo("lilbee plans by itself now")


def _read(spec: str | None) -> str | None:
    return sys.stdin.read() if spec == "-" else spec


def _tell(told: Common, plan: FleetPlan, *, placed: bool = False) -> None:
    if told.as_json:
        emit(plan.to_dict())
    else:
        models.plan(plan, placed=placed)
