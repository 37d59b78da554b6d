"""Models: which role has which, what is here, what could be fetched, and where they run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from lilbee_core.types import FleetPlan, ModelEntry, PlacedServer
from lilbee_server.web.shown.lists import size
from lilbee_server.web.shown.settings import ORIGINS

PATH = "/models"
ROLES = {
    "chat": ("chat_model", "Answers questions and writes the wiki."),
    "embed": ("embedding_model", "Makes the vectors by which passages are found by meaning."),
    "rerank": ("reranker_model", "Reads the best hits once more, and puts them in order."),
    "vision": ("vision_model", "Reads scans and pictures."),
}
_HERE = frozenset({"builtin", "server", "folder", "package"})
_GIB = 1 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Role:
    """A role, the model that it has, and those that are here and could have it."""

    name: str
    setting: str
    about: str
    model: str
    origin: str
    fitting: tuple[str, ...]

    @property
    def origin_told(self) -> str:
        """Where the model comes from, in words."""
        return "The default" if self.origin == "default" else f"Set by {ORIGINS.get(self.origin, self.origin)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A model of a list. `is_here` says whether it can be used now, `is_ours` whether it can be deleted."""

    ref: str
    roles: tuple[str, ...]
    size: str
    facts: str
    note: str
    problem: str
    in_use: tuple[str, ...]
    is_here: bool
    is_ours: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A card, or the memory of the system, with the servers that run there."""

    name: str
    servers: tuple[str, ...]


def roles(values: Mapping[str, tuple[str, str]], here: Sequence[ModelEntry]) -> tuple[Role, ...]:
    """Return the roles; `values` are the value and the origin of each setting."""
    return tuple(
        Role(
            name=name,
            setting=setting,
            about=about,
            model=values[setting][0],
            origin=values[setting][1],
            fitting=tuple(one.ref for one in here if name in one.roles and not one.problem),
        )
        for name, (setting, about) in ROLES.items()
    )


def entry(one: ModelEntry) -> Entry:
    """Return a model as a list shows it."""
    notes = [one.summary] if one.summary else []
    notes += ["asks for an account of the hub"] if one.gated else []
    notes += [f"from {one.package}"] if one.package else []
    return Entry(
        ref=one.ref,
        roles=one.roles,
        size=size(one.size_bytes),
        facts=", ".join(fact for fact in (one.quantization, one.license) if fact),
        note="; ".join(notes),
        problem=one.problem,
        in_use=one.in_use,
        is_here=one.installed or one.source in _HERE,
        is_ours=one.source == "folder",
    )


def cards(plan: FleetPlan) -> tuple[Card, ...]:
    """Return which server runs where, card by card."""
    return tuple(Card(name=name, servers=tuple(map(_server, servers))) for name, servers in _places(plan))


def _places(plan: FleetPlan) -> Iterator[tuple[str, Iterable[PlacedServer]]]:
    machine = plan.machine
    for card in machine.devices:
        here = [one for one in plan.servers if card.label in one.devices]
        yield f"{card}, {plan.charged(card.label) / _GIB:.1f} GiB planned", here
    if not machine.devices:
        name = machine.accelerator.name if machine.accelerator is not None else f"{machine.cores} processor cores"
        free, total = machine.free_ram_bytes / _GIB, machine.total_ram_bytes / _GIB
        yield f"{name}, {free:.1f} of {total:.1f} GiB of memory free", plan.servers


def _server(one: PlacedServer) -> str:
    bytes_needed = one.footprint.discrete_bytes if one.devices else one.footprint.unified_bytes
    slots = f", {one.slots} at once" if one.slots > 1 else ""
    return f"{one.id}: {one.model}, {one.context_tokens:,} tokens{slots}, about {bytes_needed / _GIB:.1f} GiB"
