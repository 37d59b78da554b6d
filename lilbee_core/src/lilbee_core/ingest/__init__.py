"""Keeps the index equal to the folders it was made from."""

from lilbee_core.ingest._climbing import AGGRESSIVE, CONSERVATIVE, Climber, Move, Profile, Sample
from lilbee_core.ingest._explain import explain
from lilbee_core.ingest._gate import AdaptiveGate, StaticGate
from lilbee_core.ingest._ignore import DEFAULT_IGNORES, IGNORE_FILES, Globs
from lilbee_core.ingest._ingestor import Ingestor, SyncOptions
from lilbee_core.ingest._names import shown, unescaped
from lilbee_core.ingest._pipeline import BatchLimits
from lilbee_core.ingest._sensors import Reading, Sensor, SystemSensor
from lilbee_core.ingest._walk import Found, LeftOut, Root, Walk, WalkOptions
from lilbee_core.ingest._watch import Watcher, WatchOptions, WatchReport

__all__ = [
    "AGGRESSIVE", "CONSERVATIVE", "DEFAULT_IGNORES", "IGNORE_FILES", "AdaptiveGate", "BatchLimits", "Climber", "Found",
    "Globs", "Ingestor", "LeftOut", "Move", "Profile", "Reading", "Root", "Sample", "Sensor", "StaticGate",
    "SyncOptions", "SystemSensor", "Walk", "WalkOptions", "WatchOptions", "WatchReport", "Watcher", "explain", "shown",
    "unescaped",
]  # fmt: skip
