"""How many files a library reads at once: by its settings, and by the servers that read pages (R032, R033, R036)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from lilbee_core.errors import FleetError, SettingsError
from lilbee_core.fleet import PlanOptions, plan_fleet
from lilbee_core.ingest import AdaptiveGate, StaticGate
from lilbee_core.library._reading import VisionServers, _gate
from lilbee_core.settings import Settings
from lilbee_core.testing import ManualClock
from lilbee_core.types import FleetPlan
from tests.support.machines import VISION, machine

if TYPE_CHECKING:
    from lilbee_core.fleet import Fleet


class PlannedFleet:
    """A fleet that was planned, or cannot be."""

    def __init__(self, plan: FleetPlan | None) -> None:
        self.planned = plan

    def plan(self) -> FleetPlan:
        if self.planned is None:
            raise FleetError("there is no llama-server", hint="Install one.")
        return self.planned


def servers(plan: FleetPlan | None, model: str = "org/eyes/eyes.gguf") -> VisionServers:
    fleet = cast("Fleet", PlannedFleet(plan))
    return VisionServers(Settings().changed({"vision_model": model}), lambda: fleet)


def test_servers_on_cards_are_known_once_they_are_planned() -> None:
    plan = plan_fleet(machine(24.0, 24.0), (VISION,), PlanOptions(vision_replicas=2))
    slots = sum(one.slots for one in plan.of_role("vision"))
    ours = servers(plan)
    assert slots >= 2
    assert (ours.planned_slots(), ours.slots(), ours.are_on_cards()) == (slots, slots, True)
    assert (servers(None).planned_slots(), servers(None).slots(), servers(None).are_on_cards()) == (0, 0, False)
    remote = servers(plan, "ollama/qwen3-vl")
    assert (remote.planned_slots(), remote.slots(), remote.are_on_cards()) == (0, 0, False)


def test_without_cards_no_gate_adapts() -> None:
    ours = servers(plan_fleet(machine(), (VISION,), PlanOptions()))
    assert not ours.are_on_cards()
    gate = _gate("adaptive-aggressive", 2, ours, ManualClock())
    assert isinstance(gate, AdaptiveGate)
    assert gate.measure() is None
    assert gate.limit == max(4, ours.planned_slots())


def test_the_setting_chooses_the_gate() -> None:
    none = servers(None)
    fixed, number = _gate("static", 3, none, ManualClock()), _gate(7, 3, none, ManualClock())
    assert (type(fixed), fixed.limit, type(number), number.limit) == (StaticGate, 6, StaticGate, 7)
    assert Settings().changed({"ingest_concurrency": "adaptive"}).ingest.ingest_concurrency == "adaptive-conservative"
    for wrong in ("quickly", "0", -1):
        with pytest.raises(SettingsError):
            Settings().changed({"ingest_concurrency": wrong})
