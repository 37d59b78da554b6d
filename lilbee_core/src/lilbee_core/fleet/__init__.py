"""Model servers on this machine: which runs where, and the processes themselves."""

from __future__ import annotations

from lilbee_core.fleet._engine import Engine, find_engine
from lilbee_core.fleet._fleet import Fleet, FleetOptions, Planner
from lilbee_core.fleet._gguf_parser import find_estimator
from lilbee_core.fleet._machine import LiveView
from lilbee_core.fleet._placement import parse_placement, placement_json, plan_placement
from lilbee_core.fleet._plan import plan_fleet
from lilbee_core.fleet._planner import ModelPlanner
from lilbee_core.fleet._roles import FleetChat, FleetEmbedding, FleetRerank, FleetVision
from lilbee_core.fleet._routing import Lease
from lilbee_core.fleet._servers import plan_change
from lilbee_core.fleet._sizing import PlanOptions, RoleModel

__all__ = [
    "Engine", "Fleet", "FleetChat", "FleetEmbedding", "FleetOptions", "FleetRerank", "FleetVision", "Lease", "LiveView",
    "ModelPlanner", "PlanOptions", "Planner", "RoleModel", "find_engine", "find_estimator", "parse_placement",
    "placement_json", "plan_change", "plan_fleet", "plan_placement",
]  # fmt: skip
