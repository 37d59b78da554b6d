"""Models and the plans of their servers, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.render.text import counted, line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lilbee_core.types import FleetPlan, ModelEntry, PlacedServer

_GB = 1e9
_GIB = 1 << 30
SETTINGS = {"chat": "chat_model", "embed": "embedding_model", "rerank": "reranker_model", "vision": "vision_model"}


def entries(found: Sequence[ModelEntry], *, nothing: str) -> None:
    """Show a list of models, one a line."""
    if not found:
        click.echo(nothing)
        return
    widest = max(len(one.ref) for one in found)
    for one in found:
        roles = ",".join(one.roles) or "-"
        detail = "  ".join(part for part in (size(one.size_bytes), one.quantization, one.license, marks(one)) if part)
        click.echo(line(f"{one.ref:<{widest}}  {roles:<11}  {detail}".rstrip()))
        if one.problem:
            click.echo(line(f"  cannot be used: {one.problem}"))
        elif one.summary and one.source in {"featured", "builtin"}:
            click.echo(line(f"  {one.summary}"))


def marks(one: ModelEntry) -> str:
    """Return what is worth knowing of a model beside its size, in parentheses."""
    told = [f"in use for {' and '.join(one.in_use)}"] if one.in_use else []
    if one.source in {"featured", "hub"} and one.installed:
        told.append("installed")
    if one.gated:
        told.append("asks for an account")
    if one.package:
        told.append(f"from {one.package}")
    return f"({', '.join(told)})" if told else ""


def entry(one: ModelEntry) -> None:
    """Show all that is known of one model."""
    rows: list[tuple[str, object]] = [
        ("model", one.ref),
        ("serves", ", ".join(one.roles) or "nothing"),
        ("in use for", ", ".join(one.in_use)),
        ("size", size(one.size_bytes)),
        ("quantization", one.quantization),
        ("context", f"{one.context_tokens} tokens" if one.context_tokens else ""),
        ("vector", f"{one.embedding_length} numbers" if one.embedding_length and "embed" in one.roles else ""),
        ("license", one.license),
        ("languages", ", ".join(one.languages)),
        ("file", one.path or ""),
        ("projector", one.projector or ""),
        ("package", one.package),
        ("cannot be used", one.problem),
    ]
    if one.facts is not None:
        rows += [
            ("architecture", one.facts.architecture),
            ("parameters", f"{one.facts.parameters / 1e6:,.0f} million"),
            ("layers", one.facts.layers),
            ("pooling", one.facts.pooling or ""),
            ("tools", "yes" if one.facts.tools else "no"),
        ]
    for name, value in rows:
        if value != "":
            click.echo(line(f"{name:<14} {value}"))
    for file in one.files:
        click.echo(line(f"  {size(file.size_bytes):>9}  {file.name}"))


def pulled(one: ModelEntry) -> None:
    """Say that a model is here, and how to use it."""
    click.echo(line(f"{one.ref} is here ({size(one.size_bytes)})"))
    for role in one.roles:
        click.echo(line(f"  to use it for {role}: lilbee config set {SETTINGS[role]} {one.ref}"))


def removed(one: ModelEntry, freed: int) -> None:
    """Say that a model is gone, and who misses it."""
    click.echo(line(f"{one.ref} is deleted; {size(freed)} are free again"))
    for role in one.in_use:
        click.echo(line(f"  it is still the model for {role}: lilbee config unset {SETTINGS[role]}"))


def plan(value: FleetPlan, *, placed: bool) -> None:
    """Show which server runs where, card by card."""
    for told in plan_lines(value, placed=placed):
        click.echo(told)
    for warning in value.warnings:
        click.echo(line(f"note: {warning}"), err=True)


def plan_lines(value: FleetPlan, *, placed: bool) -> Iterator[str]:
    """Yield which server runs where, card by card."""
    for place, servers in _places(value):
        yield line(place)
        for server in servers:
            yield line(f"  {_server(server)}")
    for group in value.groups:
        if group.swap:
            yield line(f"one at a time: {', '.join(group.servers)}")
    for refusal in value.refusals:
        yield line(f"no server for {refusal.role}: {refusal.reason}. {refusal.hint}")
    if not value.servers and not value.refusals:
        yield "no role has a model file, so nothing is placed"
    elif placed:
        yield "placed as you said; `lilbee placement clear` lets lilbee plan"


def _places(value: FleetPlan) -> Iterator[tuple[str, list[PlacedServer]]]:
    """Yield each card with its servers, or the memory of the system with all of them."""
    machine = value.machine
    for card in machine.devices:
        here = [one for one in value.servers if card.label in one.devices]
        yield f"{card}, {value.charged(card.label) / _GIB:.1f} GiB planned", here
    if not machine.devices:
        name = machine.accelerator.name if machine.accelerator is not None else counted(machine.cores, "core")
        free, total = machine.free_ram_bytes / _GIB, machine.total_ram_bytes / _GIB
        yield f"{name} ({free:.1f} GiB of memory free, {total:.1f} GiB total)", list(value.servers)


def _server(one: PlacedServer) -> str:
    place = one.footprint.discrete_bytes if one.devices else one.footprint.unified_bytes
    split = f", split {':'.join(f'{share:g}' for share in one.tensor_split)}" if one.tensor_split else ""
    slots = f" x {one.slots}" if one.slots > 1 else ""
    return f"{one.id}  {one.model}  {one.context_tokens} tokens{slots}  about {place / _GIB:.1f} GiB{split}"


def size(amount: int) -> str:
    """Return bytes for people, or nothing where they are not known."""
    if not amount:
        return ""
    return f"{amount / _GB:.1f} GB" if amount >= _GB else f"{amount / 1e6:.0f} MB"
