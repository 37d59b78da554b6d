"""Plugins: the hooks they implement, the specs they return, and the host that finds and isolates them.

A plugin author needs this module alone::

    from lilbee_core.plugins import PluginSpec, StageSpec, before, hookimpl

`hookimpl` and the host load pluggy when they are first used; the specs load nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from lilbee_core.plugins.specs import (
    HOOK_API,
    ChunkerSpec,
    ExtractorSpec,
    ExtractServices,
    FetcherSpec,
    OcrSpec,
    Options,
    PluginFailure,
    PluginReport,
    PluginSpec,
    ProviderServices,
    ProviderSpec,
    StagePlace,
    StageServices,
    StageSpec,
    after,
    before,
    replaces,
)

if TYPE_CHECKING:
    from lilbee_core.plugins._stage import PluginStage as PluginStage
    from lilbee_core.plugins.hookspecs import hookimpl as hookimpl
    from lilbee_core.plugins.host import Offer as Offer
    from lilbee_core.plugins.host import PluginHost as PluginHost
    from lilbee_core.plugins.host import load_entry_points as load_entry_points
    from lilbee_core.plugins.placing import Placement as Placement
    from lilbee_core.plugins.placing import place_stages as place_stages

_HOMES = {
    "Offer": "host",
    "Placement": "placing",
    "PluginHost": "host",
    "PluginStage": "_stage",
    "hookimpl": "hookspecs",
    "load_entry_points": "host",
    "place_stages": "placing",
}

__all__ = [
    "HOOK_API", "ChunkerSpec", "ExtractServices", "ExtractorSpec", "FetcherSpec", "OcrSpec", "Offer", "Options",
    "Placement", "PluginFailure", "PluginHost", "PluginReport", "PluginSpec", "PluginStage", "ProviderServices",
    "ProviderSpec", "StagePlace", "StageServices", "StageSpec", "after", "before", "hookimpl", "load_entry_points",
    "place_stages", "replaces",
]  # fmt: skip


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
