"""`Placing`: where models run, by the planner or as the user says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lilbee_core.arguments import checked
from lilbee_core.errors import PlacementError
from lilbee_core.library._fleet import ROLE_SETTINGS, configured, planner_of
from lilbee_core.settings import Settings
from lilbee_core.types import FleetPlan, Placement, Refusal

if TYPE_CHECKING:
    from lilbee_core.fleet import LiveView
    from lilbee_core.library._parts import Parts

SETTING = "placement"


@checked
class Placing:
    """Shows, tries and changes where the servers of model files run. Reading starts nothing and stops nothing."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def get(self) -> Placement | None:
        """Return the placement that the user chose, or None where lilbee plans by itself.

        Raises:
            PlacementError: If what the settings hold makes no sense.
        """
        from lilbee_core.fleet import parse_placement

        return parse_placement(str(self._parts.settings.get(SETTING)))

    def show(self) -> FleetPlan:
        """Return which server runs where: the plan in force, else the one that the next request would make.

        The bytes of its cards are those of this moment.

        Raises:
            FleetError: If there is no engine, or no plan can be made.
        """
        planned = self._parts.fleet.planned
        if planned is not None:
            return replace(planned, machine=self._view.get())
        return self._try(self._parts.settings, self.get())

    def preview(self, placement: Placement | Mapping[str, Any] | str | None = None) -> FleetPlan:
        """Return what a placement would make of the machine, or the planner where there is none.

        Raises:
            PlacementError: If it makes no sense, names a role whose model file is missing or unusable, or does not fit
                the cards.
            FleetError: If there is no engine.
        """
        return self._checked(self._parsed(placement))

    def set(self, placement: Placement | Mapping[str, Any] | str) -> FleetPlan:
        """Use a placement from now on, and return the plan that it makes. Servers that it does not move keep running.

        It is kept with the user's own settings, since it speaks of this machine.

        Raises:
            PlacementError: If it makes no sense, leaves out a role that has a model file, names one whose model file is
                missing or unusable, or does not fit the cards; nothing is changed then.
            FleetError: If there is no engine.
        """
        from lilbee_core.fleet import placement_json
        from lilbee_core.library._config import Config

        wanted = self._parsed(placement)
        if wanted is None:
            raise PlacementError("there is no placement to set", hint="Run `lilbee placement clear` to have none.")
        plan = self._checked(wanted)
        left_out = [one for one in plan.refusals if one.code == "fleet.not_placed"]
        if left_out:
            raise PlacementError(
                left_out[0].reason, hint=f"Add {left_out[0].role} to it; {left_out[0].model} serves it."
            )
        Config(self._parts).set(SETTING, placement_json(wanted))
        return plan

    def clear(self) -> None:
        """Let lilbee plan by itself again."""
        from lilbee_core.library._config import Config

        Config(self._parts).unset(SETTING)

    # ------------------------------------------------------------------ inside

    @property
    def _view(self) -> LiveView:
        from lilbee_core.fleet import LiveView

        return self._parts.once("machine view", lambda: LiveView(self._parts.fleet.machine, self._parts.clock))

    def _parsed(self, placement: Placement | Mapping[str, Any] | str | None) -> Placement | None:
        from lilbee_core.fleet import parse_placement

        return placement if placement is None or isinstance(placement, Placement) else parse_placement(placement)

    def _checked(self, placement: Placement | None) -> FleetPlan:
        """Return what a placement would make of the machine, if every role that it names has a model to be placed.

        A role that has none yet may be placed beforehand; the plan says so.
        """
        settings = self._parts.settings
        plan = self._try(settings, placement)
        named = {role: plan.refusal(role) for role, _ in placement or ()}
        broken = [one for one in named.values() if one is not None]
        if broken:
            reasons = "; ".join(f"{one.role} cannot be placed: {one.reason}" for one in broken)
            hints = " ".join(dict.fromkeys(one.hint for one in broken if one.hint))
            raise PlacementError(reasons, hint=hints, code=broken[0].code)
        served = {one.role for one in plan.servers}
        idle = tuple(_without_file(role, configured(settings)[role]) for role in named if role not in served)
        return replace(plan, refusals=(*plan.refusals, *idle))

    def _try(self, settings: Settings, placement: Placement | None) -> FleetPlan:
        """Plan without the fleet. Where ours holds memory already, the machine is taken as it was before that."""
        planned = self._parts.fleet.planned
        now = self._view.get()
        plan = planner_of(settings).preview(planned.machine if planned is not None else now, placement)
        return replace(plan, machine=now)


def _without_file(role: str, model: str) -> Refusal:
    """Return why a role of a placement has nothing to be placed."""
    setting = ROLE_SETTINGS[role]
    none = model in ("", "auto", "none")
    return Refusal(
        role=role,
        model=model,
        code="fleet.unserved",
        reason=f"{setting} is {model or 'not set'}, "
        + ("so there is no model file" if none else "which is no model file"),
        hint=f"Set {setting} to a model file (GGUF), or take {role} out of the placement.",
    )
