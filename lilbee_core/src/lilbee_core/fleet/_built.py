"""A plan with its servers: what a fleet is made of from its first use until it is closed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lilbee_core.errors import FleetError
from lilbee_core.fleet._groups import Group
from lilbee_core.fleet._loading import Surroundings
from lilbee_core.fleet._routing import Role
from lilbee_core.fleet._server import Server
from lilbee_core.fleet._servers import plan_change
from lilbee_core.types import FleetPlan


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A plan, and the servers that it says, by group and by role."""

    plan: FleetPlan
    around: Surroundings
    groups: Mapping[str, Group]
    roles: Mapping[str, Role]

    @property
    def servers(self) -> tuple[Server, ...]:
        """All servers, by group."""
        return tuple(one for group in self.groups.values() for one in group.servers)

    def role(self, name: str, model: str | None) -> Role:
        """Return the servers of a role.

        Raises:
            FleetError: If it has none, or they serve another model.
        """
        role = self.roles.get(name)
        if role is None:
            raise unserved(self.plan, name)
        served = role.servers[0].placed.model
        if model is not None and model != served:
            raise FleetError(
                f"{model} cannot be used for {name}: this fleet serves {served}",
                hint=f"Set the {name} model to {model}; its server is started anew then.",
                code="fleet.wrong_model",
            )
        return role

    def changes(self, plan: FleetPlan) -> tuple[dict[str, Group], list[Group], set[str]]:
        """Return the groups that stay under another plan, those that go, and the names of all that change."""
        change = plan_change(self.plan, plan)
        kept = {name: self.groups[name] for name in change.kept}
        gone = [one for name, one in self.groups.items() if name not in kept]
        return kept, gone, {one.name for one in gone} | {one.name for one in plan.groups if one.name not in kept}


def roles_of(groups: Mapping[str, Group]) -> dict[str, Role]:
    """Return the servers of each role, by replica."""
    found: dict[str, list[tuple[Server, Group]]] = {}
    for group in groups.values():
        for server in group.servers:
            found.setdefault(server.placed.role, []).append((server, group))
    roles: dict[str, Role] = {}
    for name, pairs in found.items():
        pairs.sort(key=lambda pair: pair[0].placed.replica)
        roles[name] = Role(name, [server for server, _ in pairs], pairs[0][1].turns)
    return roles


def end(groups: Sequence[Group], *, keep: bool = False, reason: str = "closed") -> None:
    """End groups, or leave what is ready of them running. Starts no threads: Python has none to give when it ends."""
    if keep:
        for group in groups:
            group.detach()
        return
    # All are asked at once, so that waiting for one is waiting for all.
    for group in groups:
        group.ask_to_end()
    for group in groups:
        group.close(reason)


def unserved(plan: FleetPlan, role: str) -> FleetError:
    """Return the error for a role without a server."""
    refusal = plan.refusal(role)
    if refusal is None:
        return FleetError(
            f"there is no {role} model in this fleet",
            hint=f"Set the {role} model to a model file (GGUF).",
            code="fleet.unserved",
        )
    return FleetError(f"{refusal.model} gets no server: {refusal.reason}", hint=refusal.hint, code=refusal.code)
