"""Where an extractor runs, and how a worker process can make it."""

from __future__ import annotations

import importlib.util
import pickle
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Lock

from lilbee_core.errors import LilbeeError
from lilbee_core.extract._registry import build_extractor, validated_options
from lilbee_core.extract._wire import Recipe
from lilbee_core.plugins.specs import ExtractorSpec, ExtractServices
from lilbee_core.protocols import Extractor


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An extractor that runs here, in a worker (`recipe`), or on a thread of this process (neither)."""

    extractor: Extractor
    here: bool
    recipe: Recipe | None = None


class Planner:
    """Builds each extractor once and decides where it runs. Threads may share it."""

    def __init__(self, options: Mapping[str, Mapping[str, object]], services: ExtractServices) -> None:
        self._options = options
        self._services = services
        self._plans: dict[str, Plan | LilbeeError] = {}
        self._lock = Lock()

    def plan(self, spec: ExtractorSpec) -> Plan:
        """Return the plan for an extractor.

        Raises:
            PluginError: If it cannot be built; told again for every file that needs it.
        """
        with self._lock:
            if spec.name not in self._plans:
                self._plans[spec.name] = self._make(spec)
            plan = self._plans[spec.name]
        if isinstance(plan, LilbeeError):
            raise plan
        return plan

    def _make(self, spec: ExtractorSpec) -> Plan | LilbeeError:
        options = self._options.get(spec.name, {})
        try:
            extractor = build_extractor(spec, options, self._services)
        except LilbeeError as error:
            return error
        if extractor.in_process:
            return Plan(extractor=extractor, here=True)
        builder = importable(spec.build)
        if builder is None:
            return Plan(extractor=extractor, here=False)
        recipe = Recipe(name=spec.name, builder=builder, options=dict(validated_options(spec, options)))
        return Plan(extractor=extractor, here=False, recipe=recipe)


def importable(builder: Callable[..., object]) -> bytes | None:
    """Return a builder as a pickle that another process can read, or None when it exists in this process only."""
    try:
        pickled = pickle.dumps(builder, protocol=5)
    except Exception:  # noqa: BLE001 - objects raise what they like when they are pickled
        return None
    # A script's or notebook's own functions are pickled as those of ``__main__``, which is another module there.
    if b"__main__" in pickled or not _has_a_file(getattr(builder, "__module__", None)):
        return None
    return pickled


def _has_a_file(module: object) -> bool:
    if not isinstance(module, str):
        return True
    if module not in sys.modules:
        return False
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError, AttributeError):
        return False
