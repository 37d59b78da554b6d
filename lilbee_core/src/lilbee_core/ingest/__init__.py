"""Keeps the index equal to the folders it was made from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.lazy import lazy_names

if TYPE_CHECKING:
    from lilbee_core.ingest._climbing import AGGRESSIVE as AGGRESSIVE
    from lilbee_core.ingest._climbing import CONSERVATIVE as CONSERVATIVE
    from lilbee_core.ingest._climbing import Climber as Climber
    from lilbee_core.ingest._climbing import Move as Move
    from lilbee_core.ingest._climbing import Profile as Profile
    from lilbee_core.ingest._climbing import Sample as Sample
    from lilbee_core.ingest._explain import explain as explain
    from lilbee_core.ingest._gate import AdaptiveGate as AdaptiveGate
    from lilbee_core.ingest._gate import StaticGate as StaticGate
    from lilbee_core.ingest._ignore import DEFAULT_IGNORES as DEFAULT_IGNORES
    from lilbee_core.ingest._ignore import IGNORE_FILES as IGNORE_FILES
    from lilbee_core.ingest._ignore import Globs as Globs
    from lilbee_core.ingest._ingestor import Ingestor as Ingestor
    from lilbee_core.ingest._ingestor import SyncOptions as SyncOptions
    from lilbee_core.ingest._names import shown as shown
    from lilbee_core.ingest._names import unescaped as unescaped
    from lilbee_core.ingest._pipeline import BatchLimits as BatchLimits
    from lilbee_core.ingest._sensors import Reading as Reading
    from lilbee_core.ingest._sensors import Sensor as Sensor
    from lilbee_core.ingest._sensors import SystemSensor as SystemSensor
    from lilbee_core.ingest._walk import Found as Found
    from lilbee_core.ingest._walk import LeftOut as LeftOut
    from lilbee_core.ingest._walk import Root as Root
    from lilbee_core.ingest._walk import Walk as Walk
    from lilbee_core.ingest._walk import WalkOptions as WalkOptions
    from lilbee_core.ingest._watch import Watcher as Watcher
    from lilbee_core.ingest._watch import WatchOptions as WatchOptions
    from lilbee_core.ingest._watch import WatchReport as WatchReport

_HOMES = {
    "_climbing": ("AGGRESSIVE", "CONSERVATIVE", "Climber", "Move", "Profile", "Sample"),
    "_explain": ("explain",),
    "_gate": ("AdaptiveGate", "StaticGate"),
    "_ignore": ("DEFAULT_IGNORES", "IGNORE_FILES", "Globs"),
    "_ingestor": ("Ingestor", "SyncOptions"),
    "_names": ("shown", "unescaped"),
    "_pipeline": ("BatchLimits",),
    "_sensors": ("Reading", "Sensor", "SystemSensor"),
    "_walk": ("Found", "LeftOut", "Root", "Walk", "WalkOptions"),
    "_watch": ("Watcher", "WatchOptions", "WatchReport"),
}
__all__ = [
    "AGGRESSIVE", "CONSERVATIVE", "DEFAULT_IGNORES", "IGNORE_FILES", "AdaptiveGate", "BatchLimits", "Climber", "Found",
    "Globs", "Ingestor", "LeftOut", "Move", "Profile", "Reading", "Root", "Sample", "Sensor", "StaticGate",
    "SyncOptions", "SystemSensor", "Walk", "WalkOptions", "WatchOptions", "WatchReport", "Watcher", "explain", "shown",
    "unescaped",
]  # fmt: skip

if not TYPE_CHECKING:  # or type checkers would take any name for one of ours
    __getattr__ = lazy_names(__name__, _HOMES)
