"""The planner of a fleet that serves given model files on this machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lilbee_core.fleet._engine import Engine
from lilbee_core.fleet._footprint import Estimator
from lilbee_core.fleet._launcher import child_environment
from lilbee_core.fleet._machine import list_devices, snapshot, system_memory, usable_cores
from lilbee_core.fleet._placement import plan_placement
from lilbee_core.fleet._plan import plan_fleet
from lilbee_core.fleet._sizing import PlanOptions, RoleModel
from lilbee_core.types import FleetPlan, MachineSnapshot, Placement, Refusal


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlanner:
    """Plans servers for models, by the placement of the options or by itself.

    `models` is asked at each plan; a role whose model cannot be had is refused, and the others are planned all the
    same. `environment` is what a server will see, `estimator` says what a model takes.
    """

    models: Callable[[], Sequence[RoleModel | Refusal]]
    options: PlanOptions
    environment: Mapping[str, str] | None = None
    estimator: Estimator | None = None

    def look(self, engine: Engine) -> MachineSnapshot:
        """Return what the machine has to offer now.

        Raises:
            FleetError: If the engine cannot list its cards.
        """
        seen = child_environment((), self.environment)
        text = list_devices(engine.command, seen)
        return snapshot(text, seen, memory=system_memory(), cores=usable_cores())

    def plan(self, machine: MachineSnapshot) -> FleetPlan:
        """Return the plan for the models.

        Raises:
            FleetError: If the placement does not fit the machine.
        """
        return self.preview(machine, self.options.placement)

    def preview(self, machine: MachineSnapshot, placement: Placement | None) -> FleetPlan:
        """Return the plan that a placement makes, or the planner by itself."""
        seen = child_environment((), self.environment)
        found = list(self.models())
        models = [one for one in found if isinstance(one, RoleModel)]
        refused = [one for one in found if isinstance(one, Refusal)]
        if placement is None:
            plan = plan_fleet(machine, models, self.options, environment=seen, estimator=self.estimator)
        else:
            plan = plan_placement(machine, models, placement, self.options, environment=seen, estimator=self.estimator)
        return replace(plan, refusals=(*plan.refusals, *refused))
