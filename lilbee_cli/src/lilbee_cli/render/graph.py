"""Concepts, for people."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from lilbee_cli.render.text import clean, width
from lilbee_cli.render.text import line as one_line

if TYPE_CHECKING:
    from lilbee_core.types import Community, Concept, Relation

    Named = Callable[[str], Concept | None]

_SHOWN = 12


def topics(found: Sequence[Community], named: Named) -> None:
    """Show communities, each with its most central concepts."""
    if not found:
        click.echo("No topics: no concepts of these documents belong together.")
    for one in found:
        click.echo(one_line(f"{one.label}  ({len(one.concepts)} concepts, {one.chunks} passages)"))
        labels = [_label(id_, named) for id_ in one.concepts[3 : 3 + _SHOWN]]
        if labels:
            rest = len(one.concepts) - 3 - len(labels)
            line = ", ".join(labels) + (f", and {rest} more" if rest > 0 else "")
            click.echo(clean(textwrap.fill(line, width(), initial_indent="  ", subsequent_indent="  ")))


def related(concept: Concept | None, found: Sequence[Relation], named: Named) -> None:
    """Show what goes with a concept."""
    if concept is not None:
        aliases = f", also {', '.join(concept.aliases)}" if concept.aliases else ""
        click.echo(one_line(f"{concept.label}: {concept.kind}, {concept.chunks} passages{aliases}"))
    if not found:
        click.echo("  meets no other concept more often than by chance")
    for one in found:
        click.echo(one_line(f"  {_label(one.target, named)}  ({one.count} passages, {one.weight:.1f} bits)"))


def decisions(found: Mapping[str, str | None]) -> None:
    """Show what was decided by hand."""
    if not found:
        click.echo("Nothing was merged or left out by hand.")
    for name, into in found.items():
        click.echo(one_line(f"{name} is left out" if into is None else f"{name} counts as {into}"))


def _label(id_: str, named: Named) -> str:
    known = named(id_)
    return known.label if known is not None else id_
