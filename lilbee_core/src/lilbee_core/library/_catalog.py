"""The models of this machine, as the settings say where they are."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from lilbee_core.library._fleet import configured, model_folder
from lilbee_core.library._models import BUILTIN
from lilbee_core.types import ModelRef

if TYPE_CHECKING:
    from lilbee_core.events import EventSink
    from lilbee_core.library._parts import Parts
    from lilbee_core.models import Models
    from lilbee_core.protocols import CancelToken
    from lilbee_core.settings import Settings
    from lilbee_core.types import ModelEntry


def models_of(parts: Parts) -> Models:
    """Return the models, built once for these settings."""
    return parts.once("models", lambda: parts.owned(_build(parts, parts.events)))


def pull(parts: Parts, ref: str, cancel: CancelToken, events: EventSink) -> ModelEntry:
    """Fetch a model as a job does, whose progress is its own."""
    with closing(_build(parts, events)) as models:
        return models.pull(ref, cancel=cancel)


def _build(parts: Parts, events: EventSink) -> Models:
    from lilbee_core.models import Hub, Models

    options = parts.settings.fleet
    folder = model_folder(parts.settings)
    hub = Hub(options.hub_url, token=options.hub_token, clock=parts.clock, folder=str(folder.folder))
    return Models(
        folder,
        hub,
        in_use=lambda: _in_use(parts.settings),
        served=lambda: _served(parts.settings),
        events=events,
    )


def _in_use(settings: Settings) -> dict[str, str]:
    found = configured(settings)
    if found["embed"].lower() == "auto":
        found["embed"] = BUILTIN
    return {role: str(ModelRef.parse(text)) for role, text in found.items() if "/" in text or text.endswith(".gguf")}


def _served(settings: Settings) -> tuple[str, ...]:
    from lilbee_core.providers import local_models

    options = settings.models
    return tuple(local_models(ollama_base_url=options.ollama_base_url, lm_studio_base_url=options.lm_studio_base_url))
