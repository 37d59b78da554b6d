"""Keeps the index equal to the folders it was made from."""

from lilbee_core.ingest._explain import explain
from lilbee_core.ingest._ignore import DEFAULT_IGNORES, IGNORE_FILES, Globs
from lilbee_core.ingest._ingestor import Ingestor, SyncOptions
from lilbee_core.ingest._names import shown, unescaped
from lilbee_core.ingest._pipeline import BatchLimits
from lilbee_core.ingest._walk import Found, LeftOut, Root, Walk, WalkOptions

__all__ = [
    "DEFAULT_IGNORES", "IGNORE_FILES", "BatchLimits", "Found", "Globs", "Ingestor", "LeftOut", "Root", "SyncOptions",
    "Walk", "WalkOptions", "explain", "shown",
    "unescaped",
]  # fmt: skip
