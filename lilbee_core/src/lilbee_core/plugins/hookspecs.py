"""The hooks of lilbee. A plugin implements some of them and marks each with `hookimpl`.

Hooks return specs, never instances: registration must be cheap and touch no network, disk, thread or
model. An implementation may leave out arguments that it does not need. ``tryfirst``, ``trylast`` and
wrappers mean nothing here, since every plugin is called alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import pluggy

if TYPE_CHECKING:
    from lilbee_core.events import Event
    from lilbee_core.plugins.specs import (
        ChunkerSpec,
        ExtractorSpec,
        FetcherSpec,
        OcrSpec,
        PluginSpec,
        ProviderSpec,
        StageSpec,
    )

GROUP = "lilbee_core"
"""The pluggy project, and the entry-point group that plugins are found in."""

hookspec = pluggy.HookspecMarker(GROUP)
hookimpl = pluggy.HookimplMarker(GROUP)
"""Marks a function of a plugin as the implementation of the hook of the same name."""


@hookspec
def lilbee_plugin() -> PluginSpec:
    """Say who the plugin is. The only hook that every plugin must have."""
    raise NotImplementedError


@hookspec
def lilbee_extractors() -> Iterable[ExtractorSpec]:
    """Offer extractors: they turn files into documents. Active as soon as the plugin is installed."""
    raise NotImplementedError


@hookspec
def lilbee_chunkers() -> Iterable[ChunkerSpec]:
    """Offer chunkers: they cut documents of some media types into chunks."""
    raise NotImplementedError


@hookspec
def lilbee_providers() -> Iterable[ProviderSpec]:
    """Offer providers of models: each serves the model references with its prefix."""
    raise NotImplementedError


@hookspec
def lilbee_search_stages() -> Iterable[StageSpec]:
    """Offer search stages. Each runs once ``search_stages`` names it or the caller passes the plugin."""
    raise NotImplementedError


@hookspec
def lilbee_fetchers() -> Iterable[FetcherSpec]:
    """Offer fetchers of web pages."""
    raise NotImplementedError


@hookspec
def lilbee_ocr_engines() -> Iterable[OcrSpec]:
    """Offer engines that recognize text on page images."""
    raise NotImplementedError


@hookspec
def lilbee_event(event: Event) -> None:
    """Observe what happens. An observer that raises is reported and called no more."""
    raise NotImplementedError
