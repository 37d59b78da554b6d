"""Finds plugins, loads and calls each alone, and reports what is wrong with them."""

from __future__ import annotations

import difflib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar, cast

from lilbee_core.errors import LilbeeError, PluginError
from lilbee_core.plugins import _finding
from lilbee_core.plugins._checks import Spec, SpecT, shape_problem
from lilbee_core.plugins._finding import alone, told
from lilbee_core.plugins._registry import ASK, Offer, Record, Registry
from lilbee_core.plugins.specs import (
    ChunkerSpec,
    ExtractorSpec,
    FetcherSpec,
    OcrSpec,
    PluginFailure,
    PluginReport,
    ProviderSpec,
    StageSpec,
)

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from lilbee_core.events import Event

__all__ = ["Offer", "PluginHost", "load_entry_points"]

log = logging.getLogger("lilbee_core.plugins")

T = TypeVar("T")


class PluginHost:
    """The plugins of a library: built-in, passed by the caller, and installed.

    Nothing is loaded before the first question. Plugins that the caller passed come first, then the
    installed ones by entry-point name. A plugin that is broken costs only itself, a broken hook only its
    own parts, a broken part only itself; `reports` tells. Threads may share it.

    Args:
        plugins: Modules or objects that implement hooks; their search stages are active.
        disabled: Names of plugins that are never loaded.
        strict: Raise `PluginError` instead of going on without the broken part.
        options: The settings table of each plugin, by name.
        entry_points: Where installed plugins are looked up; the environment when None.
        timer: Seconds, to notice slow registration.
        slow_s: What counts as slow.
    """

    def __init__(
        self,
        plugins: Sequence[object] = (),
        *,
        disabled: Iterable[str] = (),
        strict: bool = False,
        options: Mapping[str, Mapping[str, object]] | None = None,
        entry_points: Callable[[], Iterable[EntryPoint]] | None = None,
        timer: Callable[[], float] = time.perf_counter,
        slow_s: float = 1.0,
    ) -> None:
        self._given = tuple(plugins)
        self._disabled = frozenset(disabled)
        self._strict = strict
        self._entry_points = entry_points or _finding.installed
        self._timer = timer
        self._registry = Registry(disabled=self._disabled, tables=dict(options or {}), timer=timer, slow_s=slow_s)
        self._loaded = False
        self._lock = threading.RLock()

    # ------------------------------------------------------------------ asking

    def extractors(self) -> tuple[Offer[ExtractorSpec], ...]:
        """Return all extractors, best first among equals: higher priority, then name."""
        return self._ranked(ExtractorSpec)

    def chunkers(self) -> tuple[Offer[ChunkerSpec], ...]:
        """Return all chunkers, higher priority first, then by name."""
        return self._ranked(ChunkerSpec)

    def fetchers(self) -> tuple[Offer[FetcherSpec], ...]:
        """Return all fetchers, higher priority first, then by name."""
        return self._ranked(FetcherSpec)

    def ocr_engines(self) -> tuple[Offer[OcrSpec], ...]:
        """Return all OCR engines, higher priority first, then by name."""
        return self._ranked(OcrSpec)

    def providers(self) -> tuple[Offer[ProviderSpec], ...]:
        """Return all providers; no two share a prefix."""
        return self._of(ProviderSpec)

    def stages(self) -> tuple[Offer[StageSpec], ...]:
        """Return all search stages, active or not."""
        return self._of(StageSpec)

    def active_stages(self, names: Iterable[str] = ()) -> tuple[Offer[StageSpec], ...]:
        """Return the plugins' stages that are named or whose plugin the caller passed, by name.

        A name that nobody offers is reported.
        """
        offers = {one.spec.name: one for one in self.stages() if not one.builtin}
        wanted = {name: one for name, one in offers.items() if one.given}
        for name in names:
            if name in offers:
                wanted[name] = offers[name]
                continue
            near = difflib.get_close_matches(name, offers, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Install its plugin, or take {name!r} out."
            message = f"search_stages names {name!r}, which no plugin offers"
            self.fail(PluginFailure(plugin=name, part=name, message=message, hint=hint))
        return tuple(wanted[name] for name in sorted(wanted))

    @property
    def reports(self) -> tuple[PluginReport, ...]:
        """What was found, the built-ins first."""
        self.load()
        return tuple(record.report() for record in self._registry.records)

    @property
    def failures(self) -> tuple[PluginFailure, ...]:
        """All that is wrong, plugin by plugin."""
        return tuple(failure for report in self.reports for failure in report.failures)

    # ------------------------------------------------------------------ using

    def attempt(self, offer: Offer[Spec], make: Callable[[], T]) -> T | None:
        """Build a part: return what `make` makes, or None after a report when it fails.

        Built-in parts are not shielded: their errors are the caller's.
        """
        if offer.builtin:
            return make()
        name, plugin = offer.spec.name, offer.plugin
        made, error = alone(make)
        if error is not None:
            hint = error.hint if isinstance(error, LilbeeError) else ""
            message = f"{name!r} cannot be built: {told(error)}"
            self._shield(PluginFailure(plugin=plugin, part=name, message=message, hint=hint or ASK), error)
            return None
        problem = shape_problem(made, type(offer.spec))
        if problem:
            self.fail(PluginFailure(plugin=plugin, part=name, message=problem[0], hint=problem[1]))
            return None
        return made

    def emit(self, event: Event) -> None:
        """Tell every observer; one that raises is reported and told no more."""
        self.load()
        for observer in tuple(self._registry.observers):
            _, error = alone(partial(observer.tell, event=event))
            if error is None:
                continue
            with self._lock:
                if observer in self._registry.observers:
                    self._registry.observers.remove(observer)
            message = f"lilbee_event raised {told(error)} at {event.name} and is called no more"
            failure = PluginFailure(
                plugin=observer.plugin, part="lilbee_event", message=message, hint="Ask its author."
            )
            self._shield(failure, error)

    def fail(self, failure: PluginFailure) -> None:
        """Record a failure, also one that shows at run time. Without a plugin, its part tells whose it is.

        Raises:
            PluginError: In strict mode.
        """
        with self._lock:
            # A plugin that is found later would clash with the record that is made here.
            self._find_once()
            known = self._registry.fail(failure)
        if self._strict:
            raise _error(known)

    def register_builtin(self, name: str, specs: Iterable[Spec], *, version: str = "", summary: str = "") -> None:
        """Offer parts of lilbee itself: the same checks, except that names carry no prefix.

        Raises:
            ValueError: If a spec is not in order, since that is a bug.
        """
        with self._lock:
            if self._loaded:
                raise ValueError("built-ins are registered before plugins are loaded")
            self._registry.add_builtin(Record(name=name, version=version, summary=summary, builtin=True), specs)

    def load(self) -> None:
        """Find and register all plugins, once.

        Raises:
            PluginError: In strict mode, if anything is wrong.
        """
        with self._lock:
            self._find_once()
            failures = [failure for record in self._registry.records for failure in record.failures]
        if self._strict and failures:
            raise _error(failures[0], more=len(failures) - 1)

    def _find_once(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        found, failures = _finding.candidates(self._given, self._entry_points, self._disabled, self._timer)
        for candidate in found:
            self._registry.add(candidate)
        for failure in failures:
            self._registry.fail(failure)
        self._registry.check_tables()

    def _of(self, kind: type[SpecT]) -> tuple[Offer[SpecT], ...]:
        self.load()
        return tuple(cast("Offer[SpecT]", one) for one in self._registry.offers if type(one.spec) is kind)

    def _ranked(self, kind: type[SpecT]) -> tuple[Offer[SpecT], ...]:
        return tuple(sorted(self._of(kind), key=lambda one: (-getattr(one.spec, "priority", 0), one.spec.name)))

    def _shield(self, failure: PluginFailure, error: BaseException) -> None:
        log.debug("plugin %s", failure.plugin, exc_info=error)
        try:
            self.fail(failure)
        except PluginError as raised:
            raise raised from error


def load_entry_points(
    origins: Iterable[str], *, options: Mapping[str, Mapping[str, object]] | None = None
) -> tuple[Offer[ExtractorSpec], ...]:
    """Find the extractors of these plugins again, in another process, by the `origin` of their offers.

    What cannot be loaded here is logged and missing.
    """
    wanted = frozenset(origins)
    host = PluginHost(
        _finding.modules(wanted),
        options=options,
        entry_points=lambda: [one for one in _finding.installed() if one.name in wanted],
    )
    return tuple(replace(one, given=False) for one in host.extractors())


def _error(failure: PluginFailure, more: int = 0) -> PluginError:
    rest = f" (and {more} more)" if more else ""
    return PluginError(f"the plugin {failure.plugin}: {failure.message}{rest}", hint=failure.hint)
