"""Model servers on this machine: which runs where, and the processes themselves."""

from __future__ import annotations

from lilbee_core.fleet._engine import Engine, find_engine
from lilbee_core.fleet._fleet import Fleet, FleetOptions, Planner
from lilbee_core.fleet._routing import Lease

__all__ = ["Engine", "Fleet", "FleetOptions", "Lease", "Planner", "find_engine"]
