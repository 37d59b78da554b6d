"""Finds plugins: those that the caller passed, then the installed ones, each loaded alone."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from lilbee_core.plugins.specs import PluginFailure

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

log = logging.getLogger("lilbee_core.plugins")

T = TypeVar("T")

_GROUP = "lilbee_core"
_MODULE = "module:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Something that may be a plugin. `plugin` is None when it could not be loaded, and `problem` says why."""

    title: str
    plugin: object = None
    version: str = ""
    origin: str = ""
    given: bool = False
    seconds: float = 0.0
    problem: tuple[str, str] | None = None


def installed() -> Iterable[EntryPoint]:
    """Return the entry points of the environment."""
    from importlib.metadata import entry_points

    return entry_points(group=_GROUP)


def candidates(
    given: Sequence[object],
    entry_points: Callable[[], Iterable[EntryPoint]],
    disabled: frozenset[str],
    timer: Callable[[], float],
) -> tuple[list[Candidate], list[PluginFailure]]:
    """Return the passed plugins, then the installed ones by name. A disabled one is not loaded.

    A plugin that is passed and installed is one plugin.
    """
    failures: list[PluginFailure] = []
    points, error = alone(lambda: sorted(entry_points(), key=lambda one: (one.name, one.value)))
    if error is not None:
        # A distribution anywhere in the environment is broken.
        message = f"installed plugins cannot be listed: {told(error)}"
        failures.append(PluginFailure(plugin="entry points", message=message, hint="Run `pip check`."))
    found = [_load(point, disabled, timer) for point in points or ()]
    first: list[Candidate] = []
    for plugin in given:
        twin = next((one for one in found if one.plugin is plugin), None)
        if twin is None:
            first.append(_passed(plugin))
        else:
            found = [one for one in found if one is not twin]
            first.append(replace(twin, given=True))
    return [*first, *found], failures


def modules(origins: Iterable[str]) -> tuple[ModuleType, ...]:
    """Import the modules among `origins`; one that fails is logged and missing."""
    loaded: list[ModuleType] = []
    for name in sorted(one.removeprefix(_MODULE) for one in origins if one.startswith(_MODULE)):
        module, error = alone(partial(import_module, name))
        if module is None:
            log.warning("the plugin module %s cannot be imported here", name, exc_info=error)
        else:
            loaded.append(module)
    return tuple(loaded)


def alone(action: Callable[[], T]) -> tuple[T | None, BaseException | None]:
    """Run a plugin's code: return its result, or whatever it raised, an exit of the program included."""
    try:
        return action(), None
    except (Exception, SystemExit) as error:  # noqa: BLE001 - what a plugin raises costs only itself
        return None, error


def told(error: BaseException) -> str:
    """Return an error as one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _load(point: EntryPoint, disabled: frozenset[str], timer: Callable[[], float]) -> Candidate:
    version = point.dist.version if point.dist is not None else ""
    candidate = Candidate(title=point.name, version=version, origin=point.name)
    if point.name in disabled:
        return candidate
    started = timer()
    plugin, error = alone(point.load)
    if error is not None:
        log.debug("plugin %s", point.name, exc_info=error)
        owner = point.dist.name if point.dist is not None else point.name
        hint = f"Install {owner} again, uninstall it, or add {point.name!r} to plugins_disabled."
        return replace(candidate, problem=(f"{point.value} cannot be imported: {told(error)}", hint))
    return _checked(replace(candidate, plugin=plugin, seconds=timer() - started))


def _passed(plugin: object) -> Candidate:
    module = isinstance(plugin, ModuleType)
    title = plugin.__name__ if isinstance(plugin, ModuleType) else type(plugin).__name__
    return _checked(Candidate(title=title, plugin=plugin, given=True, origin=f"{_MODULE}{title}" if module else ""))


def _checked(candidate: Candidate) -> Candidate:
    plugin = candidate.plugin
    if inspect.isclass(plugin):
        problem = (f"{plugin.__name__} is a class", f"Give an instance: {plugin.__name__}().")
        return replace(candidate, title=candidate.origin or plugin.__name__, plugin=None, problem=problem)
    if plugin is None or isinstance(plugin, str | bytes | int | float | list | tuple | dict):
        problem = (f"{plugin!r} is no plugin", "Give a module or an object that implements hooks.")
        return replace(candidate, plugin=None, problem=problem)
    return candidate
